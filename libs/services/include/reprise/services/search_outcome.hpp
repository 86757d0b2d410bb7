#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/services/service_outcome.hpp>

namespace reprise::services {

/// Everything in a search's answer except its hits.
struct search_outcome {
    /// The number of partitions searched. All counts are 0 if the status is a single word.
    std::uint64_t partition_count = 0;
    std::uint64_t failed_count = 0;
    std::uint64_t successful_count = 0;
    /// Why partitions failed, by partition name. At most 1000.
    std::vector<std::pair<std::string, std::string>> partition_errors;
    /// The status if it is a single word: "ok", "fail".
    std::string status;
    /// The message of a rejected request, for example "rest_index: Query, ...".
    std::string error;

    std::uint64_t total_hits = 0;  ///< hits found, which may be more than returned
    double max_score = 0;
    std::chrono::nanoseconds took{0};
    /// JSON; empty if missing.
    std::string facets;

    /// Some partitions did not answer: the hits are correct but incomplete.
    bool is_partial() const noexcept { return failed_count > 0; }
};

/// Parses the result of row_splitter::trailer(), or a whole answer. Only the outermost object must
/// be valid; members that are missing or of another type keep their defaults.
std::expected<search_outcome, outcome_error> parse_search_outcome(std::string_view trailer);

/// Why a failed search may be retried.
enum class search_retry : std::uint8_t {
    none,
    too_many_requests,  ///< HTTP 429 that does not mention a limit of the user
    not_available_yet   ///< HTTP 400: a service that starts does not have the partition yet
};

struct search_verdict {
    std::optional<errc> error{};  ///< empty means success
    search_retry retry = search_retry::none;

    friend bool operator==(const search_verdict&, const search_verdict&) = default;
};

/// Classifies the answer by status and text. 2xx is a success, even with a partial result, unless
/// the body is malformed (parsing_failure) or reports a failed search (internal_server_failure).
/// 400 with an unknown text is invalid_argument, and with `pindex not available` index_not_ready.
/// `body` is the trailer or the whole body.
search_verdict classify_search(int http_status, std::string_view body);

}  // namespace reprise::services
