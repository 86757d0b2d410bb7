// Stores a document and reads it back. On the sandbox:
//
//     reprise sandbox start --bucket travel --user app --password secret --port 21210
//     store_and_read couchbase://127.0.0.1:21210

// [readme]
#include <cstdlib>
#include <iostream>

#include <reprise/couchbase.hpp>

namespace couchbase = reprise::couchbase;

int fail(const couchbase::error& error) {
    std::cerr << error << '\n';  // what happened, on every attempt
    return 1;
}

int main(int argc, char** argv) {
    const char* where = argc > 1 ? argv[1] : std::getenv("REPRISE_CONNECT");
    if (where == nullptr) {
        std::cerr << "Start a cluster with `reprise sandbox start`, then give me its address.\n";
        return 2;
    }
    auto cluster = couchbase::cluster::connect(where, {.username = "app", .password = "secret"});
    if (!cluster) {
        return fail(cluster.error());
    }
    auto airlines = cluster->bucket("travel").default_collection();
    if (auto stored = airlines.upsert("airline_10", "Reprise Air"); !stored) {
        return fail(stored.error());
    }
    auto airline = airlines.get("airline_10");
    if (!airline) {
        return fail(airline.error());
    }
    std::cout << airline->text() << '\n';
}
// [/readme]
