#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase/json_fragment.hpp>
#include <reprise/couchbase/results.hpp>

namespace reprise::couchbase {

// One row as the service wrote it: a JSON value. Does not own.
class row_view {
public:
    explicit row_view(std::string_view text) noexcept : text_(text) {}

    [[nodiscard]] std::string_view text() const noexcept { return text_; }
    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return std::as_bytes(std::span{text_});
    }
    // Booleans, numbers and strings directly, everything else through codec<T>, which sees JSON.
    // errc::decoding_failure if the row is something else.
    template <readable_fragment T>
    [[nodiscard]] std::expected<T, error> as() const {
        return read_fragment<T>({bytes(), flags_of(document_format::json)});
    }

private:
    std::string_view text_;
};

// Rows of a result. Copies share them; views into it live as long as one of the copies.
class row_list {
public:
    row_list() = default;
    // `memory` is what the rows lie in.
    row_list(std::vector<std::string_view> rows, std::shared_ptr<const void> memory) noexcept
        : rows_(std::move(rows)), memory_(std::move(memory)) {}

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
    // `index` below size().
    [[nodiscard]] row_view operator[](std::size_t index) const noexcept {
        return row_view(rows_[index]);
    }
    [[nodiscard]] iterator begin() const noexcept { return {this, 0}; }
    [[nodiscard]] iterator end() const noexcept { return {this, size()}; }

private:
    std::vector<std::string_view> rows_;
    std::shared_ptr<const void> memory_;
};

// A warning, with the service's own number.
struct query_warning {
    std::int64_t code = 0;
    std::string message{};
};

// What the server says about its work; asked for with query_options::metrics. 0 or absent: not
// said.
struct query_metrics {
    std::optional<std::chrono::nanoseconds> elapsed_time{};
    std::optional<std::chrono::nanoseconds> execution_time{};
    std::uint64_t result_count = 0;  // rows
    std::uint64_t result_size = 0;   // bytes
    std::uint64_t sort_count = 0;
    std::uint64_t mutation_count = 0;
    std::uint64_t error_count = 0;
    std::uint64_t warning_count = 0;
    std::uint64_t processed_objects = 0;  // analytics only
};

// Of a query or an analytics query, known when the last row has come.
struct query_metadata {
    std::string status{};             // "success", ...
    std::string request_id{};         // the server's name for the request
    std::string client_context_id{};  // ours
    std::string signature{};          // JSON; empty if missing
    std::string profile{};            // JSON; empty if missing
    std::optional<query_metrics> metrics{};
    std::vector<query_warning> warnings{};
};

// Of a search.
struct search_metadata {
    std::uint64_t total_hits = 0;  // found, not returned
    double max_score = 0;
    std::chrono::nanoseconds took{0};
    // Partitions of the index that were asked.
    std::uint64_t partition_count = 0;
    std::uint64_t successful_count = 0;
    std::uint64_t failed_count = 0;
    // Why partitions failed, by their names.
    std::vector<std::pair<std::string, std::string>> partition_errors{};
    std::string facets{};  // JSON; empty if missing

    // Some partitions did not answer: the hits are right but not all there are.
    [[nodiscard]] bool is_partial() const noexcept { return failed_count > 0; }
};

// A node whose part of a view failed (view_on_error::keep_going): its rows are missing.
struct view_problem {
    std::string from{};
    std::string reason{};
};

// Of a view query.
struct view_metadata {
    std::optional<std::uint64_t> total_rows{};  // missing when reduced
    std::vector<view_problem> errors{};
    std::string debug_info{};  // JSON; empty if missing
};

// Everything of an answer that was kept whole.
template <class Metadata>
struct rows_result {
    row_list rows{};
    Metadata metadata{};
    operation_trace trace{};
};

using query_result = rows_result<query_metadata>;
using analytics_result = query_result;
using search_result = rows_result<search_metadata>;
using view_result = rows_result<view_metadata>;

// The parts of a view's row, as JSON. A reduced row has no id.
struct view_row {
    std::string id{};
    std::string key{};
    std::string value{};
};

// errc::decoding_failure if it is none.
[[nodiscard]] std::expected<view_row, error> parse_view_row(row_view row);

// The answer to cluster::management_request; the status is one of 2xx.
struct management_response {
    int status = 0;
    std::string body{};
    operation_trace trace{};
};

}  // namespace reprise::couchbase
