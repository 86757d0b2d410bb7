#pragma once

/// Formats numbers for people, independently of the locale.

#include <cstdint>
#include <string>

#include <reprise/retry/time.hpp>

namespace reprise::lab {

/// 1234567 -> "1,234,567".
[[nodiscard]] std::string grouped(std::uint64_t value);

/// Uses the given number of decimal places, and groups the digits before the point.
[[nodiscard]] std::string decimal(double value, int digits);

/// 0.9876 -> "98.8 %".
[[nodiscard]] std::string percent(double share);

/// "10 s", "0.5 s", "6.1 s": seconds with at most three decimal places and no trailing zeros.
[[nodiscard]] std::string seconds_text(duration value);

/// No trailing zeros: "750", "0.4".
[[nodiscard]] std::string number_text(double value);

/// The same with "/s": "750/s", "0.4/s".
[[nodiscard]] std::string rate_text(double per_second);

[[nodiscard]] double to_seconds(duration value) noexcept;

}  // namespace reprise::lab
