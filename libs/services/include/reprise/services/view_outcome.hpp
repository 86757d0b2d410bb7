#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/services/service_outcome.hpp>

namespace reprise::services {

/// One row of a view. Reduced rows have no id.
struct view_row {
    std::string id;     ///< the document's id, or empty
    std::string key;    ///< JSON
    std::string value;  ///< JSON

    friend bool operator==(const view_row&, const view_row&) = default;
};

/// Parses the result of row_splitter::row(). If key or value is missing, it is null.
std::expected<view_row, outcome_error> parse_view_row(std::string_view row);

/// A node whose part of the view failed (`on_error=continue`).
struct view_problem {
    std::string from;
    std::string reason;

    friend bool operator==(const view_problem&, const view_problem&) = default;
};

/// Everything in a view's answer except its rows.
struct view_outcome {
    std::optional<std::uint64_t> total_rows;  ///< missing in reduced views
    std::vector<view_problem> errors;         ///< nodes whose rows are missing; at most 100
    std::string debug_info;                   ///< JSON; empty if missing
    /// The message of a rejected request: "not_found", "missing".
    std::string error;
    std::string reason;
};

/// Parses the result of row_splitter::trailer(), or a whole answer. Only the outermost object must
/// be valid.
std::expected<view_outcome, outcome_error> parse_view_outcome(std::string_view trailer);

/// Why a failed view query may be retried.
enum class view_retry : std::uint8_t {
    none,
    temporary_failure,   ///< the node is not ready or too busy
    no_active_partition  ///< 302: the node has no partition of the view; always retried
};

struct view_verdict {
    std::optional<errc> error{};  ///< empty means success
    view_retry retry = view_retry::none;

    friend bool operator==(const view_verdict&, const view_verdict&) = default;
};

/// Classifies the answer by status and text, without parsing the body.
///
///   302                                  no_active_partition; redirects are never followed
///   300 301 303 307 401 408 409 412
///   416 417 501..504                     temporary_failure
///   404 with `"reason":"missing"`        temporary_failure: the node does not know the bucket yet
///   500                                  temporary_failure, unless the body has `error` together
///                                        with `{not_found, missing_named_view}` or `"badarg"`
///   anything else                        no retry
view_verdict classify_view(int http_status, std::string_view body) noexcept;

}  // namespace reprise::services
