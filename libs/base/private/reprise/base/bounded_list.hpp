#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>

#include <reprise/base/assert.hpp>

namespace reprise::base {

/// A list of at most CountMax small values, stored inline. It needs no allocation, and input from a
/// network cannot exceed the limit. Value must be default constructible and copyable.
template <class Value, std::size_t CountMax>
class bounded_list {
public:
    bounded_list() = default;
    /// Passing more than CountMax values is a programming error.
    bounded_list(std::initializer_list<Value> values) {
        for (const Value& value : values) {
            const bool pushed = push_back(value);
            REPRISE_ASSERT(pushed);
        }
    }

    /// Appends the value. Returns false and changes nothing if the list is full.
    [[nodiscard]] bool push_back(const Value& value) {
        if (count_ == CountMax) {
            return false;
        }
        values_[count_++] = value;
        return true;
    }

    static constexpr std::size_t capacity() noexcept { return CountMax; }
    std::size_t size() const noexcept { return count_; }
    bool empty() const noexcept { return count_ == 0; }
    void clear() noexcept { count_ = 0; }

    /// `index` must be below `size()`.
    Value& operator[](std::size_t index) {
        REPRISE_ASSERT(index < count_);
        return values_[index];
    }
    const Value& operator[](std::size_t index) const {
        REPRISE_ASSERT(index < count_);
        return values_[index];
    }

    auto begin() noexcept { return values_.begin(); }
    auto end() noexcept { return values_.begin() + static_cast<std::ptrdiff_t>(count_); }
    auto begin() const noexcept { return values_.begin(); }
    auto end() const noexcept { return values_.begin() + static_cast<std::ptrdiff_t>(count_); }
    std::span<const Value> view() const noexcept { return {values_.data(), count_}; }

private:
    std::array<Value, CountMax> values_{};
    std::size_t count_ = 0;
};

}  // namespace reprise::base
