#pragma once

/// Numbers for people, without locale.

#include <cstdint>
#include <string>

#include <reprise/retry/time.hpp>

namespace reprise::lab {

/// 1234567 -> "1,234,567".
[[nodiscard]] std::string grouped(std::uint64_t value);

/// With so many digits after the point, grouped before it.
[[nodiscard]] std::string decimal(double value, int digits);

/// 0.9876 -> "98.8 %".
[[nodiscard]] std::string percent(double share);

/// "10 s", "0.5 s", "6.1 s": seconds with at most three digits after the point, no idle zeros.
[[nodiscard]] std::string seconds_text(duration value);

/// Without idle zeros: "750", "0.4".
[[nodiscard]] std::string number_text(double value);

/// The same with "/s": "750/s", "0.4/s".
[[nodiscard]] std::string rate_text(double per_second);

[[nodiscard]] double to_seconds(duration value) noexcept;

}  // namespace reprise::lab
