#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/services/service_outcome.hpp>

namespace reprise::services {

// One row of a view. Reduced rows have no id.
struct view_row {
    std::string id;     // the document's, empty if there is none
    std::string key;    // JSON
    std::string value;  // JSON

    friend bool operator==(const view_row&, const view_row&) = default;
};

// Reads what row_splitter::row() gives. A row without key or value has null there.
std::expected<view_row, outcome_error> parse_view_row(std::string_view row);

// A node whose part of the view failed (`on_error=continue`).
struct view_problem {
    std::string from;
    std::string reason;

    friend bool operator==(const view_problem&, const view_problem&) = default;
};

// Everything of a view's answer beside its rows.
struct view_outcome {
    std::optional<std::uint64_t> total_rows;  // missing when reduced
    std::vector<view_problem> errors;         // the rows of these nodes are missing; at most 100
    std::string debug_info;                   // JSON; empty if missing
    // What a refused request says: "not_found", "missing".
    std::string error;
    std::string reason;
};

// Reads what row_splitter::trailer() gives, or a whole answer. Only the outermost object must be
// right.
std::expected<view_outcome, outcome_error> parse_view_outcome(std::string_view trailer);

// Why a failed view query may be tried again.
enum class view_retry : std::uint8_t {
    none,
    temporary_failure,   // the node is not ready, or too busy
    no_active_partition  // 302: the node has no partition of the view; always retried
};

struct view_verdict {
    std::optional<errc> error{};  // absent: success
    view_retry retry = view_retry::none;

    friend bool operator==(const view_verdict&, const view_verdict&) = default;
};

// What the answer means, by status and text; both are looked at as they are, nothing is parsed.
//
//   302                                  no_active_partition; redirects are never followed
//   300 301 303 307 401 408 409 412
//   416 417 501..504                     temporary_failure
//   404 with `"reason":"missing"`        temporary_failure: the node does not know the bucket yet
//   500                                  temporary_failure, unless the body has `error` together
//                                        with `{not_found, missing_named_view}` or `"badarg"`
//   anything else                        no retry
view_verdict classify_view(int http_status, std::string_view body) noexcept;

}  // namespace reprise::services
