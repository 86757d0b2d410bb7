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

namespace detail {

// With a zero byte, which the text of the compiler does not have here.
template <auto Value>
inline constexpr auto name_text = [] {
    constexpr std::string_view text = text_of<Value>();
    constexpr std::string_view name = text.substr(text.rfind(':') + 1);
    std::array<char, name.size() + 1> made{};
    name.copy(made.data(), name.size());
    return made;
}();

}  // namespace detail

/// The name of an enumerator as written in the source. A zero byte follows it.
template <auto Value>
consteval std::string_view enumerator_name() noexcept {
    static_assert(is_enumerator<Value>());
    return detail::name_text<Value>.data();
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

namespace detail {

// An enumeration may count up from 1, so that 0 is not an error.
template <class Enum>
inline constexpr std::size_t first_enumerator = is_enumerator<static_cast<Enum>(0)>() ? 0 : 1;

template <class Enum>
inline constexpr std::size_t text_count =
    enumerator_count<Enum, first_enumerator<Enum>>() - first_enumerator<Enum>;

}  // namespace detail

/// One text for each enumerator of an enumeration that counts up from 0 or 1 without gaps. A text
/// that is missing or in the wrong place does not compile.
template <class Enum>
class enumerator_texts {
public:
    struct row {
        Enum value;
        std::string_view text;
    };

    consteval explicit enumerator_texts(const row (&rows)[detail::text_count<Enum>]) {
        for (std::size_t index = 0; index < texts_.size(); ++index) {
            const std::size_t number = index + detail::first_enumerator<Enum>;
            if (rows[index].value != static_cast<Enum>(number)) {
                throw "the texts are in the order of the enumeration";
            }
            if (rows[index].text.empty()) {
                throw "each enumerator has a text";
            }
            texts_[index] = rows[index].text;
        }
    }

    /// "unknown" for a number without a name.
    constexpr std::string_view operator[](Enum value) const noexcept {
        const std::size_t index = static_cast<std::size_t>(value) - detail::first_enumerator<Enum>;
        return index < texts_.size() ? texts_[index] : "unknown";
    }

private:
    std::array<std::string_view, detail::text_count<Enum>> texts_{};
};

namespace detail {

template <class Enum>
inline constexpr auto names = []<std::size_t... Index>(std::index_sequence<Index...>) {
    constexpr std::size_t first = first_enumerator<Enum>;
    return enumerator_texts<Enum>(
        {{static_cast<Enum>(first + Index),
          enumerator_name<static_cast<Enum>(first + Index)>()}...});
}(std::make_index_sequence<text_count<Enum>>{});

}  // namespace detail

/// The name of an enumerator as written in the source, "unknown" for a number without a name. The
/// enumeration counts up from 0 or 1 without gaps. A zero byte follows the name.
template <class Enum>
constexpr std::string_view name_of(Enum value) noexcept {
    return detail::names<Enum>[value];
}

}  // namespace reprise::base
