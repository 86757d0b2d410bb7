#pragma once

/// One call that is played: its features, its options and the behaviour of the service.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <reprise/retry/driver/composed_strategy.hpp>
#include <reprise/retry/retry_errc.hpp>
#include <reprise/retry/time.hpp>

#include "features.hpp"

namespace reprise::feature_pairs {

/// How the service treats one attempt. Its facts are true: an attempt whose failure has safety
/// `yes` was not executed.
struct attempt_script {
    duration time{};
    bool is_success = false;
    bool is_executed = false;
    bool is_thrown = false;             ///< The failure is an exception, in loops that can see it.
    bool ignores_cancellation = false;  ///< It ends when it would have ended anyway.
    bool is_at_once = false;            ///< It completes while it is being started.
    bool is_late = false;               ///< In blocking loops: it goes on after its limit.
    duration late_by{};       ///< With its own result, so long after it has been canceled.
    std::uint32_t heeds = 7;  ///< The types of cancellation that it supports.
    int status = 0;           ///< With the adapter: of the HTTP answer; 0: the connection broke.
    failure_facts facts{};    ///< Without the adapter.
};

struct call_plan {
    feature_set features;
    std::uint64_t seed = 0;
    std::vector<attempt_script> attempts;  ///< The last one repeats.
    std::uint32_t attempts_max = 4;
    duration delay{};  ///< Before each retry.
    repeatability repeat = repeatability::unspecified;
    when_unstated unmarked_calls = when_unstated::retry;
    std::string method = "GET";           ///< With the adapter.
    std::uint32_t selected_codes = 0xff;  ///< Bits; with the filter: the codes that it selects.
    std::uint32_t budget_units = 1000;    ///< Retries that the budget can pay.
    std::optional<duration> timeout{};
    std::optional<duration> attempt_timeout{};
    std::optional<duration> stop_at{};
    duration first_delay{};
    std::optional<duration> signal_at{};  ///< Of `signal_type`; terminal ones follow.
    std::uint32_t signal_type = 1;        ///< A `cancellation_type`.
    bool has_strand = false;
    std::optional<duration> breaker_opens_at{};  ///< Because of other calls.
    duration hedge_delay{};

    [[nodiscard]] bool has(feature one) const { return features.has(one); }
    /// True if the service may execute the call twice.
    [[nodiscard]] bool may_be_executed_twice() const;
};

/// The call that `seed` draws for these features.
[[nodiscard]] call_plan draw_plan(const feature_set& features, std::uint64_t seed);
/// For messages of failed tests.
[[nodiscard]] std::string to_string(const call_plan& plan);

}  // namespace reprise::feature_pairs
