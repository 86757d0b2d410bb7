// A user's own test: a cluster in the process, and a document that is stored and read on it
// although the first read is answered with a temporary failure.

#include <iostream>

#include <reprise/couchbase.hpp>
#include <reprise/sandbox.hpp>

int main() {
    auto server = reprise::sandbox::test_cluster::start({.buckets = {"travel"}});
    if (!server) {
        std::cerr << server.error() << '\n';
        return 2;
    }
    const auto fault = server->control(
        R"({"command":"fault_add","ops":["get"],"limit":1,"effect":{"status":"0x86"}})");
    if (!fault) {
        std::cerr << fault.error() << '\n';
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
    const reprise::couchbase::json_text document{R"({"name":"Reprise Air"})"};
    auto stored = airlines.upsert("airline_10", document);
    auto airline = airlines.get("airline_10");
    if (!stored || !airline) {
        std::cerr << (stored ? airline.error() : stored.error()) << '\n';
        return 1;
    }
    std::cout << airline->text() << '\n';
    return airline->text() == document.text ? 0 : 1;
}
