#include "retry_scene.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <system_error>
#include <utility>

#include <reprise/retry.hpp>

#include "virtual_reference.hpp"

namespace bench {

namespace {

using namespace std::chrono_literals;

// As in instruction_bench.cpp.
#define COUNTED [[gnu::noinline]]

COUNTED void measured_successes(reprise::standard_strategy& strategy, std::size_t count) {
    for (std::size_t each = 0; each < count; ++each) {
        (void)reprise::retry(strategy, fallible_operation);
    }
}

COUNTED void measured_virtual_successes(
    reprise::driver::retry_strategy& strategy, std::size_t count) {
    for (std::size_t each = 0; each < count; ++each) {
        (void)reprise::retry(strategy, fallible_operation);
    }
}

// Fails once, then succeeds: one decision per call. The clock does not wait.
class immediate_clock final : public reprise::retry_clock {
public:
    [[nodiscard]] reprise::time_point now() noexcept override { return now_; }
    bool wait_until(reprise::time_point until, const std::stop_token&) noexcept override {
        now_ = std::max(now_, until);
        return true;
    }

private:
    reprise::time_point now_{1h};
};

class constant_random final : public reprise::driver::random_source {
public:
    [[nodiscard]] std::uint64_t next() noexcept override { return 0x9e3779b97f4a7c15U; }
};

struct fails_once {
    bool has_failed = false;
    std::error_code operator()() {
        return std::exchange(has_failed, true)
                   ? std::error_code{}
                   : std::make_error_code(std::errc::connection_refused);
    }
};

std::error_code fail_always() {
    return std::make_error_code(std::errc::connection_refused);
}

COUNTED void measured_decisions(
    reprise::standard_strategy& strategy, const reprise::call_options& options, std::size_t count) {
    for (std::size_t each = 0; each < count; ++each) {
        fails_once operation;
        (void)reprise::retry(strategy, options, operation);
    }
}

COUNTED void measured_refusals(
    reprise::standard_strategy& strategy, const reprise::call_options& options, std::size_t count) {
    for (std::size_t each = 0; each < count; ++each) {
        (void)reprise::retry(strategy, options, fail_always);
    }
}

}  // namespace

bool run_retry(std::string_view name, std::size_t count) {
    reprise::standard_strategy::options settings;
    settings.prices.refund_last_cost = true;
    if (name == "refusal") {
        settings.bucket.initial = 0.0;
    }
    reprise::standard_strategy strategy(settings);
    immediate_clock clock;
    reprise::call_options options;
    options.clock = &clock;
    constant_random random;
    options.random = &random;
    if (name == "success") {
        measured_successes(strategy, count);
    } else if (name == "virtual_success") {
        reprise::driver::virtual_strategy<reprise::standard_strategy> behind_interface(settings);
        measured_virtual_successes(behind_interface, count);
    } else if (name == "decision") {
        measured_decisions(strategy, options, count);
    } else if (name == "refusal") {
        measured_refusals(strategy, options, count);
    } else {
        return false;
    }
    return true;
}

}  // namespace bench
