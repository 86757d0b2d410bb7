#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <reprise/base/enum_table.hpp>

namespace reprise::base {

/// Tables of options: one row for each member of an options struct. A row drives the check of the
/// range, the parsing of a text and the messages. A table is a constexpr array of rows, each made
/// by make_option, with a static_assert of has_row_per_member below it; see the test of this
/// header.

/// How the value of an option is checked and written as text.
enum class option_kind : std::uint8_t {
    object,    ///< has neither a range nor a text
    flag,      ///< `true`, `false`, `1` or `0`
    count,     ///< a whole number
    duration,  ///< `2.5s`, `1m30s`, `100ms`, or a bare number of milliseconds
    text,      ///< not empty; its range is that of its size in bytes
};

/// A value in the form that does not depend on the type of its member. Nothing: an object, or an
/// optional value that is not set.
using option_value =
    std::variant<std::monostate, bool, std::uint64_t, std::chrono::nanoseconds, std::string_view>;

/// A limit of a range: a number, or a duration.
struct option_limit {
    std::int64_t number;

    constexpr option_limit(std::int64_t value) noexcept : number(value) {}
    template <class Rep, class Period>
    constexpr option_limit(std::chrono::duration<Rep, Period> value) noexcept
        : number(std::chrono::nanoseconds(value).count()) {}
};

/// Stands for the name of the member in option_rules::parameter.
inline constexpr std::string_view own_name = "=";

/// Properties of an option in addition to its member. By default a duration must be above zero and
/// at most 366 days, a count must be between 1 and 2^30, and a text may have any size.
struct option_rules {
    std::string_view parameter{};  ///< its name in connection strings; empty if it has none
    std::optional<option_limit> min{};
    std::optional<option_limit> max{};
    bool zero_is_max = false;       ///< the text `0` means the maximum
    std::string_view true_word{};   ///< another text for `true`
    std::string_view false_word{};  ///< and for `false`
};

/// Properties of an option, without the object that it belongs to.
struct option_facts {
    std::string_view name{};  ///< of the member, for example "kv_timeout" or "tls.ca_file"
    option_kind kind = option_kind::object;
    std::string_view parameter{};
    std::int64_t min = 0;
    std::int64_t max = 0;
    bool zero_is_max = false;
    std::string_view true_word{};
    std::string_view false_word{};
};

template <class Owner>
struct option_row : option_facts {
    /// A text is a view into the owner.
    option_value (*read)(const Owner& from) = nullptr;
    /// The value has the kind of the option and is in its range.
    void (*write)(Owner& to, const option_value& value) = nullptr;
};

/// Returns why the value is out of range, for example "must be 1 to 64". Empty: it is not.
[[nodiscard]] std::string find_range_error(const option_facts& option, const option_value& value);

/// Parses the text of an option. The value is in range, and a text is a view into `text`. The error
/// explains what is wrong.
[[nodiscard]] std::expected<option_value, std::string> parse_option(
    const option_facts& option, std::string_view text);

/// "1 to 64", "above zero", ...; empty if every value of the kind is valid.
[[nodiscard]] std::string describe_range(const option_facts& option);

namespace detail {

template <class Member>
struct member_parts;
template <class Owner, class Value>
struct member_parts<Value Owner::*> {
    using owner = Owner;
    using value = Value;
};

template <auto Member>
consteval std::string_view member_name() noexcept {
    constexpr std::string_view text = text_of<Member>();
    return text.substr(text.rfind(':') + 1);
}

// "tls.ca_file" for the path &options::tls, &tls_options::ca_file.
template <auto... Path>
inline constexpr auto path_text = [] {
    std::array<char, (member_name<Path>().size() + ...) + sizeof...(Path) - 1> text{};
    auto next = text.begin();
    const auto append = [&](std::string_view name) {
        if (next != text.begin()) {
            *next++ = '.';
        }
        next = std::ranges::copy(name, next).out;
    };
    (append(member_name<Path>()), ...);
    return text;
}();

template <auto First, auto... Rest, class Owner>
[[nodiscard]] constexpr auto& follow(Owner& owner) noexcept {
    return ((owner.*First).*....*Rest);
}

template <class Value>
[[nodiscard]] consteval option_kind kind_of() noexcept {
    using duration = std::chrono::nanoseconds;
    if constexpr (std::same_as<Value, bool>) {
        return option_kind::flag;
    } else if constexpr (std::unsigned_integral<Value>) {
        return option_kind::count;
    } else if constexpr (
        std::same_as<Value, duration> || std::same_as<Value, std::optional<duration>>) {
        return option_kind::duration;
    } else if constexpr (std::same_as<Value, std::string>) {
        return option_kind::text;
    } else {
        return option_kind::object;
    }
}

template <class Value>
[[nodiscard]] option_value to_option_value(const Value& value) noexcept {
    if constexpr (std::same_as<Value, std::optional<std::chrono::nanoseconds>>) {
        return value ? option_value(*value) : option_value();
    } else if constexpr (std::same_as<Value, bool>) {
        return value;
    } else if constexpr (std::unsigned_integral<Value>) {
        return std::uint64_t{value};
    } else if constexpr (kind_of<Value>() == option_kind::object) {
        return std::monostate{};
    } else {
        return option_value(value);
    }
}

template <class Value>
void assign_option(Value& to, const option_value& value) {
    if constexpr (kind_of<Value>() == option_kind::flag) {
        to = std::get<bool>(value);
    } else if constexpr (kind_of<Value>() == option_kind::count) {
        to = static_cast<Value>(std::get<std::uint64_t>(value));
    } else if constexpr (kind_of<Value>() == option_kind::duration) {
        to = std::get<std::chrono::nanoseconds>(value);
    } else if constexpr (kind_of<Value>() == option_kind::text) {
        to = std::get<std::string_view>(value);
    }
}

// Converts to the type of any member of `Owner`. Never evaluated.
template <class Owner>
struct any_member {
    std::size_t index;
    template <class Value>
        requires(!std::same_as<std::remove_cvref_t<Value>, Owner>)
    operator Value&() const& noexcept;
    template <class Value>
        requires(!std::same_as<std::remove_cvref_t<Value>, Owner>)
    operator Value&&() const&& noexcept;
};

template <class Owner, std::size_t... Index>
[[nodiscard]] consteval bool has_members(std::index_sequence<Index...> /*all*/) noexcept {
    return requires { Owner{any_member<Owner>{Index}...}; };
}

}  // namespace detail

/// The number of members of an aggregate. A base counts as one.
template <class Owner, std::size_t Known = 0>
[[nodiscard]] consteval std::size_t member_count() noexcept {
    if constexpr (detail::has_members<Owner>(std::make_index_sequence<Known + 1>{})) {
        return member_count<Owner, Known + 1>();
    } else {
        return Known;
    }
}

/// The row of a member, or of a member of a member.
template <auto First, auto... Rest>
[[nodiscard]] consteval auto make_option(option_rules rules = {}) {
    using owner = typename detail::member_parts<decltype(First)>::owner;
    using value =
        std::remove_cvref_t<decltype(detail::follow<First, Rest...>(std::declval<owner&>()))>;
    constexpr option_kind kind = detail::kind_of<value>();
    constexpr std::chrono::nanoseconds duration_max = std::chrono::hours{24 * 366};
    // Queues only use memory for what they contain. The limit keeps sums of counts far from
    // overflow.
    constexpr std::int64_t count_max = std::int64_t{1} << 30;
    constexpr auto& text = detail::path_text<First, Rest...>;
    option_row<owner> row;
    row.name = {text.data(), text.size()};
    row.kind = kind;
    row.parameter = rules.parameter == own_name ? row.name : rules.parameter;
    row.min = rules.min ? rules.min->number : kind == option_kind::text ? 0 : 1;
    row.max = rules.max                       ? rules.max->number
              : kind == option_kind::duration ? duration_max.count()
                                              : count_max;
    row.zero_is_max = rules.zero_is_max;
    row.true_word = rules.true_word;
    row.false_word = rules.false_word;
    row.read = [](const owner& from) {
        return detail::to_option_value(detail::follow<First, Rest...>(from));
    };
    row.write = [](owner& to, const option_value& given) {
        detail::assign_option(detail::follow<First, Rest...>(to), given);
    };
    return row;
}

/// True if every member of `Struct` has a row, and no name or parameter occurs twice. `prefix` is
/// empty for the owner of the table, and for example "tls." for its member `tls`. Use it in a
/// `static_assert` below the table: a member without a row then fails to compile.
template <class Struct, class Row, std::size_t Size>
[[nodiscard]] consteval bool has_row_per_member(
    const std::array<Row, Size>& table, std::string_view prefix = {},
    std::size_t base_count = 0) noexcept {
    std::size_t found = 0;
    for (std::size_t index = 0; index < Size; ++index) {
        const Row& row = table[index];
        const auto member_of = [&](const Row& each) {
            std::string_view rest = each.name;
            rest.remove_prefix(prefix.size());
            return rest.substr(0, rest.find('.'));
        };
        bool is_first = row.name.starts_with(prefix);
        for (std::size_t other = 0; other < index; ++other) {
            const Row& earlier = table[other];
            if (earlier.name == row.name ||
                (!row.parameter.empty() && earlier.parameter == row.parameter)) {
                return false;
            }
            is_first = is_first &&
                       !(earlier.name.starts_with(prefix) && member_of(earlier) == member_of(row));
        }
        found += is_first ? 1 : 0;
    }
    return found + base_count == member_count<Struct>();
}

}  // namespace reprise::base
