// A client for a real cluster: TLS, credentials from the environment, and a check at the start. It
// runs in the sandbox as well:
//
//     reprise sandbox run --bucket travel --user app --password secret -- real_cluster

#include <cstdlib>
#include <iostream>
#include <string>

#include <reprise/couchbase.hpp>

namespace couchbase = reprise::couchbase;
using namespace std::chrono_literals;

std::string setting(const char* name, const char* otherwise) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : otherwise;
}

int main() {
    // [connect]
    auto cluster = couchbase::cluster::connect(
        setting("REPRISE_CONNECT", "couchbases://db.example.com"),
        {.username = setting("REPRISE_USERNAME", "app"),
         .password = setting("REPRISE_PASSWORD", "secret"),
         .tls = {.ca_file = setting("REPRISE_CA_FILE", "")},
         .kv_timeout = 5s});
    if (!cluster) {  // A wrong option or connection string; nothing has been sent yet.
        std::cerr << cluster.error() << '\n';
        return 2;
    }
    if (auto ready = cluster->bucket("travel").wait_until_ready(10s); !ready) {
        std::cerr << ready.error() << '\n';  // Names the cause: TLS, password, bucket, address.
        return 1;
    }
    // [/connect]
    std::cout << "ready\n";
}
