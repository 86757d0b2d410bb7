#pragma once

#include <expected>
#include <string>
#include <string_view>

#include <reprise/couchbase_types/services.hpp>
#include <reprise/services/service_outcome.hpp>

namespace reprise::services {

using couchbase::view_row;

/// Parses the result of row_splitter::row(). If key or value is missing, it is null.
std::expected<view_row, outcome_error> parse_view_row(std::string_view row);

/// Everything in a view's answer except its rows. At most 100 errors are kept.
struct view_outcome : couchbase::view_metadata {
    /// The message of a rejected request: "not_found", "missing".
    std::string error;
    std::string reason;
};

/// Parses the result of row_splitter::trailer(), or a whole answer. Only the outermost object must
/// be valid.
std::expected<view_outcome, outcome_error> parse_view_outcome(std::string_view trailer);

/// Classifies the answer by status and text, without parsing the body. Reasons for a retry are
/// views_no_active_partition and views_temporary_failure (the node is not ready or too busy):
///
///   302                                  no_active_partition; redirects are never followed
///   300 301 303 307 401 408 409 412
///   416 417 501..504                     temporary_failure
///   404 with `"reason":"missing"`        temporary_failure: the node does not have the bucket yet
///   500                                  temporary_failure, unless the body has `error` together
///                                        with `{not_found, missing_named_view}` or `"badarg"`
///   anything else                        no retry
service_verdict classify_view(int http_status, std::string_view body) noexcept;

}  // namespace reprise::services
