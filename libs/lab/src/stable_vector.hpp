#pragma once

/// A vector of objects that can neither be copied nor moved: their addresses never change. A
/// `std::deque` offers that, too, but needs a division for each access.

#include <cstddef>
#include <memory>
#include <ranges>
#include <utility>
#include <vector>

namespace reprise::lab::detail {

template <class T>
class stable_vector {
public:
    template <class... Args>
    T& emplace_back(Args&&... args) {
        return *items_.emplace_back(std::make_unique<T>(std::forward<Args>(args)...));
    }
    [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
    [[nodiscard]] T& operator[](std::size_t index) noexcept { return *items_[index]; }
    /// All of them, in order.
    [[nodiscard]] auto all() noexcept {
        return items_ |
               std::views::transform([](const std::unique_ptr<T>& item) -> T& { return *item; });
    }

private:
    std::vector<std::unique_ptr<T>> items_;
};

}  // namespace reprise::lab::detail
