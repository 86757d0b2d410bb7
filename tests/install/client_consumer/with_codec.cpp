// A user's own type as a JSON document, stored and read on a cluster in the process.

#include <boost/describe/class.hpp>
#include <iostream>

#include <reprise/couchbase.hpp>
#include <reprise/couchbase/codecs/boost_json.hpp>
#include <reprise/sandbox.hpp>

struct airline {
    std::string name;
};
BOOST_DESCRIBE_STRUCT(airline, (), (name))

template <>
struct reprise::couchbase::codec<airline> : reprise::couchbase::boost_json_codec<airline> {};

int main() {
    auto server = reprise::sandbox::test_cluster::start({.buckets = {"travel"}});
    if (!server) {
        std::cerr << server.error() << '\n';
        return 2;
    }
    auto cluster = reprise::couchbase::cluster::connect(
        server->connection_string(),
        {.username = server->username(), .password = server->password()});
    if (!cluster) {
        std::cerr << cluster.error() << '\n';
        return 2;
    }
    auto airlines = cluster->bucket("travel").default_collection();
    auto stored = airlines.upsert("airline_10", airline{"Reprise Air"});
    auto found = airlines.get("airline_10");
    if (!stored || !found) {
        std::cerr << (stored ? found.error() : stored.error()) << '\n';
        return 1;
    }
    std::cout << found->content_as<airline>().value().name << '\n';
}
