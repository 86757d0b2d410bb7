// A user's own test: a cluster in the process, and a document stored and read on it.

#include <iostream>
#include <utility>

#include <reprise/couchbase.hpp>
#include <reprise/sandbox_net/embedded_cluster.hpp>
#include <reprise/sandbox_net/server.hpp>

int main() {
    reprise::sandbox::server_options options;
    options.cluster.node_count = 1;
    options.cluster.replica_count = 0;
    reprise::sandbox::bucket_options bucket;
    bucket.name = "travel";
    options.cluster.buckets = {bucket};
    reprise::sandbox::user_options user;
    user.name = "app";
    user.password = "secret";
    options.cluster.users = {user};
    auto server = reprise::sandbox::embedded_cluster::start(std::move(options));
    if (!server) {
        std::cerr << server.error() << '\n';
        return 2;
    }
    auto cluster = reprise::couchbase::cluster::connect(
        (*server)->addresses().connection_string, {.username = "app", .password = "secret"});
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
