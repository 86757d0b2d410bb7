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

// Everything of a search's answer beside its hits.
struct search_outcome {
    // Partitions asked; all 0 if the status is one word.
    std::uint64_t partition_count = 0;
    std::uint64_t failed_count = 0;
    std::uint64_t successful_count = 0;
    // Why partitions failed, by their names. At most 1000.
    std::vector<std::pair<std::string, std::string>> partition_errors;
    // A word as status: "ok", "fail".
    std::string status;
    // What a refused request says: "rest_index: Query, ...".
    std::string error;

    std::uint64_t total_hits = 0;  // found, not returned
    double max_score = 0;
    std::chrono::nanoseconds took{0};
    // JSON; empty if missing.
    std::string facets;

    // Some partitions did not answer: the hits are right but not all there are.
    bool is_partial() const noexcept { return failed_count > 0; }
};

// Reads what row_splitter::trailer() gives, or a whole answer. Only the outermost object must be
// right; what is missing or of another type is left as it is above.
std::expected<search_outcome, outcome_error> parse_search_outcome(std::string_view trailer);

// Why a failed search may be tried again.
enum class search_retry : std::uint8_t {
    none,
    too_many_requests  // HTTP 429 that names no limit of the user
};

struct search_verdict {
    std::optional<errc> error{};  // absent: success
    search_retry retry = search_retry::none;

    friend bool operator==(const search_verdict&, const search_verdict&) = default;
};

// What the answer means, by status and text. 2xx is a success, a partial result too, unless the
// body is unreadable (parsing_failure) or says that the search failed (internal_server_failure).
// 400 beside the texts it knows is invalid_argument. `body`: the trailer, or the whole body.
search_verdict classify_search(int http_status, std::string_view body);

}  // namespace reprise::services
