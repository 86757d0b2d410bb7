#pragma once

/// What the HTTP services report about a request in addition to its rows.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace reprise::couchbase {

/// A warning of the service. The code is the service's own.
struct query_warning {
    std::int64_t code = 0;
    std::string message{};

    friend bool operator==(const query_warning&, const query_warning&) = default;
};

/// The server's figures about its work, if query_options::metrics requests them. A figure that the
/// server does not report is zero or absent.
struct query_metrics {
    std::optional<std::chrono::nanoseconds> elapsed_time{};
    std::optional<std::chrono::nanoseconds> execution_time{};
    std::uint64_t result_count = 0;  ///< Rows.
    std::uint64_t result_size = 0;   ///< Bytes.
    std::uint64_t sort_count = 0;
    std::uint64_t mutation_count = 0;
    std::uint64_t error_count = 0;
    std::uint64_t warning_count = 0;
    std::uint64_t processed_objects = 0;  ///< Reported by analytics only.

    friend bool operator==(const query_metrics&, const query_metrics&) = default;
};

/// The metadata of a query or an analytics query. It arrives after the last row.
struct query_metadata {
    std::string status{};             ///< "success", for example.
    std::string request_id{};         ///< The server's name for the request.
    std::string client_context_id{};  ///< The client's name for the request.
    std::string signature{};          ///< JSON; empty if the server sent none.
    std::string profile{};            ///< JSON; empty if the server sent none.
    std::optional<query_metrics> metrics{};
    std::vector<query_warning> warnings{};
};

/// The metadata of a search.
struct search_metadata {
    std::uint64_t total_hits = 0;  ///< Hits found; fewer may have been returned.
    double max_score = 0;
    std::chrono::nanoseconds took{0};
    std::uint64_t partition_count = 0;  ///< Partitions of the index that were searched.
    std::uint64_t successful_count = 0;
    std::uint64_t failed_count = 0;
    /// Pairs of a partition's name and the reason why it failed.
    std::vector<std::pair<std::string, std::string>> partition_errors{};
    std::string facets{};  ///< JSON; empty if the server sent none.

    /// True if some partitions did not answer: the hits are correct but not complete.
    [[nodiscard]] bool is_partial() const noexcept { return failed_count > 0; }
};

/// A node whose part of a view failed. Its rows are missing (view_on_error::keep_going).
struct view_problem {
    std::string from{};
    std::string reason{};

    friend bool operator==(const view_problem&, const view_problem&) = default;
};

/// The metadata of a view query.
struct view_metadata {
    std::optional<std::uint64_t> total_rows{};  ///< Absent if the view was reduced.
    std::vector<view_problem> errors{};
    std::string debug_info{};  ///< JSON; empty if the server sent none.
};

/// The parts of one row of a view, as JSON. A reduced row has no id.
struct view_row {
    std::string id{};
    std::string key{};
    std::string value{};

    friend bool operator==(const view_row&, const view_row&) = default;
};

}  // namespace reprise::couchbase
