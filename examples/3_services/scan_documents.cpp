// Reads documents by their keys: all with a prefix, only the keys of a range, and a sample. With a
// cluster of its own:
//
//     reprise sandbox run --user app --password secret -- scan_documents

#include <cstdlib>
#include <iostream>
#include <string>

#include <reprise/couchbase.hpp>

namespace couchbase = reprise::couchbase;

bool store_some(const couchbase::collection& airlines) {
    for (int number = 10; number < 30; ++number) {
        const std::string key = "airline_" + std::to_string(number);
        if (!airlines.upsert(key, couchbase::json_text{R"({"fleet":7})"})) {
            return false;
        }
    }
    return true;
}

bool print_prefix(const couchbase::collection& airlines) {
    // [prefix]
    auto found = airlines.scan(couchbase::prefix_scan{"airline_1"});
    if (!found) {
        std::cerr << found.error() << '\n';
        return false;
    }
    for (const auto& document : *found) {
        if (!document) {                            // the documents so far are not all documents
            std::cerr << document.error() << '\n';  // with every attempt
            return false;
        }
        std::cout << document->key << ": " << document->text() << '\n';
    }
    // [/prefix]
    return true;
}

bool count_range(const couchbase::collection& airlines) {
    // [range]
    auto keys = airlines.scan(
        couchbase::range_scan{.from = {"airline_10"}, .to = {"airline_20", true}},
        {.keys_only = true, .concurrency = 4});
    // [/range]
    std::size_t count = 0;
    if (keys) {
        for (const auto& document : *keys) {
            count += document && document->key.starts_with("airline_1") ? 1U : 0U;
        }
    }
    return keys && keys->finish() && count == 10;
}

bool count_sample(const couchbase::collection& airlines) {
    // [sample]
    auto some = airlines.scan(couchbase::sampling_scan{.limit = 5});
    // [/sample]
    std::size_t count = 0;
    for (auto next = some->next(); next && *next; next = some->next()) {
        ++count;
    }
    return some->finish() && count == 5;
}

int main() {
    const char* where = std::getenv("REPRISE_CONNECT");
    auto cluster = couchbase::cluster::connect(
        where ? where : "couchbase://127.0.0.1", {.username = "app", .password = "secret"});
    if (!cluster) {
        std::cerr << cluster.error() << '\n';
        return 2;
    }
    const auto airlines = cluster->bucket("travel").default_collection();
    return store_some(airlines) && print_prefix(airlines) && count_range(airlines) &&
                   count_sample(airlines)
               ? 0
               : 1;
}
