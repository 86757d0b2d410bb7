#include <reprise/asio/hedge.hpp>
#include <stdexcept>

namespace reprise {

std::optional<settings_error> check(const hedge_options& options) {
    constexpr std::uint32_t attempts_limit = 16;
    if (options.delay < duration::zero()) {
        return settings_error{"delay", "must not be negative"};
    }
    if (options.attempts_max == 0 || options.attempts_max > attempts_limit) {
        return settings_error{"attempts_max", "must be 1 to 16"};
    }
    if (!(options.percentile >= 0.0 && options.percentile <= 1.0)) {
        return settings_error{"percentile", "must be 0 to 1"};
    }
    if (options.seen_max / 2 < options.seen_min) {
        return settings_error{"seen_max", "must be at least twice seen_min"};
    }
    return std::nullopt;
}

void detail::check_hedge(repeatability repeat) {
    if (repeat != repeatability::repeatable) {
        throw std::invalid_argument(
            "call_options::repeat: a hedged call must be marked as repeatable");
    }
}

}  // namespace reprise
