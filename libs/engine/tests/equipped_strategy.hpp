#pragma once

// A strategy with the parts that a test chooses: circuit breaker, observer, tracer.

#include <algorithm>
#include <vector>

#include <reprise/retry/circuit_breaker.hpp>
#include <reprise/retry/retry_observer.hpp>

#include "engine_driver.hpp"

namespace reprise::engine::testing {

// Makes up to three attempts, 1 ms apart.
class three_attempts final : public driver::retry_strategy {
public:
    explicit three_attempts(driver::strategy_traits traits) : retry_strategy(traits) {}
    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override {
        sink.answer(
            question.token.attempt < 3
                ? driver::retry_action::after(1ms)
                : driver::retry_action::no(refusal_reason::attempts_exhausted));
    }
};

class kept_summaries final : public retry_observer {
public:
    void on_completion(const call_summary& summary) noexcept override { ended.push_back(summary); }
    std::vector<call_summary> ended;
};

// Counts spans.
class span_counter final : public retry_tracer {
public:
    struct counts {
        int made = 0;
        int open = 0;
        int open_max = 0;
        int errors = 0;
    };

    std::unique_ptr<span> start_span(std::string_view, span*) noexcept override {
        return std::make_unique<counted>(seen);
    }
    counts seen;

private:
    class counted final : public span {
    public:
        explicit counted(counts& of) : of_(of) {
            ++of_.made;
            of_.open_max = std::max(of_.open_max, ++of_.open);
        }
        void set_attribute(std::string_view, std::string_view) noexcept override {}
        void set_attribute(std::string_view, std::int64_t) noexcept override {}
        void end(bool is_error) noexcept override {
            --of_.open;
            of_.errors += is_error ? 1 : 0;
        }

    private:
        counts& of_;
    };
};

// Opens after two outcomes if one of them is a failure, and sends a probe a second later.
inline circuit_breaker::options sensitive_breaker() {
    return {.volume_threshold = 2, .error_threshold_percent = 50, .sleep_window = 1s};
}

// Opens a sensitive breaker.
inline void open(circuit_breaker& breaker, time_point now) {
    failure_facts failed;
    failed.fault = failure_fault::server;
    for (int count = 0; count < 2; ++count) {
        breaker.on_failure(breaker.try_acquire(now), failed, now);
    }
    ASSERT_EQ(breaker.state(), circuit_state::open);
}

}  // namespace reprise::engine::testing
