#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <vector>

#include <reprise/couchbase/detail/calls.hpp>
#include <reprise/engine/operation_result.hpp>

// Checks sub-document calls before they are sent, and converts their answers to results.

namespace reprise::couchbase::detail {

// Maps the paths in an answer to the caller's. Servers require attributes first, so the positions
// in the request differ from the caller's.
struct path_note {
    struct entry {
        path_verb verb = path_verb::get;
        std::string path;
        std::uint8_t sent_at = 0;  // place in the request
    };
    std::vector<entry> entries;  // in the caller's order
};
using path_note_ptr = std::unique_ptr<const path_note>;  // null: not a sub-document call

// Checks the specs of the call and puts them into the order of the request. Each error names the
// path: errc::invalid_argument for what no server accepts, encoding_failure for values that are not
// JSON, and delta_invalid.
[[nodiscard]] std::expected<path_note_ptr, error> arrange_specs(document_call& call);

// The paths in the caller's order.
[[nodiscard]] std::vector<path_result> to_path_results(
    std::vector<engine::subdoc_result>&& paths, const path_note& note);

// The error, with the place of the failed path in the caller's order.
[[nodiscard]] std::shared_ptr<const error_info> in_callers_order(
    std::shared_ptr<const error_info> failed, const path_note& note);

}  // namespace reprise::couchbase::detail
