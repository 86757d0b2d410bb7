#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <clocale>
#include <memory>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <reprise/retry.hpp>
#include <reprise/retry/budget.hpp>
#include <reprise/retry/retry_metrics.hpp>
#include <reprise/testing/scripted.hpp>
#include <reprise/testing/virtual_clock.hpp>

namespace reprise::retry_observer_test {

using namespace std::chrono_literals;

struct broken : std::runtime_error {
    broken() : std::runtime_error("broken") {}
};

struct watched {
    testing::virtual_clock clock;
    std::vector<call_summary> calls;
    std::vector<std::string> errors;
    std::vector<retry_history::entry> decisions;

    [[nodiscard]] auto rule() {
        return attempts(3)
            .every(1s)
            .on_decision([this](const decision_event& event) { decisions.push_back(event.entry); })
            .on_completion([this](const call_summary& call) {
                calls.push_back(call);
                const auto* error = call.last_error.get_if<broken>();
                errors.emplace_back(error != nullptr ? error->what() : "");
            });
    }
};

TEST(retry_observer, a_strategy_reports_decisions_and_the_end_of_each_call) {
    watched w;
    testing::scripted_operation service{testing::transient(), testing::timed_out()};
    static_cast<void>(retry(w.rule(), {.clock = &w.clock}, std::ref(service)));
    ASSERT_EQ(w.decisions.size(), 2U);
    EXPECT_EQ(w.decisions[1].attempt(), 2U);
    ASSERT_EQ(w.calls.size(), 1U);
    EXPECT_TRUE(w.calls[0].is_success);
    EXPECT_EQ(w.calls[0].attempts, 3U);
    EXPECT_EQ(w.calls[0].total_time, 2s);
    EXPECT_TRUE(w.calls[0].last_failure.timeout);
}

TEST(retry_observer, a_failed_call_reports_its_last_error_and_who_refused) {
    watched w;
    EXPECT_THROW(retry(w.rule(), {.clock = &w.clock}, [] { throw broken(); }), broken);
    ASSERT_EQ(w.calls.size(), 1U);
    EXPECT_FALSE(w.calls[0].is_success);
    EXPECT_EQ(w.calls[0].attempts, 3U);
    EXPECT_EQ(w.calls[0].refusal, refusal_reason::attempts_exhausted);
    EXPECT_EQ(w.errors[0], "broken");
}

TEST(retry_observer, a_call_that_is_canceled_while_it_waits_ends_once) {
    watched w;
    std::stop_source stop;
    w.clock.after(500ms, [&] { stop.request_stop(); });
    const call_options options{.stop = stop.get_token(), .clock = &w.clock};
    EXPECT_THROW(retry(w.rule(), options, [] { throw broken(); }), broken);
    ASSERT_EQ(w.calls.size(), 1U);
    EXPECT_EQ(w.calls[0].refusal, refusal_reason::canceled);
    EXPECT_EQ(w.calls[0].attempts, 1U);
    EXPECT_EQ(w.errors[0], "broken");
}

TEST(retry_observer, what_a_function_throws_is_ignored) {
    watched w;
    int ended = 0;
    const auto rule = w.rule().on_completion([&](const call_summary&) {
        ++ended;
        throw broken();
    });
    static_cast<void>(retry(rule, {.clock = &w.clock}, [] { return std::error_code(); }));
    EXPECT_EQ(ended, 1);
    EXPECT_EQ(w.calls.size(), 1U);
}

TEST(retry_observer, of_two_observers_both_see_each_decision_and_each_end) {
    const auto first = std::make_shared<detail::observing_functions>();
    const auto second = std::make_shared<detail::observing_functions>();
    std::string seen;
    first->decision = [&](const decision_event&) { seen += 'a'; };
    first->completion = [&](const call_summary&) { seen += 'A'; };
    second->decision = [&](const decision_event&) { seen += 'b'; };
    second->completion = [&](const call_summary&) { seen += 'B'; };
    const auto both = detail::both_observers(first, second);
    both->on_decision({});
    both->on_completion({});
    EXPECT_EQ(seen, "abAB");
    EXPECT_EQ(detail::both_observers(first, nullptr), first);
    EXPECT_EQ(detail::both_observers(nullptr, second), second);
}

TEST(retry_observer, an_open_circuit_breaker_ends_a_call_without_attempts) {
    watched w;
    const auto breaker =
        std::make_shared<circuit_breaker>(driver::circuit_breaker_options{.volume_threshold = 1});
    breaker->on_failure(breaker->try_acquire({}), {}, {});
    const auto good = [] { return std::error_code(); };
    static_cast<void>(retry(w.rule().breaker(breaker), {.clock = &w.clock}, good));
    ASSERT_EQ(w.calls.size(), 1U);
    EXPECT_EQ(w.calls[0].attempts, 0U);
    EXPECT_EQ(w.calls[0].refusal, refusal_reason::circuit_open);
}

TEST(retry_metrics, count_calls_attempts_retries_and_refusals) {
    testing::virtual_clock clock;
    const auto metrics = std::make_shared<retry_metrics>();
    const auto rule = attempts(2).every(1s).observer(metrics);
    testing::scripted_operation slow{testing::timed_out()};
    static_cast<void>(retry(rule, {.clock = &clock}, std::ref(slow)));
    standard_strategy standard({.attempts_max = 1, .observer = metrics});
    testing::scripted_operation bad{testing::permanent()};
    static_cast<void>(retry(standard, {.clock = &clock}, std::ref(bad)));
    EXPECT_EQ(metrics->successes(), 1U);
    EXPECT_EQ(metrics->failures(), 1U);
    EXPECT_EQ(metrics->attempts(), 3U);
    EXPECT_EQ(metrics->retries(retry_metrics::failure_kind::timeout), 1U);
    EXPECT_EQ(metrics->refusals(refusal_reason::unsafe), 1U);
    const std::string text = metrics->to_prometheus({.prefix = "shop", .labels = "zone=\"a\""});
    for (const char* line : {
             "# TYPE shop_retry_calls_total counter\n",
             "shop_retry_calls_total{zone=\"a\",outcome=\"success\"} 1\n",
             "shop_retry_attempts_total{zone=\"a\"} 3\n",
             "shop_retry_retries_total{zone=\"a\",reason=\"timeout\"} 1\n",
             "shop_retry_refusals_total{zone=\"a\",reason=\"unsafe_to_retry\"} 1\n",
             "shop_retry_call_duration_seconds_bucket{zone=\"a\",le=\"0.5\"} 1\n",
             "shop_retry_call_duration_seconds_bucket{zone=\"a\",le=\"+Inf\"} 2\n",
             "shop_retry_call_duration_seconds_count{zone=\"a\"} 2\n",
         }) {
        EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
    }
}

TEST(retry_metrics, a_throttled_timeout_counts_as_a_timeout) {
    retry_metrics metrics;
    retry_history::entry entry;
    entry.set_facts(true, true);
    metrics.on_decision({.entry = entry});
    EXPECT_EQ(metrics.retries(retry_metrics::failure_kind::timeout), 1U);
    EXPECT_EQ(metrics.retries(retry_metrics::failure_kind::throttling), 0U);
    entry.set_facts(false, true);
    metrics.on_decision({.entry = entry});
    EXPECT_EQ(metrics.retries(retry_metrics::failure_kind::timeout), 1U);
    EXPECT_EQ(metrics.retries(retry_metrics::failure_kind::throttling), 1U);
    entry.set_facts(false, false);
    metrics.on_decision({.entry = entry});
    EXPECT_EQ(metrics.retries(retry_metrics::failure_kind::throttling), 1U);
    EXPECT_EQ(metrics.retries(retry_metrics::failure_kind::other), 1U);
}

// A hedge that is refused leaves its call alone, which mostly succeeds. Once, it counted as a retry
// that was refused, so that a full service looked like one whose calls fail.
TEST(retry_metrics, a_refused_hedge_is_no_refused_retry) {
    retry_metrics metrics;
    retry_history::entry entry;
    entry.set_is_hedge();
    metrics.on_decision({.entry = entry});
    entry.set_refusal(refusal_reason::budget_exhausted);
    metrics.on_decision({.entry = entry});
    EXPECT_EQ(metrics.hedges(), 1U);
    EXPECT_EQ(metrics.refused_hedges(), 1U);
    EXPECT_EQ(metrics.refusals(refusal_reason::budget_exhausted), 0U);
    const std::string text = metrics.to_prometheus();
    for (const char* line : {
             "reprise_retry_hedges_total{outcome=\"started\"} 1\n",
             "reprise_retry_hedges_total{outcome=\"refused\"} 1\n",
         }) {
        EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
    }
}

// The pages of two services, one after the other, described each family twice: `promtool` refused
// the second HELP line.
TEST(retry_metrics, several_services_share_one_valid_page) {
    retry_metrics prices;
    retry_metrics stock;
    const token_bucket bucket({.capacity = 20});
    const circuit_breaker breaker;
    const std::array<retry_metrics::service, 2> services{
        {{.labels = "service=\"prices\"", .metrics = &prices, .budget = &bucket},
         {.labels = "service=\"stock\"", .metrics = &stock, .breaker = &breaker}}};
    const std::string text = retry_metrics::to_prometheus(services, "shop");
    std::istringstream lines(text);
    std::set<std::string> described;
    std::string open_family;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("# HELP ")) {
            open_family = line.substr(7, line.find(' ', 7) - 7);
            EXPECT_TRUE(described.insert(open_family).second) << "described twice: " << line;
        } else if (!line.starts_with("#")) {
            EXPECT_TRUE(line.starts_with(open_family)) << "outside of its family: " << line;
        }
    }
    for (const char* line :
         {"shop_retry_calls_total{service=\"prices\",outcome=\"success\"} 0\n",
          "shop_retry_calls_total{service=\"stock\",outcome=\"success\"} 0\n",
          "# TYPE shop_retry_budget_level gauge\nshop_retry_budget_level{service=\"prices\"} 20\n",
          "shop_retry_budget_capacity{service=\"prices\"} 20\n",
          "shop_retry_breaker_state{service=\"stock\",state=\"closed\"} 1\n",
          "shop_retry_breaker_state{service=\"stock\",state=\"open\"} 0\n",
          "shop_retry_breaker_state{service=\"stock\",state=\"half_open\"} 0\n"}) {
        EXPECT_NE(text.find(line), std::string::npos) << line << text;
    }
}

// Only token buckets had a gauge.
TEST(retry_metrics, every_budget_has_a_gauge_for_its_level_and_its_capacity) {
    struct silent_budget final : driver::retry_budget {
        driver::payment try_pay(const failure_facts&, time_point) noexcept override { return {}; }
        void on_success(std::uint32_t, std::uint32_t, time_point) noexcept override {}
    };
    testing::virtual_clock clock(time_point{1h});
    const auto bucket = std::make_shared<token_bucket>(token_bucket::options{.capacity = 20});
    driver::token_bucket_budget paid(bucket);
    EXPECT_TRUE(paid.try_pay({}, {}).paid);
    failure_throttle throttle({.units_max = 10});
    throttle.on_failure({}, {});
    windowed_budget windowed({.percent = 20, .minimum_per_second = 2, .window = 10s});
    for (int retry = 0; retry < 15; ++retry) {
        EXPECT_TRUE(windowed.try_pay({}, clock.now()).paid);
    }
    clock.advance(1s);
    const silent_budget silent;
    const driver::retry_budget* const none = nullptr;
    using service = retry_metrics::service;
    const std::array<service, 6> services{
        {{.labels = "s=\"paid\"", .budget = &paid},
         {.labels = "s=\"throttle\"", .budget = &throttle},
         {.labels = "s=\"windowed\"", .budget = &windowed, .clock = &clock},
         {.labels = "s=\"silent\"", .budget = &silent},
         {.labels = "s=\"none\"", .budget = none},
         {.labels = "s=\"unset\""}}};
    EXPECT_EQ(
        retry_metrics::to_prometheus(services),
        "# HELP reprise_retry_budget_level Units left in the retry budget.\n"
        "# TYPE reprise_retry_budget_level gauge\n"
        "reprise_retry_budget_level{s=\"paid\"} 15\n"
        "reprise_retry_budget_level{s=\"throttle\"} 9\n"
        "reprise_retry_budget_level{s=\"windowed\"} 7\n"
        "# HELP reprise_retry_budget_capacity Units that the retry budget returns to without "
        "traffic.\n"
        "# TYPE reprise_retry_budget_capacity gauge\n"
        "reprise_retry_budget_capacity{s=\"paid\"} 20\n"
        "reprise_retry_budget_capacity{s=\"throttle\"} 10\n"
        "reprise_retry_budget_capacity{s=\"windowed\"} 20\n");
}

// The state was read once for each line: a breaker that opened in between had two states, or none.
TEST(retry_metrics, a_circuit_breaker_that_changes_has_one_state_on_each_page) {
    circuit_breaker breaker({.volume_threshold = 1, .sleep_window = 1ms});
    std::atomic<bool> is_over = false;
    const std::jthread uses_it([&] {
        time_point now{};
        for (int round = 0; round < 50'000; ++round) {
            breaker.on_failure(breaker.try_acquire(now), {}, now);
            now += 1s;
            breaker.on_success(breaker.try_acquire(now), now);
        }
        is_over = true;
    });
    const std::array<retry_metrics::service, 1> services{{{.breaker = &breaker}}};
    int wrong_pages = 0;
    while (!is_over) {
        const std::string text = retry_metrics::to_prometheus(services, "shop");
        int states = 0;
        for (std::size_t at = 0; (at = text.find("\"} 1\n", at)) != std::string::npos; ++at) {
            ++states;
        }
        wrong_pages += states == 1 ? 0 : 1;
    }
    EXPECT_EQ(wrong_pages, 0);
}

// Tries the locales that this machine has; where the program chose one with commas, Prometheus
// refused the page.
TEST(prometheus_text, numbers_have_a_point_in_every_locale) {
    const std::string chosen = std::setlocale(LC_NUMERIC, nullptr);
    retry_metrics metrics;
    metrics.on_completion({.is_success = true, .attempts = 1, .total_time = 7ms});
    for (const char* const name : {"C", "de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF.UTF-8", ""}) {
        static_cast<void>(std::setlocale(LC_NUMERIC, name));
        const std::string text = metrics.to_prometheus();
        EXPECT_NE(text.find("_bucket{le=\"0.005\"} 0\n"), std::string::npos) << name << text;
        EXPECT_NE(text.find("_sum 0.007\n"), std::string::npos) << name << text;
    }
    std::setlocale(LC_NUMERIC, chosen.c_str());
}

// Dashboards compare the buckets of many programs: what took exactly a limit belongs to it. Once,
// limits were rounded to the places of the histogram, and 1 ms was counted as more than 1 ms.
TEST(prometheus_text, buckets_have_exact_limits_and_are_cumulative) {
    retry_metrics metrics;
    for (const duration took : {duration(1ms), duration(1ms + 1us), duration(5ms), duration(1h)}) {
        metrics.on_completion({.is_success = true, .attempts = 1, .total_time = took});
    }
    const std::string text = metrics.to_prometheus();
    for (const char* line : {
             "_bucket{le=\"0.001\"} 1\n",
             "_bucket{le=\"0.005\"} 3\n",
             "_bucket{le=\"10\"} 3\n",
             "_bucket{le=\"+Inf\"} 4\n",
             "_sum 3600.007001\n",
             "_count 4\n",
         }) {
        EXPECT_NE(text.find(line), std::string::npos) << line << "in\n" << text;
    }
}

TEST(prometheus_text, label_values_are_escaped) {
    EXPECT_EQ(driver::prometheus_text::label_of("path", "C:\\\"a\"\n"), R"(path="C:\\\"a\"\n")");
}

TEST(latency_histogram, percentiles_are_right_within_an_eighth) {
    driver::latency_histogram times;
    EXPECT_EQ(times.percentile(0.5), 0s);
    for (int index = 1; index <= 1000; ++index) {
        times.record(index * 1ms);
    }
    EXPECT_EQ(times.count(), 1000U);
    EXPECT_EQ(times.sum(), 500500ms);
    for (const double share : {0.01, 0.5, 0.95, 0.99, 1.0}) {
        const double exact = share * 1000;
        const double found = static_cast<double>(times.percentile(share) / 1us) / 1000.0;
        EXPECT_GE(found, exact) << share;
        EXPECT_LE(found, exact * 1.126) << share;
    }
    ASSERT_EQ(driver::latency_histogram::limits[7], 500ms);
    EXPECT_EQ(times.counts_up_to_limits()[7], 500U);
    times.record(-1s);
    times.record(duration::max());
    EXPECT_EQ(times.count(), 1002U);
}

TEST(latency_histogram, adds_copies_and_forgets) {
    driver::latency_histogram times;
    for (int index = 0; index < 7; ++index) {
        times.record(10ms);
    }
    driver::latency_histogram others(times);
    others.record(1s);
    times.add(others);
    EXPECT_EQ(times.count(), 15U);
    EXPECT_EQ(times.sum(), 1140ms);
    EXPECT_EQ(times.counts_up_to_limits().back(), 15U);
    times.forget_half();
    EXPECT_EQ(times.count(), 7U) << "of 15";
    EXPECT_EQ(times.sum(), 570ms);
    EXPECT_EQ(times.counts_up_to_limits().back(), 7U);
    times = others;
    EXPECT_EQ(times.count(), 8U);
    EXPECT_EQ(times.sum(), 1070ms);
    EXPECT_GE(times.percentile(1.0), 1s);
}

/// A tracer that writes what it is asked to do.
struct written_tracer final : retry_tracer {
    std::string text;

    struct span final : retry_tracer::span {
        span(std::string& out, std::string name) : out_(out), name_(std::move(name)) {}
        void set_attribute(std::string_view name, std::int64_t value) noexcept override {
            name_ += " " + std::string(name) + "=" + std::to_string(value);
        }
        void set_attribute(std::string_view name, std::string_view value) noexcept override {
            name_ += " " + std::string(name) + "=" + std::string(value);
        }
        void end(bool is_error) noexcept override {
            out_ += name_ + (is_error ? " error\n" : " ok\n");
        }
        std::string& out_;
        std::string name_;
    };

    std::unique_ptr<retry_tracer::span> start_span(
        std::string_view name, retry_tracer::span* parent) noexcept override {
        return std::make_unique<span>(text, (parent != nullptr ? "- " : "") + std::string(name));
    }
};

TEST(retry_tracer, a_call_is_a_span_and_each_attempt_a_child) {
    testing::virtual_clock clock;
    const auto shared = std::make_shared<written_tracer>();
    const written_tracer& tracer = *shared;
    const auto once = attempts(1).tracer(shared);
    testing::scripted_operation service{testing::timed_out()};
    const call_options options{.name = "fetch price", .clock = &clock};
    static_cast<void>(retry(attempts(2).every(1s).tracer(shared), options, std::ref(service)));
    EXPECT_THROW(retry(once, options, [] { throw broken(); }), broken);
    const auto hang_up = [] { return make_error_code(std::errc::connection_reset); };
    static_cast<void>(retry(once, options, hang_up));
    const auto breaker =
        std::make_shared<circuit_breaker>(driver::circuit_breaker_options{.volume_threshold = 1});
    breaker->on_failure(breaker->try_acquire(clock.now()), {}, clock.now());
    static_cast<void>(retry(once.breaker(breaker), options, hang_up));
    const std::string reset =
        "generic:" + std::to_string(static_cast<int>(std::errc::connection_reset));
    EXPECT_EQ(
        tracer.text,
        "- attempt reprise.retry.attempt=1 error.type=timeout error\n"
        "- attempt reprise.retry.attempt=2 ok\n"
        "fetch price reprise.retry.attempts=2 ok\n"
        "- attempt reprise.retry.attempt=1 error.type=_OTHER error\n"
        "fetch price reprise.retry.attempts=1 reprise.retry.refusal=attempts exhausted "
        "error.type=_OTHER error\n"
        "- attempt reprise.retry.attempt=1 error.type=" +
            reset +
            " error\n"
            "fetch price reprise.retry.attempts=1 reprise.retry.refusal=attempts exhausted "
            "error.type=" +
            reset +
            " error\n"
            "fetch price reprise.retry.attempts=0 reprise.retry.refusal=circuit breaker is open "
            "error.type=circuit breaker is open error\n");
}

}  // namespace reprise::retry_observer_test
