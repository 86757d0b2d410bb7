#pragma once

#include <cstddef>
#include <expected>
#include <iterator>
#include <utility>

#include <reprise/couchbase/error.hpp>

namespace reprise::couchbase::detail {

/// Makes streams; defined in the library's sources.
struct stream_access;

/// Reads a stream with its next(). It must not outlive the stream, and the stream must not be moved
/// while an iterator is in use. An error is the last element: after it, as after the last item, the
/// iterator equals the sentinel.
template <class Stream, class Item>
class stream_iterator {
public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = std::expected<Item, error>;
    using difference_type = std::ptrdiff_t;

    stream_iterator() noexcept = default;
    /// Reads the first item.
    explicit stream_iterator(Stream& stream) : stream_(&stream) { ++*this; }

    /// Valid until the iterator is advanced.
    [[nodiscard]] const value_type& operator*() const noexcept { return element_; }
    [[nodiscard]] const value_type* operator->() const noexcept { return &element_; }
    stream_iterator& operator++() {
        if (!element_) {
            stream_ = nullptr;
            return *this;
        }
        auto next = stream_->next();
        if (!next) {
            element_ = std::unexpected(std::move(next.error()));
        } else if (*next) {
            element_ = std::move(**next);
        } else {
            stream_ = nullptr;
        }
        return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const stream_iterator& at, std::default_sentinel_t) noexcept {
        return at.stream_ == nullptr;
    }

private:
    Stream* stream_ = nullptr;  // null: after the last element
    value_type element_;
};

}  // namespace reprise::couchbase::detail
