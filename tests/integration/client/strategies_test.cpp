#include <gtest/gtest.h>

#include <boost/asio/use_future.hpp>
#include <future>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <reprise/couchbase/asio.hpp>
#include <reprise/retry.hpp>
#include <reprise/wire/error_map.hpp>

#include "live_cluster.hpp"

// Strategies, budgets, breakers and observers as a program sets them: with public headers only,
// against a server with injected faults.

namespace strategies_test {

using namespace live;
namespace asio = boost::asio;
using couchbase::errc;
using couchbase::retry_reason;
using reprise::wire::opcode;
using reprise::wire::status;
using read_result = std::expected<couchbase::get_result, couchbase::error>;

// Keeps questions until the test answers them.
class thinker final : public couchbase::retry_strategy {
public:
    void retry_after(const couchbase::retry_question&, couchbase::retry_sink& sink) override {
        const std::scoped_lock lock(mutex_);
        answers_.push_back(sink.defer());
    }
    std::size_t asked() const {
        const std::scoped_lock lock(mutex_);
        return answers_.size();
    }
    void answer_all(couchbase::retry_action action) {
        const std::scoped_lock lock(mutex_);
        for (auto& each : answers_) {
            each.answer(action);
        }
        answers_.clear();
    }
    void await_questions(std::size_t count) const {
        (void)await([&] { return asked() >= count; });
    }

private:
    mutable std::mutex mutex_;
    std::vector<couchbase::deferred_answer> answers_;
};

TEST(
    strategies,
    RH_02_RH_44_one_that_never_answers_ends_at_the_timeout_and_late_answers_are_ignored) {
    const auto [server, cluster] = connected();
    const auto at = documents(cluster);
    ASSERT_TRUE(at.upsert("k", "v"));
    auto rule = fault(opcode::get);
    rule.when.limit = 1;
    add_fault(*server, rule);
    const auto silent = std::make_shared<thinker>();
    const auto read = must_fail(at.get("k", {.timeout = 200ms, .strategy = silent}));
    EXPECT_EQ(read.code(), errc::unambiguous_timeout) << read;
    EXPECT_EQ(silent->asked(), 1U);
    silent->answer_all(couchbase::retry_action::after(0ms));
    EXPECT_TRUE(at.get("k")) << "other requests are not affected";
}

TEST(strategies, RH_02_an_answer_from_another_thread_continues_the_request) {
    const auto [server, cluster] = connected();
    const auto at = documents(cluster);
    ASSERT_TRUE(at.upsert("k", "v"));
    auto rule = fault(opcode::get);
    rule.when.limit = 1;
    add_fault(*server, rule);
    const auto slow = std::make_shared<thinker>();
    auto read = at.async_get("k", {.strategy = slow}, asio::use_future);
    slow->await_questions(1);
    EXPECT_TRUE(at.upsert("other", "v")) << "the client keeps working";
    slow->answer_all(couchbase::retry_action::after(1ms));
    const auto done = must(read.get());
    EXPECT_EQ(done.trace.retry_attempts, 1U);
}

TEST(
    strategies, RH_44_a_client_destroyed_with_parked_and_undecided_operations_completes_each_once) {
    const auto server = start();
    add_fault(*server, fault(opcode::get));  // temporary failures, forever
    const auto slow = std::make_shared<thinker>();
    std::vector<std::future<read_result>> reads;
    {
        const auto cluster = connect(*server);
        const auto at = documents(cluster);
        for (int number = 0; number < 50; ++number) {
            couchbase::get_options options;
            options.timeout = 60s;
            options.strategy = number % 2 == 0 ? slow : nullptr;
            reads.push_back(at.async_get("k" + std::to_string(number), options, asio::use_future));
        }
        slow->await_questions(25);
    }
    for (auto& each : reads) {
        ASSERT_EQ(each.wait_for(0s), std::future_status::ready);
        EXPECT_EQ(each.get().error().code(), errc::request_canceled);
    }
    slow->answer_all(couchbase::retry_action::after(0ms));  // the client is gone
}

class throwing_strategy final : public couchbase::retry_strategy {
public:
    void retry_after(const couchbase::retry_question&, couchbase::retry_sink&) override {
        throw std::runtime_error("no idea");
    }
};

TEST(strategies, RH_02_one_that_throws_fails_its_request_with_that_cause) {
    const auto [server, cluster] = connected();
    const auto at = documents(cluster);
    ASSERT_TRUE(at.upsert("k", "v"));
    auto rule = fault(opcode::get);
    rule.when.limit = 1;
    add_fault(*server, rule);
    const auto read = must_fail(at.get("k", {.strategy = std::make_shared<throwing_strategy>()}));
    EXPECT_EQ(read.code(), errc::strategy_failure);
    EXPECT_NE(read.message().find("no idea"), std::string::npos) << read;
}

TEST(strategies, RH_36_a_reason_overridden_for_the_client_leaves_the_others_unchanged) {
    auto options = app_options();
    options.strategy = couchbase::overriding(
        std::make_shared<couchbase::fail_fast_on_terminal_error_strategy>(),
        {{retry_reason::kv_locked, couchbase::retry_action::no()}});
    const auto [server, cluster] = connected(start(), options);
    const auto at = documents(cluster);
    ASSERT_TRUE(at.upsert("k", "v"));
    must(at.get_and_lock("k", 15s));
    const auto refused = must_fail(at.upsert("k", "w"));
    EXPECT_EQ(refused.code(), errc::document_locked);
    EXPECT_EQ(refused.retry_attempts(), 0U);
    auto rule = fault(opcode::get);
    rule.when.limit = 2;
    add_fault(*server, rule);
    const auto read = at.get("other");
    EXPECT_EQ(read.error().code(), errc::document_not_found);
    EXPECT_EQ(read.error().retry_attempts(), 2U);
}

TEST(strategies, RH_33_two_clients_share_one_budget_until_it_is_empty) {
    const auto server = start();
    add_fault(*server, fault(opcode::get));
    auto options = app_options();
    const auto bucket =
        std::make_shared<reprise::token_bucket>(reprise::token_bucket::options{.capacity = 12.0});
    reprise::driver::retry_prices prices;
    prices.retry = 5.0;
    prices.throttling = 5.0;
    options.retry_budget = reprise::driver::token_bucket_budget(bucket, prices);
    const auto first = connect(*server, options);
    const auto second = connect(*server, options);
    const auto at_first = must_fail(documents(first).get("k"));
    EXPECT_EQ(at_first.code(), errc::temporary_failure) << at_first;
    EXPECT_EQ(at_first.retry_attempts(), 2U);
    const auto at_second = must_fail(documents(second).get("k"));
    EXPECT_EQ(at_second.retry_attempts(), 0U) << "the other client has used it up";
    ASSERT_NE(at_second.history(), nullptr);
    const auto& entries = at_second.history()->entries;
    EXPECT_EQ(entries[0].refusal(), reprise::refusal_reason::budget_exhausted);
}

TEST(strategies, RH_34_a_breaker_opens_after_timeouts_and_closes_when_the_node_is_back) {
    auto server_options = small_options();
    server_options.cluster.node_count = 1;
    auto options = app_options();
    reprise::circuit_breaker::options breaker;
    breaker.volume_threshold = 3;
    breaker.sleep_window = 100ms;
    options.circuit_breaker = breaker;
    const auto [server, cluster] = connected(start(std::move(server_options)), options);
    const auto at = documents(cluster);
    ASSERT_TRUE(at.upsert("k", "v"));
    add_fault(*server, fault(opcode::get, sandbox::fault_no_answer{}));
    bool was_open = false;
    for (int number = 0; number < 20 && !was_open; ++number) {
        const auto read = must_fail(at.get("k", {.timeout = 40ms}));
        was_open = read.retry_reasons().contains(retry_reason::circuit_breaker_open);
    }
    EXPECT_TRUE(was_open);
    server->with_cluster([](sandbox::cluster& brain) { brain.faults().clear(); });
    const auto read = at.get("k");
    EXPECT_TRUE(read) << words(read);
}

TEST(strategies, RH_34_what_counts_against_an_endpoint_can_be_chosen) {
    auto server_options = small_options();
    server_options.cluster.node_count = 1;
    auto options = app_options();
    options.circuit_breaker = {.volume_threshold = 3, .sleep_window = 1h};
    options.is_breaker_failure = [](const std::error_code& outcome) {
        return outcome == errc::document_not_found;
    };
    const auto [server, cluster] = connected(start(std::move(server_options)), options);
    const auto at = documents(cluster);
    for (int number = 0; number < 3; ++number) {
        EXPECT_EQ(at.get("missing").error().code(), errc::document_not_found);
    }
    const auto read = must_fail(at.get("missing", {.timeout = 40ms}));
    EXPECT_TRUE(read.retry_reasons().contains(retry_reason::circuit_breaker_open));
}

TEST(strategies, RH_17_a_strategy_of_the_retry_library_decides_for_a_call) {
    const auto [server, cluster] = connected();
    const auto at = documents(cluster);
    ASSERT_TRUE(at.upsert("k", "v"));
    add_fault(*server, fault(opcode::get));
    reprise::standard_strategy::options settings;
    settings.attempts_max = 3;
    settings.backoff.base = 1ms;
    const auto inner =
        std::make_shared<reprise::driver::virtual_strategy<reprise::standard_strategy>>(settings);
    const auto read = must_fail(at.get("k", {.strategy = inner}));
    EXPECT_EQ(read.code(), errc::temporary_failure) << read;
    EXPECT_EQ(read.retry_attempts(), 2U);
}

TEST(strategies, EM_09_EM_10_the_servers_plan_is_followed_if_the_strategy_is_selected) {
    auto options = small_options();
    reprise::wire::error_map_entry entry;
    entry.code = 0x7ff0;
    entry.name = "PLANNED";
    entry.description = "comes back by plan";
    entry.attributes.add(reprise::wire::error_attribute::auto_retry);
    entry.retry = reprise::wire::retry_spec{};
    entry.retry->interval = 5ms;
    entry.retry->after = 1ms;
    entry.retry->max_duration = 30ms;
    options.cluster.error_map = reprise::wire::error_map(2, 5, {entry});
    const auto [server, cluster] = connected(start(std::move(options)));
    const auto at = documents(cluster);
    ASSERT_TRUE(at.upsert("k", "v"));
    add_fault(*server, fault(opcode::get, sandbox::fault_status{status{0x7ff0}, {}}));
    const auto read = must_fail(
        at.get("k", {.strategy = std::make_shared<couchbase::server_directed_strategy>()}));
    EXPECT_EQ(read.info().status, 0x7ff0) << read;
    EXPECT_FALSE(read.code() == couchbase::error_condition::timeout) << "its own error";
    // `after`, then every interval while the plan lasts: at 1, 6, 11, 16, 21 and 26 ms.
    EXPECT_GE(read.retry_attempts(), 1U);
    EXPECT_LE(read.retry_attempts(), 6U);
    ASSERT_TRUE(read.info().error_map);
    EXPECT_EQ(read.info().error_map->name, "PLANNED");
}

class attempt_book final : public couchbase::operation_observer {
public:
    using identity = std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>;

    void on_attempt(const couchbase::operation_attempt& record) noexcept override {
        const std::scoped_lock lock(mutex_);
        seen_.insert({record.which.client, record.connection, record.opaque});
        count_ += 1;
    }
    std::set<identity> seen() const {
        const std::scoped_lock lock(mutex_);
        return seen_;
    }
    std::size_t count() const {
        const std::scoped_lock lock(mutex_);
        return count_;
    }

private:
    mutable std::mutex mutex_;
    std::set<identity> seen_;
    std::size_t count_ = 0;
};

TEST(strategies, the_observer_and_the_server_identify_every_attempt_alike) {
    const auto server = start();
    auto options = app_options();
    const auto book = std::make_shared<attempt_book>();
    options.operation_observers = {book};
    const auto cluster = connect(*server, options);
    const auto at = documents(cluster);
    auto rule = fault(opcode::set);
    rule.when.limit = 2;
    add_fault(*server, rule);
    ASSERT_TRUE(at.upsert("k", "v"));
    ASSERT_TRUE(at.get("k"));
    std::set<attempt_book::identity> audited;
    server->with_cluster([&](sandbox::cluster& brain) {
        sandbox::audit_filter filter;
        filter.key_pattern = "k";
        for (const auto& entry : brain.audit().entries(filter)) {
            audited.insert(
                {entry.client_id.value(), entry.client_connection_id.value(), entry.opaque});
        }
    });
    EXPECT_EQ(audited.size(), 4U);
    EXPECT_EQ(book->count(), 4U);
    EXPECT_EQ(book->seen(), audited);
}

}  // namespace strategies_test
