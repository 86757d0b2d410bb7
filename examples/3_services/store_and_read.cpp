// Stores a document and reads it back. With a cluster of its own:
//
//     reprise sandbox run --bucket travel --user app --password secret -- store_and_read

// [readme]
#include <cstdlib>
#include <iostream>

#include <reprise/couchbase.hpp>

int main() {
    const char* where = std::getenv("REPRISE_CONNECT");
    auto cluster = reprise::couchbase::cluster::connect(
        where ? where : "couchbase://127.0.0.1", {.username = "app", .password = "secret"});
    if (!cluster) {
        std::cerr << cluster.error() << '\n';
        return 2;
    }
    auto airlines = cluster->bucket("travel").default_collection();
    const reprise::couchbase::json_text document{R"({"name":"Reprise Air"})"};
    auto stored = airlines.upsert("airline_10", document);
    auto airline = airlines.get("airline_10");
    if (!stored || !airline) {
        std::cerr << (stored ? airline.error() : stored.error()) << '\n';  // with every attempt
        return 1;
    }
    std::cout << airline->text() << '\n';
}
// [/readme]
