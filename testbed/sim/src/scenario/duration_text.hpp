#pragma once

#include <cstdint>
#include <string>

#include <reprise/retry/time.hpp>

namespace reprise::sim {

// "1.204 ms", "3 s", "0": at most three decimals, in the largest unit with a non-zero whole part.
inline std::string duration_text(duration value) {
    struct unit {
        std::int64_t size;
        const char* name;
    };
    constexpr unit units[] = {{1'000'000'000, " s"}, {1'000'000, " ms"}, {1'000, " us"}};
    const std::int64_t count = value.count();
    if (count == 0) {
        return "0";
    }
    if (count < 0) {
        return "-" + duration_text(-value);
    }
    for (const unit& each : units) {
        if (count < each.size) {
            continue;
        }
        std::string text = std::to_string(count / each.size);
        if (const std::int64_t rest = count % each.size / (each.size / 1000); rest != 0) {
            std::string digits = std::to_string(1000 + rest).substr(1);
            digits.erase(digits.find_last_not_of('0') + 1);
            text += "." + digits;
        }
        return text + each.name;
    }
    return std::to_string(count) + " ns";
}

}  // namespace reprise::sim
