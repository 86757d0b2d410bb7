#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string_view>

namespace reprise::base {

/// True if `Value` is an enumerator, false if it is a number without a name.
template <auto Value>
consteval bool is_enumerator() noexcept {
    // GCC and Clang print a number without a name as a cast: "(reprise::wire::service)9".
    const std::string_view text = __PRETTY_FUNCTION__;
    const std::size_t cast = text.rfind(')');
    if (cast == std::string_view::npos || cast + 1 == text.size()) {
        return true;
    }
    const char next = text[cast + 1];
    return next < '0' || next > '9';
}

/// The number of enumerators of an enumeration that counts up from 0 without gaps.
template <class Enum, std::size_t Next = 0>
consteval std::size_t enumerator_count() noexcept {
    if constexpr (is_enumerator<static_cast<Enum>(Next)>()) {
        return enumerator_count<Enum, Next + 1>();
    } else {
        return Next;
    }
}

/// True if the table has one row for each enumerator, in the order of the enumeration. `key` is
/// the member of a row that names its enumerator. Use it in a `static_assert` below the table:
/// an enumerator without a row then does not compile.
template <class Row, std::size_t Size, class Enum>
consteval bool has_row_per_enumerator(
    const std::array<Row, Size>& table, Enum Row::* key) noexcept {
    if (Size != enumerator_count<Enum>()) {
        return false;
    }
    for (std::size_t index = 0; index < Size; ++index) {
        if (std::invoke(key, table[index]) != static_cast<Enum>(index)) {
            return false;
        }
    }
    return true;
}

}  // namespace reprise::base
