#pragma once

#include <cstddef>
#include <iterator>
#include <utility>

namespace reprise::couchbase::detail {

/// Reads a stream with its next(). It must not outlive the stream, and the stream must not be moved
/// while an iterator is in use. After the last item, and after an error, it equals the sentinel.
template <class Stream, class Item>
class stream_iterator {
public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = Item;
    using difference_type = std::ptrdiff_t;

    stream_iterator() noexcept = default;
    /// Reads the first item.
    explicit stream_iterator(Stream& stream) : stream_(&stream) { ++*this; }

    /// Valid until the iterator is advanced.
    [[nodiscard]] const Item& operator*() const noexcept { return item_; }
    [[nodiscard]] const Item* operator->() const noexcept { return &item_; }
    stream_iterator& operator++() {
        if (auto next = stream_->next(); next && *next) {
            item_ = std::move(**next);
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
    Stream* stream_ = nullptr;  // null: after the last item
    Item item_;
};

}  // namespace reprise::couchbase::detail
