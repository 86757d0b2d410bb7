// Metrics and slow operations of the client. With a cluster of its own:
//
//     reprise sandbox run --bucket travel --user app --password secret -- observe_operations

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string_view>

#include <reprise/couchbase.hpp>
#include <reprise/couchbase/ready_observers.hpp>

namespace couchbase = reprise::couchbase;
using namespace std::chrono_literals;

int main() {
    const char* where = std::getenv("REPRISE_CONNECT");
    // [observe]
    const auto metrics =
        std::make_shared<couchbase::client_metrics>(couchbase::slow_operation_options{
            .kv_threshold = 100ms,
            .report = [](std::string_view line) { std::clog << line << '\n'; }});
    auto cluster = couchbase::cluster::connect(
        where ? where : "couchbase://127.0.0.1",
        {.username = "app", .password = "secret", .operation_observers = {metrics}});
    // [/observe]
    if (!cluster) {
        std::cerr << cluster.error() << '\n';
        return 2;
    }
    auto airlines = cluster->bucket("travel").default_collection();
    const auto stored = airlines.upsert("airline_10", couchbase::plain_text{"Reprise Air"});
    const auto absent = airlines.get("airline_11");
    std::cout << metrics->to_prometheus();
    return stored && !absent && metrics->successes("kv") == 1 && metrics->failures("kv") == 1 ? 0
                                                                                              : 1;
}
