#pragma once

#include <cstdint>
#include <optional>

#include <reprise/engine/vocabulary.hpp>
#include <reprise/wire/retry_spec.hpp>

namespace reprise::engine {

// The progress of one request in the waiting rule of the status that it keeps getting. This class
// only plans; the strategy decides whether to follow the plan.
class server_schedule {
public:
    // The server answered with `status`. `spec` is null if its error map has no usable rule. A
    // status that differs from the last one starts a new plan.
    [[nodiscard]] std::optional<server_retry_rule> on_failure(
        std::uint16_t status, const wire::retry_spec* spec, time_point now) noexcept;

private:
    time_point first_failure_{};
    time_point planned_{};  // when the last retry is due; at first the time of the first failure
    std::uint32_t retries_ = 0;
    std::uint16_t status_ = 0;
};

}  // namespace reprise::engine
