// Code of header comments that no example contains. It is only compiled; the rule `snippets`
// compares.

#include <boost/asio.hpp>
#include <cstdio>
#include <expected>
#include <optional>
#include <string>

#include <reprise/asio/async_retry.hpp>
#include <reprise/couchbase.hpp>
#include <reprise/lab/scenario.hpp>
#include <reprise/retry.hpp>
#include <reprise/sandbox.hpp>
#include <reprise/testing/virtual_clock.hpp>

namespace header_examples {

using namespace std::chrono_literals;
namespace couchbase = reprise::couchbase;

struct airline {
    std::string name;
};
std::string to_json(const airline& value);

int count_rows();
double fetch();
void fail(const std::string& what);

}  // namespace header_examples

using header_examples::airline;

template <>
struct reprise::couchbase::codec<airline> {
    static encoded_value encode(const airline& value) {
        return encoded_value::own(to_json(value), document_format::json);
    }
    static std::expected<airline, error> decode(const document_view& document);
};

namespace header_examples {

int throwing(reprise::standard_strategy& strategy) {
    const int count =
        reprise::retry(strategy, reprise::throws_on_failure([&] { return count_rows(); }));
    return count;
}

boost::asio::awaitable<void> with_a_token(
    boost::asio::ip::tcp::socket& socket, boost::asio::mutable_buffer buffer,
    reprise::standard_strategy& strategy) {
    const reprise::async_call_options options{.timeout = 5s};
    const auto read = [&](const reprise::attempt&, auto handler) {
        socket.async_read_some(buffer, std::move(handler));
    };
    co_await reprise::async_retry<void(boost::system::error_code, std::size_t)>(
        socket, strategy, options, read, boost::asio::use_awaitable);
}

template <class Operation, class Handler>
void in_virtual_time(reprise::standard_strategy& strategy, Operation operation, Handler handler) {
    reprise::testing::virtual_clock clock;
    boost::asio::io_context io;
    reprise::async_retry<void(boost::system::error_code)>(
        io, strategy, {.clock = reprise::borrowed(&clock)}, operation, handler);
    clock.run(io);
}

void modelled(const reprise::lab::retry_options& my_settings) {
    reprise::lab::model model;
    model.clients.requests_per_second = 800;
    model.clients.retries = my_settings;
    model.services = {{.name = "shop", .capacity_per_second = 1000}};
    model.troubles = {{.kind = reprise::lab::trouble_kind::stall, .start = 10s, .length = 10s}};
    const bool is_safe = reprise::lab::run(model).recovery.has_recovered();
    fail(is_safe ? "" : "does not recover");
}

void read_and_compared(std::string_view text) {
    const auto read = reprise::lab::read_scenario(text);
    if (!read) {
        fail(to_string(read.error()));
    }
    const reprise::lab::comparison compared = reprise::lab::compare(*read);
    static_cast<void>(compared);
}

void sandboxed() {
    auto cluster = reprise::sandbox::test_cluster::start({.buckets = {"travel"}}).value();
    auto client = couchbase::cluster::connect(
        cluster.connection_string(),
        {.username = cluster.username(), .password = cluster.password()});
    auto added =
        cluster.control(R"({"command":"fault_add","ops":["get"],"effect":{"status":"0x86"}})");
    fail(client && added ? "" : "no cluster");
}

void replaced(const couchbase::collection& airlines, couchbase::cas seen) {
    auto replaced = airlines.replace(
        "airline_10", airline{"Reprise Air"}, {.timeout = 500ms, .cas = seen, .expiry = 24h});
    fail(replaced ? "" : "not replaced");
}

void parts(const couchbase::collection& airlines) {
    using look = couchbase::lookup_spec;
    auto seen = airlines.lookup_in("airline_10", {look::get("name"), look::exists("fleet[0]")});
    using change = couchbase::mutate_spec;
    auto done = airlines.mutate_in(
        "airline_10", {change::upsert("name", "Reprise Air"), change::increment("flights")});
    fail(seen && done ? "" : "not changed");
}

}  // namespace header_examples
