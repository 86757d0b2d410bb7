#pragma once

/// Results of the HTTP services. Like all results they have plain fields; see results.hpp.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase/json_fragment.hpp>
#include <reprise/couchbase/results.hpp>

namespace reprise::couchbase {

/// One row as the service sent it: a JSON value. It does not own its bytes; see the function that
/// returned it for how long they live.
class row_view {
public:
    row_view() = default;
    explicit row_view(std::string_view text) noexcept : text_(text) {}

    /// The row as JSON text.
    [[nodiscard]] std::string_view text() const noexcept { return text_; }
    /// The same as bytes.
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return std::as_bytes(std::span{text_});
    }
    /// The row converted to T: booleans, numbers and strings directly, everything else by
    /// `codec<T>`, which sees JSON. Fails with errc::decoding_failure if the row is no such value.
    template <readable_fragment T>
    [[nodiscard]] std::expected<T, error> as() const {
        return read_fragment<T>({bytes(), flags_of(document_format::json)});
    }

private:
    std::string_view text_;
};

/// The rows of a result: a C++20 forward range of row_view. Copies share the rows. A row_view is
/// valid as long as one of the copies.
class row_list {
public:
    row_list() = default;
    /// The client makes lists. `memory` owns what the rows point into.
    row_list(std::vector<std::string_view> rows, std::shared_ptr<const void> memory) noexcept
        : rows_(std::move(rows)), memory_(std::move(memory)) {}

    /// Valid as long as its list stays where it is.
    class iterator {
    public:
        using iterator_category = std::forward_iterator_tag;
        using value_type = row_view;
        using difference_type = std::ptrdiff_t;
        using pointer = void;
        using reference = row_view;

        iterator() noexcept = default;
        iterator(const row_list* rows, std::size_t index) noexcept : rows_(rows), index_(index) {}
        [[nodiscard]] row_view operator*() const noexcept { return (*rows_)[index_]; }
        iterator& operator++() noexcept {
            ++index_;
            return *this;
        }
        iterator operator++(int) noexcept { return {rows_, index_++}; }
        friend bool operator==(const iterator&, const iterator&) noexcept = default;

    private:
        const row_list* rows_ = nullptr;
        std::size_t index_ = 0;
    };

    [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
    [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
    /// `index` must be less than size().
    [[nodiscard]] row_view operator[](std::size_t index) const noexcept {
        return row_view(rows_[index]);
    }
    [[nodiscard]] iterator begin() const noexcept { return {this, 0}; }
    [[nodiscard]] iterator end() const noexcept { return {this, size()}; }

private:
    std::vector<std::string_view> rows_;
    std::shared_ptr<const void> memory_;
};

static_assert(std::ranges::forward_range<const row_list>);

/// A warning of the service. The code is the service's own.
struct query_warning {
    std::int64_t code = 0;
    std::string message{};
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
};

/// The metadata of a view query.
struct view_metadata {
    std::optional<std::uint64_t> total_rows{};  ///< Absent if the view was reduced.
    std::vector<view_problem> errors{};
    std::string debug_info{};  ///< JSON; empty if the server sent none.
};

/// All rows of a request with its metadata.
template <class Metadata>
struct rows_result {
    row_list rows{};
    Metadata metadata{};
    operation_trace trace{};
};

using query_result = rows_result<query_metadata>;    ///< What cluster::query returns.
using analytics_result = query_result;               ///< What cluster::analytics_query returns.
using search_result = rows_result<search_metadata>;  ///< What cluster::search returns.
using view_result = rows_result<view_metadata>;      ///< What bucket::view_query returns.

/// The parts of one row of a view, as JSON. A reduced row has no id.
struct view_row {
    std::string id{};
    std::string key{};
    std::string value{};
};

/// Splits a row of a view. Fails with errc::decoding_failure if it is not a view's row.
[[nodiscard]] std::expected<view_row, error> parse_view_row(row_view row);

/// The answer to cluster::management_request. Its status is 2xx.
struct management_response {
    int status = 0;
    std::string body{};
    operation_trace trace{};
};

}  // namespace reprise::couchbase
