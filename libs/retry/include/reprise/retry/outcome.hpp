#pragma once

/// How the loop tells a failed result from a good one.
///
/// Understood without help: anything shaped like `std::expected` (`has_value()` and `error()`),
/// `std::error_code` (set = failed), and every other type, whose values are all successes (such
/// operations fail by throwing). For your own result type specialise `outcome_traits`.

#include <system_error>

#include <reprise/retry/failure_facts.hpp>

namespace reprise {

namespace detail {

template <class R>
concept expected_like = requires(const R& r) {
    { r.has_value() } -> std::convertible_to<bool>;
    r.error();
};

}  // namespace detail

/// Customisation point: `is_failure` must not throw; `facts` is called only for failures.
template <class R>
struct outcome_traits {
    [[nodiscard]] static bool is_failure(const R&) noexcept { return false; }
    [[nodiscard]] static failure_facts facts(const R&) noexcept { return {}; }
};

template <detail::expected_like R>
struct outcome_traits<R> {
    [[nodiscard]] static bool is_failure(const R& result) noexcept { return !result.has_value(); }
    [[nodiscard]] static failure_facts facts(const R& result) noexcept {
        return facts_of(result.error());
    }
};

template <>
struct outcome_traits<std::error_code> {
    [[nodiscard]] static bool is_failure(const std::error_code& code) noexcept {
        return static_cast<bool>(code);
    }
    [[nodiscard]] static failure_facts facts(const std::error_code& code) noexcept {
        return facts_of(code);
    }
};

}  // namespace reprise
