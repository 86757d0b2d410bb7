#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <string_view>
#include <utility>

namespace reprise::base {

namespace detail {

// `Value` as GCC and Clang print it: "reprise::wire::service::query" or, for a number without a
// name, "(reprise::wire::service)9".
template <auto Value>
consteval std::string_view text_of() noexcept {
    constexpr std::string_view start = "Value = ";
    std::string_view text = __PRETTY_FUNCTION__;
    text.remove_prefix(text.find(start) + start.size());
    return text.substr(0, text.find_first_of(";]"));
}

}  // namespace detail

/// True if `Value` is an enumerator, false if it is a number without a name.
template <auto Value>
consteval bool is_enumerator() noexcept {
    constexpr std::string_view text = detail::text_of<Value>();
    const char first = text[text.rfind(')') + 1];  // after the cast, if there is one
    return first < '0' || first > '9';
}

/// The name of an enumerator as written in the source.
template <auto Value>
consteval std::string_view enumerator_name() noexcept {
    static_assert(is_enumerator<Value>());
    constexpr std::string_view text = detail::text_of<Value>();
    return text.substr(text.rfind(':') + 1);
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

/// True if `Left` and `Right` start with the same `Count` names in the same order, so that a cast
/// converts one to the other.
template <class Left, class Right, std::size_t Count>
consteval bool have_same_names() noexcept {
    return []<std::size_t... Index>(std::index_sequence<Index...>) {
        return (
            (enumerator_name<static_cast<Left>(Index)>() ==
             enumerator_name<static_cast<Right>(Index)>()) &&
            ...);
    }(std::make_index_sequence<Count>{});
}

/// True if the table has one row for each enumerator, in the order of the enumeration. `key` is the
/// member of a row that holds its enumerator. Use it in a `static_assert` below the table: an
/// enumerator without a row then fails to compile.
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
