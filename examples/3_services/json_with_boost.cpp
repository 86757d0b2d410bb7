// Stores a struct as JSON and reads it back, converted by Boost.JSON. With a cluster of its own:
//
//     reprise sandbox run --bucket travel --user app --password secret -- json_with_boost

#include <boost/describe/class.hpp>
#include <cstdlib>
#include <iostream>

#include <reprise/couchbase.hpp>
#include <reprise/couchbase/codecs/boost_json.hpp>

// [type]
struct hotel {
    std::string name;
    int stars = 0;
    std::vector<std::string> tags;
};
BOOST_DESCRIBE_STRUCT(hotel, (), (name, stars, tags))

template <>
struct reprise::couchbase::codec<hotel> : reprise::couchbase::boost_json_codec<hotel> {};
// [/type]

int main() {
    const char* where = std::getenv("REPRISE_CONNECT");
    auto cluster = reprise::couchbase::cluster::connect(
        where ? where : "couchbase://127.0.0.1", {.username = "app", .password = "secret"});
    if (!cluster) {
        std::cerr << cluster.error() << '\n';
        return 2;
    }
    auto hotels = cluster->bucket("travel").default_collection();
    // [use]
    auto stored = hotels.upsert("hotel_1", hotel{"Reprise Inn", 4, {"quiet", "central"}});
    auto found = hotels.get("hotel_1");
    if (!stored || !found) {
        std::cerr << (stored ? found.error() : stored.error()) << '\n';
        return 1;
    }
    auto read = found->content_as<hotel>();
    if (!read) {
        std::cerr << read.error() << '\n';  // for example "... /stars: not a number"
        return 1;
    }
    std::cout << read->name << " has " << read->stars << " stars\n";
    // [/use]
}
