// A user's first program with the client. Without an argument it prints its usage.

#include <iostream>

#include <reprise/couchbase.hpp>

#if defined(BOOST_VERSION) || defined(OPENSSL_VERSION_NUMBER)
#error "the client's headers are meant to be used without Boost and OpenSSL"
#endif

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cout << "usage: store_and_read CONNECTION_STRING\n";
        return 0;
    }
    auto cluster =
        reprise::couchbase::cluster::connect(argv[1], {.username = "app", .password = "secret"});
    if (!cluster) {
        std::cerr << cluster.error() << '\n';
        return 2;
    }
    auto airlines = cluster->bucket("travel").default_collection();
    const reprise::couchbase::json_text document{R"({"name":"Reprise Air"})"};
    auto stored = airlines.upsert("airline_10", document);
    auto airline = airlines.get("airline_10");
    if (!stored || !airline) {
        std::cerr << (stored ? airline.error() : stored.error()) << '\n';
        return 1;
    }
    std::cout << airline->text() << '\n';
}
