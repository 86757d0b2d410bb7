#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <cstdint>
#include <optional>
#include <ranges>

#include <reprise/couchbase/asio.hpp>

#include "live_services.hpp"

// Rows that are read while they arrive.

namespace row_stream_test {

using namespace live_services;
namespace asio = boost::asio;

constexpr const char* many_rows = R"(SELECT n, "0123456789012345678901234567890123456789" AS pad )"
                                  R"(FROM ARRAY_RANGE(0, 300000) AS n)";

// Reads to the end. Returns the number of rows and how the stream ended.
struct reading {
    std::uint64_t row_count = 0;
    std::optional<couchbase::error> failure{};
};

template <class Stream>
reading read_all(Stream& stream) {
    reading so_far;
    while (true) {
        const auto row = stream.next();
        if (!row) {
            so_far.failure = row.error();
            return so_far;
        }
        if (!*row) {
            return so_far;
        }
        ++so_far.row_count;
    }
}

TEST(row_stream, three_hundred_thousand_rows_pass_through_bounded_memory) {
    const auto [server, cluster] = connected(start_services());
    constexpr std::size_t bound = 64 * 1024;
    auto stream = must(cluster.query_stream(
        many_rows, {.readonly = true, .metrics = true, .rows_size_max_bytes = bound}));
    // While the reader pauses, at most the bound and one network read are buffered.
    ASSERT_TRUE(stream.next());
    EXPECT_EQ(stream.finish().error().code(), errc::invalid_argument) << "not before the end";
    // The reader pauses until another call times out. In that time all rows would arrive if the
    // client kept reading.
    add_rule(*server, disturb(service::analytics, sandbox::fault_no_answer{}));
    ASSERT_FALSE(cluster.analytics_query("SELECT 1", {.timeout = 300ms}));
    const auto rest = read_all(stream);
    EXPECT_FALSE(rest.failure) << *rest.failure;
    EXPECT_EQ(rest.row_count, 299999U);
    constexpr std::size_t row_size_most = 1024;  // one row may have started in the piece before
    EXPECT_LE(stream.buffered_size_peak(), 2 * bound + row_size_most);
    EXPECT_GT(stream.buffered_size_peak(), 0U);
    const auto metadata = must(stream.finish());
    EXPECT_EQ(metadata.status, "success");
    const auto after = stream.next();
    EXPECT_TRUE(after && !*after) << "the end stays the end";
}

// A request that waits for a retry returns it before the stream is gone.
TEST(row_stream, nothing_uses_a_lent_allowance_after_the_stream) {
    const auto [server, cluster] =
        connected(start_services(), app_options_in(couchbase::thread_mode::caller_drives));
    add_rule(*server, disturb(service::query, sandbox::fault_close_before{}, 1'000'000));
    static reprise::driver::retry_allowance outer(1000);  // lives longer than any client
    {
        const auto stream = must(cluster.query_stream(
            "SELECT RAW 1", {.readonly = true, .outer_allowance = reprise::borrowed(&outer)}));
        while (outer.left() == 1000U) {
            ASSERT_TRUE(cluster.drive(1ms));
        }
    }
    const auto left = outer.left();
    ASSERT_TRUE(cluster.drive(10ms));
    EXPECT_EQ(outer.left(), left);
}

TEST(row_stream, rows_arrive_in_order_and_complete) {
    const auto [server, cluster] = connected(start_services());
    auto stream = must(
        cluster.query_stream("SELECT RAW n FROM ARRAY_RANGE(0, 50000) AS n", {.readonly = true}));
    std::int64_t expected = 0;
    while (true) {
        const auto row = stream.next();
        ASSERT_TRUE(row) << words(row);
        if (!*row) {
            break;
        }
        ASSERT_EQ((*row)->as<std::int64_t>().value(), expected);
        ++expected;
    }
    EXPECT_EQ(expected, 50000);
}

TEST(row_stream, is_an_input_range_that_ends_after_the_last_row) {
    const auto [server, cluster] = connected(start_services());
    auto stream = must(
        cluster.query_stream("SELECT RAW n FROM ARRAY_RANGE(0, 50000) AS n", {.readonly = true}));
    std::int64_t expected = 0;
    for (auto& row : stream) {
        ASSERT_TRUE(row) << words(row);
        ASSERT_EQ(row->as<std::int64_t>().value(), expected);
        ++expected;
    }
    EXPECT_EQ(expected, 50000);
    EXPECT_TRUE(stream.finish());
}

TEST(row_stream, ranges_continue_where_the_last_one_stopped_and_take_views) {
    const auto [server, cluster] = connected(start_services());
    auto stream =
        must(cluster.query_stream("SELECT RAW n FROM ARRAY_RANGE(0, 10) AS n", {.readonly = true}));
    auto numbers = stream | std::views::transform([](const auto& row) {
                       return row.value().template as<int>().value();
                   });
    int sum = 0;
    for (const int number : numbers) {
        sum += number;
        if (number == 4) {
            break;
        }
    }
    EXPECT_EQ(sum, 10);
    EXPECT_EQ(stream.finish().error().code(), errc::invalid_argument) << "rows are left";
    EXPECT_EQ(std::ranges::distance(stream.begin(), stream.end()), 5);
}

TEST(row_stream, the_last_element_of_a_range_that_fails_is_the_error) {
    const auto [server, cluster] = connected(start_services());
    add_rule(*server, disturb(service::query, sandbox::service_fault_close_mid_body{2'000'000}));
    auto stream =
        must(cluster.query_stream(many_rows, {.readonly = true, .rows_size_max_bytes = 4096}));
    std::size_t row_count = 0;
    std::size_t error_count = 0;
    for (const auto& row : stream) {
        ASSERT_EQ(error_count, 0U) << "nothing follows the error";
        row ? ++row_count : ++error_count;
    }
    EXPECT_GT(row_count, 1000U);
    EXPECT_LT(row_count, 300000U);
    ASSERT_EQ(error_count, 1U);
    ASSERT_FALSE(stream.finish());
    const auto again = stream.begin();
    ASSERT_FALSE(*again) << "another range starts with the error";
    EXPECT_EQ(again->error().code(), stream.finish().error().code());
}

TEST(row_stream, a_refused_blocking_read_is_an_error_until_the_next_read) {
    const auto server = start_services();
    asio::io_context context;
    const auto cluster = must(couchbase::connect(
        context.get_executor(), server->addresses().connection_string, app_options()));
    auto stream = must(cluster.query_stream("SELECT RAW 1", {.readonly = true}));
    int row_count = 0;
    int error_count = 0;
    std::optional<couchbase::error> refused;
    const auto read = [&]() -> asio::awaitable<void> {
        for (const auto& row : stream) {
            row ? ++row_count : ++error_count;
        }
        refused = stream.finish().error();
        const auto row = co_await stream.async_next();
        EXPECT_TRUE(row && *row);
        EXPECT_EQ(stream.finish().error().code(), errc::invalid_argument) << "not at the end";
        cluster.close();
    };
    auto done = asio::co_spawn(context, read, asio::use_future);
    context.run();
    done.get();
    EXPECT_EQ(row_count, 0);
    EXPECT_EQ(error_count, 1);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->code(), couchbase::errc::blocking_call_in_loop);
}

TEST(row_stream, the_stream_reports_failures) {
    const auto [server, cluster] = connected(start_services());
    auto stream = must(cluster.query_stream("SELEKT"));
    const auto row = must_fail(stream.next());
    EXPECT_EQ(row.code(), errc::parsing_failure) << row;
    EXPECT_FALSE(stream.next()) << "and it stays failed";
    EXPECT_EQ(stream.finish().error().code(), errc::parsing_failure);
    EXPECT_FALSE(cluster.query_stream("")) << "arguments are checked at once";
}

TEST(row_stream, RH_45_a_connection_that_breaks_after_rows_were_read_is_an_error_not_a_retry) {
    const auto [server, cluster] = connected(start_services());
    add_rule(*server, disturb(service::query, sandbox::service_fault_close_mid_body{2'000'000}));
    auto stream = must(cluster.query_stream(
        many_rows, {.readonly = true, .client_context_id = "broken", .rows_size_max_bytes = 4096}));
    const auto first = stream.next();
    ASSERT_TRUE(first && *first) << words(first);
    const auto rest = read_all(stream);
    ASSERT_TRUE(rest.failure);
    EXPECT_GT(rest.row_count, 1000U);
    EXPECT_LT(rest.row_count, 299999U);
    EXPECT_EQ(seen(*server, "broken").first, 1U) << "readonly, and still not sent again";
}

TEST(row_stream, a_connection_that_breaks_before_any_row_was_read_is_retried) {
    const auto [server, cluster] = connected(start_services());
    add_rule(*server, disturb(service::query, sandbox::service_fault_close_after_headers{}));
    auto stream = must(cluster.query_stream(
        "SELECT RAW n FROM ARRAY_RANGE(0, 10) AS n",
        {.readonly = true, .client_context_id = "twice"}));
    const auto all = read_all(stream);
    EXPECT_FALSE(all.failure) << *all.failure;
    EXPECT_EQ(all.row_count, 10U);
    EXPECT_EQ(seen(*server, "twice").first, 2U);
}

TEST(row_stream, destroying_or_canceling_it_ends_the_request_and_the_client_keeps_working) {
    const auto [server, cluster] = connected(start_services());
    {
        auto stream =
            must(cluster.query_stream(many_rows, {.readonly = true, .rows_size_max_bytes = 4096}));
        ASSERT_TRUE(stream.next());
    }
    auto canceled =
        must(cluster.query_stream(many_rows, {.readonly = true, .rows_size_max_bytes = 4096}));
    ASSERT_TRUE(canceled.next());
    canceled.cancel();
    const auto rest = read_all(canceled);
    ASSERT_TRUE(rest.failure);
    EXPECT_EQ(rest.failure->code(), errc::request_canceled) << *rest.failure;
    EXPECT_FALSE(rest.failure->is_ambiguous());
    const auto next = cluster.query("SELECT RAW 1", {.readonly = true});
    EXPECT_TRUE(next) << words(next);
    EXPECT_EQ(cluster.statistics()->operations_open, 0U);
}

TEST(row_stream, a_reader_slower_than_the_timeout_gets_the_timeout) {
    const auto [server, cluster] = connected(start_services());
    add_rule(*server, disturb(service::analytics, sandbox::fault_no_answer{}));
    const auto warm = cluster.query("SELECT RAW 1", {.readonly = true});
    ASSERT_TRUE(warm) << words(warm);  // connecting takes none of the stream's time
    auto stream = cluster.query_stream(
        many_rows, {.timeout = 500ms, .readonly = true, .rows_size_max_bytes = 4096});
    ASSERT_TRUE(stream) << words(stream);
    ASSERT_TRUE(stream->next());
    // Waits for another call's deadline, which is later than that of the stream.
    const auto later = cluster.analytics_query("SELECT 1", {.timeout = 500ms});
    ASSERT_FALSE(later);
    const auto rest = read_all(*stream);
    ASSERT_TRUE(rest.failure);
    EXPECT_EQ(rest.failure->code(), errc::unambiguous_timeout) << *rest.failure;
}

TEST(row_stream, coroutines_read_on_their_own_executor) {
    const auto server = start_services();
    asio::io_context context;
    const auto cluster = must(couchbase::connect(
        context.get_executor(), server->addresses().connection_string, app_options()));
    auto stream = must(
        cluster.query_stream("SELECT RAW n FROM ARRAY_RANGE(0, 5000) AS n", {.readonly = true}));
    auto work = [&]() -> asio::awaitable<int> {
        int count = 0;
        while (true) {
            const auto row = co_await stream.async_next(asio::use_awaitable);
            if (!row || !*row) {
                cluster.close();
                co_return row ? count : -1;
            }
            ++count;
        }
    };
    auto counted = asio::co_spawn(context, work(), asio::use_future);
    context.run();
    EXPECT_EQ(counted.get(), 5000);
}

TEST(row_stream, caller_driven_clients_read_too) {
    const auto [server, cluster] =
        connected(start_services(), app_options_in(couchbase::thread_mode::caller_drives));
    auto stream = must(
        cluster.query_stream("SELECT RAW n FROM ARRAY_RANGE(0, 5000) AS n", {.readonly = true}));
    const auto all = read_all(stream);
    EXPECT_FALSE(all.failure) << *all.failure;
    EXPECT_EQ(all.row_count, 5000U);
}

TEST(row_stream, a_second_read_is_refused_while_the_first_waits) {
    const auto [server, cluster] = connected(start_services());
    add_rule(*server, disturb(service::query, sandbox::fault_no_answer{}));
    auto stream = must(cluster.query_stream("SELECT 1", {.readonly = true}));
    auto first = stream.async_next(asio::use_future);
    auto refused = stream.async_next(asio::use_future);
    ASSERT_EQ(refused.wait_for(20s), std::future_status::ready) << "it must not wait, too";
    const auto second = must_fail(refused.get());
    EXPECT_EQ(second.code(), couchbase::errc::read_in_progress) << second;
    EXPECT_EQ(stream.next().error().code(), couchbase::errc::read_in_progress);
    stream.cancel();
    EXPECT_EQ(first.get().error().code(), errc::request_canceled) << "it was not forgotten";
    EXPECT_EQ(stream.next().error().code(), errc::request_canceled) << "reading may go on";
}

TEST(row_stream, closing_the_client_ends_a_waiting_stream) {
    const auto server = start_services();
    auto cluster = std::make_optional(connect(*server));
    add_rule(*server, disturb(service::query, sandbox::fault_no_answer{}));
    auto stream = must(cluster->query_stream("SELECT 1", {.readonly = true}));
    auto waiting = stream.async_next(asio::use_future);
    cluster->close();
    const auto row = must_fail(waiting.get());
    EXPECT_EQ(row.code(), errc::request_canceled) << row;
}

}  // namespace row_stream_test
