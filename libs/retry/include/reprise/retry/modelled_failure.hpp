#pragma once

/// Facts of errors that are defined in a service model (Smithy and the like): code generators emit
/// the traits, the facts follow.

#include <optional>

#include <reprise/retry/failure_facts.hpp>

namespace reprise {

/// The traits of a modelled error that matter for retries.
struct error_model {
    failure_fault fault = failure_fault::client;  ///< The `error` trait.
    bool retryable = false;                       ///< The `retryable` trait is present.
    bool throttling = false;                      ///< ... with `throttling: true`.
};

/// Base or member of generated error types. Retryable trait present: safe. Absent: not safe for
/// client errors, unknown for server errors.
class modelled_failure {
public:
    constexpr explicit modelled_failure(const error_model& model) noexcept
        : facts_{
              .safety = safety_of(model),
              .throttling = model.retryable && model.throttling,
              .timeout = false,
              .minimum_wait = std::nullopt,
              .fault = model.fault,
              .code = 0} {}

    /// For the deserializer, when the response reports a timeout.
    constexpr void set_timeout(bool is_timeout) noexcept { facts_.timeout = is_timeout; }
    /// For the deserializer, when the response carries a hint.
    constexpr void set_minimum_wait(std::optional<duration> wait) noexcept {
        facts_.minimum_wait = wait;
    }
    [[nodiscard]] constexpr const failure_facts& retry_facts() const noexcept { return facts_; }

private:
    [[nodiscard]] static constexpr retry_safety safety_of(const error_model& model) noexcept {
        if (model.retryable) {
            return retry_safety::yes;
        }
        return model.fault == failure_fault::client ? retry_safety::no : retry_safety::maybe;
    }

    failure_facts facts_;
};

}  // namespace reprise
