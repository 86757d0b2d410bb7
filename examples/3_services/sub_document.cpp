// Reads and changes parts of a document without moving the whole of it. With a cluster of its own:
//
//     reprise sandbox run --bucket travel --user app --password secret -- sub_document

#include <cstdlib>
#include <iostream>
#include <string>

#include <reprise/couchbase.hpp>

namespace couchbase = reprise::couchbase;
using change = couchbase::mutate_spec;
using look = couchbase::lookup_spec;

int fail(const couchbase::error& what) {
    std::cerr << what << '\n';  // with every attempt
    return 1;
}

int main() {
    const char* where = std::getenv("REPRISE_CONNECT");
    auto cluster = couchbase::cluster::connect(
        where ? where : "couchbase://127.0.0.1", {.username = "app", .password = "secret"});
    if (!cluster) {
        return fail(cluster.error());
    }
    auto airlines = cluster->bucket("travel").default_collection();

    // Created if it does not exist; all four changes are made, or none.
    auto changed = airlines.mutate_in(
        "airline_10",
        {change::upsert("name", "Reprise Air"),
         change::upsert("home.city", "Graz", {.create_path = true}),
         change::array_append("fleet", {"A220", "E190"}, {.create_path = true}),
         change::increment("flights", 3)},
        {.store = couchbase::store_semantics::upsert});
    if (!changed) {
        return fail(changed.error());
    }
    std::cout << "flights: " << changed->content_as<int>(3).value_or(0) << '\n';

    auto seen = airlines.lookup_in(
        "airline_10",
        {look::get("home.city"), look::count("fleet"), look::exists("debts"), look::get("slogan")});
    if (!seen) {
        return fail(seen.error());
    }
    std::cout << "city: " << seen->content_as<std::string>(0).value_or("?") << '\n'
              << "planes: " << seen->content_as<int>(1).value_or(0) << '\n'
              << "debts: " << (seen->content_as<bool>(2).value_or(true) ? "yes" : "no") << '\n';
    // Each path has its own result: this one does not exist, which does not affect the others.
    if (auto slogan = seen->content_as<std::string>(3); !slogan) {
        std::cout << "slogan: " << slogan.error() << '\n';
    }
}
