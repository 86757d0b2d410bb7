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

/// Elements in order. It is an ordinary vector with all its members.
using array = std::vector<value>;

/// The kind of a value. Each number has exactly one kind, so equal integers always have equal
/// kinds.
enum class kind : std::uint8_t {
    null,
    boolean,
    integer,           ///< fits a signed 64-bit number
    unsigned_integer,  ///< from 2^63 to 2^64 - 1
    decimal,           ///< has a fraction or an exponent, or is beyond 64 bits
    string,            ///< UTF-8
    list,              ///< a JSON array
    map                ///< a JSON object
};

/// Returns "an object", "a string", and so on, for messages.
std::string_view to_string(kind what) noexcept;

/// A floating point number. `text` is the spelling from which it was parsed, so that a document
/// keeps "1.50" and numbers beyond a double's range when it is written again. It is empty for a
/// number created by a program.
struct real {
    double number = 0;
    std::string text;
    friend bool operator==(const real& a, const real& b) { return a.number == b.number; }
};

/// Members in the order of insertion. Names are unique: `set` replaces a member. Lookup is linear,
/// which suits the objects of this project (tens of members).
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
    /// For example object{{"a", 1}, {"b", "text"}}. If a name repeats, the last value counts.
    object(std::initializer_list<std::pair<std::string_view, value>> members);

    /// Number of members.
    std::size_t size() const noexcept;
    bool empty() const noexcept { return size() == 0; }

    /// Returns null if there is no such member. The pointer is valid until the object changes.
    const value* find(std::string_view name) const noexcept;
    value* find(std::string_view name) noexcept;

    /// Replaces the member's value in its place, or appends a new member. Returns the stored value.
    value& set(std::string_view name, value content);
    /// Returns false if there is no such member. Keeps the order of the others.
    bool erase(std::string_view name);

    const_iterator begin() const noexcept;
    const_iterator end() const noexcept;
    /// Members in order. You may change their contents, but names must stay unique.
    iterator begin() noexcept;
    iterator end() noexcept;

    /// Takes the members unchecked. The caller guarantees that names are unique.
    static object from_unique(std::vector<member> members);

    /// Equal if both have the same members with equal values, in any order.
    friend bool operator==(const object& a, const object& b);

private:
    std::vector<member> members_;
};

/// One JSON value, which owns everything below it. Copies are deep and moves are cheap. A
/// moved-from value is null or empty. It is not synchronised: share it as const.
///
/// The `as_` members return the content if it has the requested type. They never convert between
/// kinds, except that they return integers in either signedness if they fit, and any number as a
/// double.
class value {
public:
    /// Constructors are implicit, so that code can spell out a tree. The default is null.
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
    /// Written with a fraction or an exponent, so that it parses as a decimal again.
    value(double number) : content_(real{number, {}}) {}
    value(real number) : content_(std::move(number)) {}
    /// Keeps the text unchanged. Writing replaces what is not UTF-8.
    value(const char* text) : content_(std::string(text)) {}
    value(std::string_view text) : content_(std::string(text)) {}
    value(std::string text) : content_(std::move(text)) {}
    value(array elements);
    value(object members);

    /// Selects the member below that returns the content.
    kind what() const noexcept { return static_cast<kind>(content_.index()); }
    /// Also true for a default-constructed value.
    bool is_null() const noexcept { return what() == kind::null; }
    /// Whether it has any of the three number kinds.
    bool is_number() const noexcept { return what() >= kind::integer && what() <= kind::decimal; }

    /// Returns nothing for other kinds: 0 and "true" are not booleans.
    std::optional<bool> as_bool() const noexcept;
    /// Returns nothing for decimals, even whole ones ("1.0"), and for numbers that do not fit.
    std::optional<std::int64_t> as_int64() const noexcept;
    std::optional<std::uint64_t> as_uint64() const noexcept;
    /// Returns any number, rounded if a double cannot represent it.
    std::optional<double> as_double() const noexcept;
    /// The view is valid until this value changes.
    std::optional<std::string_view> as_string() const noexcept;
    /// Returns null for other kinds.
    const array* as_array() const noexcept { return std::get_if<array>(&content_); }
    array* as_array() noexcept { return std::get_if<array>(&content_); }
    const object* as_object() const noexcept { return std::get_if<object>(&content_); }
    object* as_object() noexcept { return std::get_if<object>(&content_); }
    const real* as_real() const noexcept { return std::get_if<real>(&content_); }

    /// Returns a member of an object, or null if this is not an object or has no such member.
    const value* find(std::string_view name) const noexcept;
    value* find(std::string_view name) noexcept;
    /// Returns an element of an array, or null if this is not an array or the index is past its
    /// end.
    const value* at(std::size_t index) const noexcept;
    value* at(std::size_t index) noexcept;

    /// Equal if kind and content are equal. 1 and 1.0 differ; 1.50 and 1.5 do not.
    friend bool operator==(const value& a, const value& b);

private:
    // The number's range determines the kind.
    void set_unsigned(std::uint64_t number) noexcept;

    // The alternatives are in the order of `kind`.
    std::variant<
        std::monostate, bool, std::int64_t, std::uint64_t, real, std::string, array, object>
        content_;
};

/// One `"name": content` pair of an object.
struct member {
    std::string name;  ///< unescaped
    value content;
    friend bool operator==(const member& a, const member& b) {
        return a.name == b.name && a.content == b.content;
    }
};

}  // namespace reprise::json
