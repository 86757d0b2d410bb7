#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "operations/retry_rules.hpp"
#include "topology/endpoint_table.hpp"

namespace reprise::engine {

// A request of the client itself that failed.
struct own_failure {
    std::string_view operation;    // "get_cluster_config"
    const endpoint_record& asked;  // the node that was asked
    std::uint32_t retries = 0;     // before this failure
};

// Decides about retries of the client's own requests, under the same rules as for all others, and
// logs each decision.
class own_request_rules {
public:
    virtual ~own_request_rules() = default;
    // The delay after which the request is sent again. Empty if it is not.
    [[nodiscard]] virtual std::optional<duration> decide(
        const own_failure& what, const retry_case& failed, time_point now) = 0;
    // Logs that the request will be sent again after `delay`, without asking a strategy.
    virtual void report_retry(
        const own_failure& what, const failed_attempt& failed, duration delay, time_point now) = 0;
};

}  // namespace reprise::engine
