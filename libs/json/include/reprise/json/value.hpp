#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace reprise::json {

class value;
struct member;

// Elements in order. An ordinary vector: everything it offers may be used.
using array = std::vector<value>;

// What a value holds. Each number has one kind only, so equal integers are always of equal kind.
enum class kind : std::uint8_t {
    null,
    boolean,
    integer,           // fits a signed 64-bit number
    unsigned_integer,  // from 2^63 to 2^64 - 1
    decimal,           // has a fraction or an exponent, or is beyond 64 bits
    string,            // UTF-8
    list,              // what JSON calls an array
    map                // what JSON calls an object
};

// For messages: "an object", "a string", ...
std::string_view to_string(kind what) noexcept;

// A floating point number. `text` is the spelling it was parsed from, so that a document that is
// read and written again keeps "1.50" and numbers beyond a double's range; empty for a number made
// by a program.
struct real {
    double number = 0;
    std::string text;
    friend bool operator==(const real& a, const real& b) { return a.number == b.number; }
};

// Members in the order of insertion. Names are unique: `set` replaces. Lookup is linear, which is
// right for the objects of this project (tens of members).
class object {
public:
    using iterator = std::vector<member>::iterator;
    using const_iterator = std::vector<member>::const_iterator;

    object() noexcept;
    object(const object& other);
    object(object&& other) noexcept;
    object& operator=(const object& other);
    object& operator=(object&& other) noexcept;
    ~object();
    // object{{"a", 1}, {"b", "text"}}; of a repeated name the last value counts.
    object(std::initializer_list<std::pair<std::string_view, value>> members);

    // Number of members.
    std::size_t size() const noexcept;
    bool empty() const noexcept { return size() == 0; }

    // Null if there is no such member. The pointer lives until the next change of this object.
    const value* find(std::string_view name) const noexcept;
    value* find(std::string_view name) noexcept;

    // Replaces the member's value in its place, or adds it at the end. Returns the stored value.
    value& set(std::string_view name, value content);
    // False if there was no such member. Keeps the order of the others.
    bool erase(std::string_view name);

    const_iterator begin() const noexcept;
    const_iterator end() const noexcept;
    // Members in their order. Contents may be changed, names must stay unique.
    iterator begin() noexcept;
    iterator end() noexcept;

    // Takes members as they are: the caller guarantees that names are unique.
    static object from_unique(std::vector<member> members);

    // The same members with equal values, in any order.
    friend bool operator==(const object& a, const object& b);

private:
    std::vector<member> members_;
};

// One JSON value that owns everything below it. Copies are deep; moves are cheap; a moved-from
// value is null or empty. Not synchronised: share it as const.
//
// The `as_` calls answer "is it one, and which" and never convert between kinds, except that
// integers are given in either signedness when they fit, and every number as a double.
class value {
public:
    // Implicit, so that trees can be written as they look. Null unless something is given.
    value() noexcept = default;
    value(std::nullptr_t) noexcept {}
    value(std::same_as<bool> auto flag) : content_(static_cast<bool>(flag)) {}
    template <std::integral Integer>
        requires(!std::same_as<Integer, bool>)
    value(Integer number) {
        if constexpr (std::is_signed_v<Integer>) {
            content_ = static_cast<std::int64_t>(number);
        } else {
            set_unsigned(static_cast<std::uint64_t>(number));
        }
    }
    // Written with a fraction or an exponent, so that it stays a decimal when read again.
    value(double number) : content_(real{number, {}}) {}
    value(real number) : content_(std::move(number)) {}
    // Text is kept as given; what is not UTF-8 is replaced when it is written.
    value(const char* text) : content_(std::string(text)) {}
    value(std::string_view text) : content_(std::string(text)) {}
    value(std::string text) : content_(std::move(text)) {}
    value(array elements);
    value(object members);

    // Which of the calls below will answer.
    kind what() const noexcept { return static_cast<kind>(content_.index()); }
    // Also true of a value that was made of nothing.
    bool is_null() const noexcept { return what() == kind::null; }
    // Of any of the three kinds.
    bool is_number() const noexcept { return what() >= kind::integer && what() <= kind::decimal; }

    // Empty if it is of another kind: 0 and "true" are no booleans.
    std::optional<bool> as_bool() const noexcept;
    // Empty for reals, even whole ones ("1.0"), and for numbers that do not fit.
    std::optional<std::int64_t> as_int64() const noexcept;
    std::optional<std::uint64_t> as_uint64() const noexcept;
    // Every number, rounded where a double cannot hold it.
    std::optional<double> as_double() const noexcept;
    // The view lives as long as this value is not changed.
    std::optional<std::string_view> as_string() const noexcept;
    // Null if it is of another kind.
    const array* as_array() const noexcept { return std::get_if<array>(&content_); }
    array* as_array() noexcept { return std::get_if<array>(&content_); }
    const object* as_object() const noexcept { return std::get_if<object>(&content_); }
    object* as_object() noexcept { return std::get_if<object>(&content_); }
    const real* as_real() const noexcept { return std::get_if<real>(&content_); }

    // Member of an object; null if this is no object or has no such member.
    const value* find(std::string_view name) const noexcept;
    value* find(std::string_view name) noexcept;
    // Element of an array; null if this is no array or the index is past its end.
    const value* at(std::size_t index) const noexcept;
    value* at(std::size_t index) noexcept;

    // Equal kind and content. 1 and 1.0 differ; 1.50 and 1.5 do not.
    friend bool operator==(const value& a, const value& b);

private:
    // Chooses the kind by the number's range.
    void set_unsigned(std::uint64_t number) noexcept;

    // The order of alternatives is that of `kind`.
    std::variant<
        std::monostate, bool, std::int64_t, std::uint64_t, real, std::string, array, object>
        content_;
};

// One `"name": content` of an object.
struct member {
    std::string name;  // unescaped
    value content;
    friend bool operator==(const member& a, const member& b) {
        return a.name == b.name && a.content == b.content;
    }
};

}  // namespace reprise::json
