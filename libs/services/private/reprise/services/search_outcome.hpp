#pragma once

#include <expected>
#include <string>
#include <string_view>

#include <reprise/couchbase_types/services.hpp>
#include <reprise/services/service_outcome.hpp>

namespace reprise::services {

/// Everything in a search's answer except its hits: what the user gets, and what decides about a
/// retry. All counts are 0 if the status is a single word. At most 1000 partition errors are kept.
struct search_outcome : couchbase::search_metadata {
    /// The status if it is a single word: "ok", "fail".
    std::string status;
    /// The message of a rejected request, for example "rest_index: Query, ...".
    std::string error;
};

/// Parses the result of row_splitter::trailer(), or a whole answer. Only the outermost object must
/// be valid; members that are missing or of another type keep their defaults.
std::expected<search_outcome, outcome_error> parse_search_outcome(std::string_view trailer);

/// Classifies the answer by status and text. 2xx is a success, even with a partial result, unless
/// the body is malformed (parsing_failure) or reports a failed search (internal_server_failure).
/// 400 with an unknown text is invalid_argument. Retried are 400 with `pindex not available` (a
/// service that starts does not have the partition yet) and 429 that mentions no limit of the user.
/// `body` is the trailer or the whole body, and `outcome` what was parsed of it.
service_verdict classify_search(
    int http_status, std::string_view body,
    const std::expected<search_outcome, outcome_error>& outcome);

}  // namespace reprise::services
