#pragma once

#include <cstdint>
#include <optional>

#include <reprise/engine/vocabulary.hpp>
#include <reprise/wire/retry_spec.hpp>

namespace reprise::engine {

// Where one request stands in the waiting rule of the status it keeps getting. Plans only; whether
// the plan is followed is the strategy's decision.
class server_schedule {
public:
    // The server answered with `status`; `spec` is null if its map has no usable one. Another
    // status than the last one starts again.
    [[nodiscard]] std::optional<server_retry_rule> on_failure(
        std::uint16_t status, const wire::retry_spec* spec, time_point now) noexcept;

private:
    time_point first_failure_{};
    time_point planned_{};  // of the last retry; at first the first failure
    std::uint32_t retries_ = 0;
    std::uint16_t status_ = 0;
};

}  // namespace reprise::engine
