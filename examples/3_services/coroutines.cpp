// Awaits operations and the rows of a statement in a coroutine, on an executor of the program's
// own: no thread is started. With a cluster of its own:
//
//     reprise sandbox run --bucket travel --user app --password secret -- coroutines

#include <cstdlib>
#include <iostream>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <reprise/couchbase.hpp>
#include <reprise/couchbase/asio.hpp>

namespace asio = boost::asio;
namespace couchbase = reprise::couchbase;
using namespace std::chrono_literals;

// [awaited]
asio::awaitable<bool> store_and_read(const couchbase::collection& airlines) {
    const couchbase::upsert_options options{.timeout = 5s, .expiry = 1h};
    auto stored =
        co_await airlines.async_upsert("airline_10", couchbase::plain_text{"Reprise Air"}, options);
    auto airline = co_await airlines.async_get("airline_10");
    if (!stored || !airline) {
        std::cerr << (stored ? airline.error() : stored.error()) << '\n';
        co_return false;
    }
    std::cout << airline->text() << '\n';
    co_return airline->cas == stored->cas;
}
// [/awaited]

asio::awaitable<bool> print_rows(const couchbase::cluster& cluster) {
    auto rows =
        cluster.query_stream("SELECT RAW n FROM ARRAY_RANGE(0, 3) AS n", {.readonly = true});
    if (!rows) {
        std::cerr << rows.error() << '\n';
        co_return false;
    }
    auto row = co_await rows->async_next();
    while (row && *row) {
        std::cout << (*row)->text() << '\n';
        row = co_await rows->async_next();
    }
    if (!row) {
        std::cerr << row.error() << '\n';
    }
    co_return row.has_value();
}

asio::awaitable<bool> run(const couchbase::cluster& cluster) {
    const auto airlines = cluster.bucket("travel").default_collection();
    const bool is_stored = co_await store_and_read(airlines);
    const bool is_printed = co_await print_rows(cluster);
    cluster.close();
    co_return is_stored&& is_printed;
}

int main() {
    const char* where = std::getenv("REPRISE_CONNECT");
    asio::io_context context;
    auto cluster = couchbase::connect(
        context.get_executor(), where ? where : "couchbase://127.0.0.1",
        {.username = "app", .password = "secret"});
    if (!cluster) {
        std::cerr << cluster.error() << '\n';
        return 2;
    }
    auto done = asio::co_spawn(context, run(*cluster), asio::use_future);
    context.run();
    return done.get() ? 0 : 1;
}
