#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "operations/retry_decider.hpp"
#include "topology/endpoint_table.hpp"

namespace reprise::engine {

// A request of the client itself that failed.
struct own_failure {
    std::string_view operation;    // "get_cluster_config"
    const endpoint_record& asked;  // who was asked
    std::uint32_t retries = 0;     // made before
};

// Decides about the client's own requests, by the same rules as about all others, and reports each
// decision to the log.
class own_request_judge {
public:
    virtual ~own_request_judge() = default;
    // After how long the request is sent again; nothing: it is not.
    [[nodiscard]] virtual std::optional<duration> decide(
        const own_failure& what, const retry_case& failed, time_point now) = 0;
    // It will be sent again after `delay`, whatever a strategy says.
    virtual void report_retry(
        const own_failure& what, const failed_attempt& failed, duration delay, time_point now) = 0;
};

}  // namespace reprise::engine
