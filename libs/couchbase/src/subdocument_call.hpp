#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include <reprise/couchbase/detail/document_call.hpp>
#include <reprise/engine/operation_request.hpp>
#include <reprise/engine/operation_result.hpp>

// Sub-document calls on their way to the engine and back.

namespace reprise::couchbase::detail {

// What must be remembered of a sub-document call to read its answer. Servers want attributes
// first, so places in the request differ from the caller's.
struct path_note {
    struct entry {
        path_verb verb = path_verb::get;
        std::string path;
        std::uint8_t sent_at = 0;  // place in the request
    };
    std::vector<entry> entries;  // in the caller's order
};

// What any answer is read with: where it came from and, of sub-document calls, which paths.
struct answer_note {
    std::shared_ptr<const std::string> bucket{};  // of mutations
    std::shared_ptr<const path_note> paths{};
};

// Puts specs and flags into the request. Errors, each naming the path: errc::invalid_argument for
// what no server would take, encoding_failure for values that are no JSON, delta_invalid.
[[nodiscard]] std::expected<std::shared_ptr<const path_note>, error> add_specs(
    engine::operation_request& request, const document_call& call);

// The paths in the caller's order.
[[nodiscard]] path_outcomes to_outcomes(
    std::vector<engine::subdoc_result>&& paths, const path_note& note);

// The error with the failed path's place in the caller's order.
[[nodiscard]] std::shared_ptr<const error_info> in_callers_order(
    std::shared_ptr<const error_info> failed, const path_note& note);

}  // namespace reprise::couchbase::detail
