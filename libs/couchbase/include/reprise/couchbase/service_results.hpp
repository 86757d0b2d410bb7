#pragma once

/// Results of the HTTP services. Like all results they have plain fields; see results.hpp.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <iterator>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase/json_fragment.hpp>
#include <reprise/couchbase/results.hpp>
#include <reprise/couchbase_types/service_metadata.hpp>

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

/// Splits a row of a view. Fails with errc::decoding_failure if it is not a view's row.
[[nodiscard]] std::expected<view_row, error> parse_view_row(row_view row);

/// The answer to cluster::management_request. Its status is 2xx.
struct management_response {
    int status = 0;
    std::string body{};
    operation_trace trace{};
};

}  // namespace reprise::couchbase
