// Stores structs as JSON, and reads them back from documents and rows, converted by nlohmann/json.
// With a cluster of its own:
//
//     reprise sandbox run --bucket travel --user app --password secret -- json_with_nlohmann

#include <cstdlib>
#include <iostream>

#include <reprise/couchbase.hpp>
#include <reprise/couchbase/codecs/nlohmann.hpp>

struct hotel {
    std::string name;
    int stars = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(hotel, name, stars)

template <>
struct reprise::couchbase::codec<hotel> : reprise::couchbase::nlohmann_codec<hotel> {};

int main() {
    const char* where = std::getenv("REPRISE_CONNECT");
    auto cluster = reprise::couchbase::cluster::connect(
        where ? where : "couchbase://127.0.0.1", {.username = "app", .password = "secret"});
    if (!cluster) {
        std::cerr << cluster.error() << '\n';
        return 2;
    }
    auto hotels = cluster->bucket("travel").default_collection();
    auto stored = hotels.upsert("hotel_1", hotel{"Reprise Inn", 4});
    auto rows = cluster->query(
        "SELECT RAW $hotel", {.readonly = true, .named = {{"hotel", hotel{"Row House", 3}}}});
    if (!stored || !rows) {
        std::cerr << (stored ? rows.error() : stored.error()) << '\n';
        return 1;
    }
    for (const auto& row : rows->rows) {
        if (auto read = row.as<hotel>()) {
            std::cout << read->name << " has " << read->stars << " stars\n";
        } else {
            std::cerr << read.error() << '\n';  // for example "... key 'stars' not found"
        }
    }
    auto found = hotels.get("hotel_1");
    auto document = found ? found->content_as<nlohmann::json>() : std::unexpected(found.error());
    if (!document) {
        std::cerr << document.error() << '\n';
        return 1;
    }
    std::cout << document->at("name") << '\n';
}
