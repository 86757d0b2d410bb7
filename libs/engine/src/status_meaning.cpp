#include <reprise/engine/status_meaning.hpp>

#include "operations/status_mapping.hpp"

namespace reprise::engine {

std::optional<status_meaning> usual_meaning(wire::status status) noexcept {
    const response_outcome outcome =
        classify({.kind = operation_kind::replace, .status = status, .request_cas = 0});
    if (outcome.kind == outcome_kind::success || outcome.error == errc::unknown_server_status) {
        return std::nullopt;
    }
    return status_meaning{outcome.error, outcome.reason};
}

}  // namespace reprise::engine
