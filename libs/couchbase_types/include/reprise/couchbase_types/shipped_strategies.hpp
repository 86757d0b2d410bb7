#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include <reprise/couchbase_types/errc.hpp>
#include <reprise/couchbase_types/request_snapshot.hpp>
#include <reprise/retry/driver/composed_strategy.hpp>
#include <reprise/retry/driver/retry_strategy.hpp>

/// The strategies that come with the client.

namespace reprise::couchbase {

/// The error that each of the five terminal reasons stands for; empty for all other reasons.
[[nodiscard]] std::optional<errc> terminal_error(retry_reason reason) noexcept;

/// Delay before retry number `attempts` (0 is the first); `random` is 64 uniform bits.
using backoff_calculator = std::function<duration(std::uint32_t attempts, std::uint64_t random)>;

/// 1, 2, 4, ... 256, 500, 500, ... ms: RFC 0049's rule for best effort, without jitter.
[[nodiscard]] backoff_calculator exponential_calculator();
/// Any rule of the retry library; with many clients full jitter spreads the load better.
[[nodiscard]] backoff_calculator jittered_calculator(
    const driver::backoff_options& options = {
        .base = std::chrono::milliseconds{1},
        .factor = 2.0,
        .cap = std::chrono::milliseconds{500},
        .jitter = reprise::jitter::full,
        .hint_excess_max = {}});

/// Retries whatever may be repeated safely, until the deadline. May be derived from: override
/// `retry_after`, handle your reasons, and call this one for the rest.
class best_effort_strategy : public driver::retry_strategy {
public:
    explicit best_effort_strategy(backoff_calculator calculator = exponential_calculator());
    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override;

private:
    backoff_calculator calculator_;
};

/// The default. As best effort, except that the five terminal reasons end the request at once with
/// a clear error instead of a timeout. What counts as terminal may grow with new servers. If you
/// need fixed behaviour, copy this class: docs/guide/couchbase.md shows a copy.
class fail_fast_on_terminal_error_strategy : public best_effort_strategy {
public:
    using best_effort_strategy::best_effort_strategy;
    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override;
};

/// Opt-in: as the default, except that an unknown status with a usable retry rule in the server's
/// error map is retried at the times the server planned. When the rule's max-duration is over, the
/// request fails with that status' own error, and so it does at once if the server promises a rule
/// that cannot be used. A status for which no rule is promised: best effort.
class server_directed_strategy : public fail_fast_on_terminal_error_strategy {
public:
    using fail_fast_on_terminal_error_strategy::fail_fast_on_terminal_error_strategy;
    void retry_after(const driver::retry_question& question, driver::retry_sink& sink) override;
};

}  // namespace reprise::couchbase
