#pragma once

#include <compare>
#include <cstddef>
#include <functional>

namespace reprise::base {

/// A number that identifies something and does not mix with other numbers of the same size.
/// ```
///     using apple_id = reprise::base::strong_id<struct apple_tag, std::uint32_t>;
/// ```
/// Conversions from and to its representation are explicit. It is ordered and hashable but has no
/// arithmetic, because adding two ids has no meaning. It is trivially copyable and has the size of
/// Representation.
template <class Tag, class Representation>
struct strong_id {
    constexpr strong_id() noexcept = default;
    constexpr explicit strong_id(Representation number) noexcept : value(number) {}

    friend constexpr bool operator==(strong_id, strong_id) noexcept = default;
    friend constexpr auto operator<=>(strong_id, strong_id) noexcept = default;

    Representation value{};
};

}  // namespace reprise::base

template <class Tag, class Representation>
struct std::hash<reprise::base::strong_id<Tag, Representation>> {
    std::size_t operator()(reprise::base::strong_id<Tag, Representation> id) const noexcept {
        return std::hash<Representation>{}(id.value);
    }
};
