#include <reprise/json/value.hpp>

#include <algorithm>
#include <limits>

namespace reprise::json {

std::string_view to_string(kind what) noexcept {
    switch (what) {
        case kind::null:
            return "null";
        case kind::boolean:
            return "a boolean";
        case kind::integer:
        case kind::unsigned_integer:
            return "an integer";
        case kind::decimal:
            return "a decimal number";
        case kind::string:
            return "a string";
        case kind::list:
            return "an array";
        case kind::map:
            return "an object";
    }
    return "unknown";
}

// Defined here because `member` is incomplete in the header.
object::object() noexcept = default;
object::object(const object& other) = default;
object::object(object&& other) noexcept = default;
object& object::operator=(const object& other) = default;
object& object::operator=(object&& other) noexcept = default;
object::~object() = default;

std::size_t object::size() const noexcept {
    return members_.size();
}

object::const_iterator object::begin() const noexcept {
    return members_.begin();
}

object::const_iterator object::end() const noexcept {
    return members_.end();
}

object::iterator object::begin() noexcept {
    return members_.begin();
}

object::iterator object::end() noexcept {
    return members_.end();
}

object::object(std::initializer_list<std::pair<std::string_view, value>> members) {
    members_.reserve(members.size());
    for (const auto& [name, content] : members) {
        set(name, content);
    }
}

const value* object::find(std::string_view name) const noexcept {
    for (const member& each : members_) {
        if (each.name == name) {
            return &each.content;
        }
    }
    return nullptr;
}

// Uses the const overload. This object is not const, so neither are its members.
value* object::find(std::string_view name) noexcept {
    return const_cast<value*>(std::as_const(*this).find(name));
}

value& object::set(std::string_view name, value content) {
    if (value* existing = find(name)) {
        *existing = std::move(content);
        return *existing;
    }
    // Appends, because the order of members is visible in a document.
    members_.push_back({std::string(name), std::move(content)});
    return members_.back().content;
}

bool object::erase(std::string_view name) {
    const auto found =
        std::ranges::find_if(members_, [&](const member& each) { return each.name == name; });
    if (found == members_.end()) {
        return false;
    }
    members_.erase(found);
    return true;
}

object object::from_unique(std::vector<member> members) {
    object result;
    result.members_ = std::move(members);
    return result;
}

bool operator==(const object& a, const object& b) {
    // Names are unique, so equal sizes and one inclusion are sufficient.
    if (a.size() != b.size()) {
        return false;
    }
    return std::ranges::all_of(a.members_, [&](const member& each) {
        const value* other = b.find(each.name);
        return other != nullptr && *other == each.content;
    });
}

value::value(array elements) : content_(std::move(elements)) {}
value::value(object members) : content_(std::move(members)) {}

void value::set_unsigned(std::uint64_t number) noexcept {
    // Uses one form for each number, so that equal numbers compare equal.
    if (number <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        content_ = static_cast<std::int64_t>(number);
    } else {
        content_ = number;
    }
}

std::optional<bool> value::as_bool() const noexcept {
    const bool* flag = std::get_if<bool>(&content_);
    return flag != nullptr ? std::optional(*flag) : std::nullopt;
}

std::optional<std::int64_t> value::as_int64() const noexcept {
    const std::int64_t* number = std::get_if<std::int64_t>(&content_);
    return number != nullptr ? std::optional(*number) : std::nullopt;
}

std::optional<std::uint64_t> value::as_uint64() const noexcept {
    if (const std::uint64_t* number = std::get_if<std::uint64_t>(&content_)) {
        return *number;
    }
    const std::int64_t* number = std::get_if<std::int64_t>(&content_);
    if (number != nullptr && *number >= 0) {
        return static_cast<std::uint64_t>(*number);
    }
    return std::nullopt;
}

std::optional<double> value::as_double() const noexcept {
    switch (what()) {
        case kind::integer:
            return static_cast<double>(*std::get_if<std::int64_t>(&content_));
        case kind::unsigned_integer:
            return static_cast<double>(*std::get_if<std::uint64_t>(&content_));
        case kind::decimal:
            return std::get_if<real>(&content_)->number;
        default:  // no number
            return std::nullopt;
    }
}

std::optional<std::string_view> value::as_string() const noexcept {
    const std::string* text = std::get_if<std::string>(&content_);
    return text != nullptr ? std::optional<std::string_view>(*text) : std::nullopt;
}

const value* value::find(std::string_view name) const noexcept {
    const object* members = as_object();
    return members != nullptr ? members->find(name) : nullptr;
}

value* value::find(std::string_view name) noexcept {
    object* members = as_object();
    return members != nullptr ? members->find(name) : nullptr;
}

const value* value::at(std::size_t index) const noexcept {
    const array* elements = as_array();
    return elements != nullptr && index < elements->size() ? &(*elements)[index] : nullptr;
}

value* value::at(std::size_t index) noexcept {
    return const_cast<value*>(std::as_const(*this).at(index));
}

bool operator==(const value& a, const value& b) {
    return a.content_ == b.content_;
}

}  // namespace reprise::json
