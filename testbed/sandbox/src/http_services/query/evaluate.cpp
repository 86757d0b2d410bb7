#include "http_services/query/evaluate.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <reprise/json/write.hpp>

#include "http_services/query/language.hpp"

namespace reprise::sandbox::detail {

namespace {

maybe_value member_of(const maybe_value& of, std::string_view name) {
    const json::value* found = of ? of->find(name) : nullptr;
    return found == nullptr ? maybe_value{} : maybe_value(*found);
}

// The truth value in a condition; empty for NULL and MISSING.
std::optional<bool> truth_of(const maybe_value& given) noexcept {
    if (!given || given->is_null()) {
        return std::nullopt;
    }
    if (const auto flag = given->as_bool()) {
        return flag;
    }
    if (const auto number = given->as_double()) {
        return *number != 0;
    }
    if (const auto text = given->as_string()) {
        return !text->empty();
    }
    const json::array* list = given->as_array();
    return list != nullptr ? !list->empty() : !given->as_object()->empty();
}

// The size in bytes of the first character of `text`.
std::size_t character_size(std::string_view text) noexcept {
    std::size_t size = 1;
    while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) {
        ++size;
    }
    return size;
}

// The exact result if it is a whole number of 64 bits. Empty: it must be computed in doubles.
std::optional<std::int64_t> calculate_whole(char sign, std::int64_t a, std::int64_t b) noexcept {
    std::int64_t result = 0;
    const bool is_division = sign == '/' || sign == '%';
    if (is_division && (b == 0 || b == -1 || (sign == '/' && a % b != 0))) {
        return std::nullopt;
    }
    const bool has_overflow = sign == '+'   ? __builtin_add_overflow(a, b, &result)
                              : sign == '-' ? __builtin_sub_overflow(a, b, &result)
                              : sign == '*' ? __builtin_mul_overflow(a, b, &result)
                                            : false;
    if (has_overflow) {
        return std::nullopt;
    }
    return is_division ? (sign == '/' ? a / b : a % b) : result;
}

// Integers stay exact as long as the result fits. Null if an operand is not a number.
json::value calculate(char sign, const json::value& left, const json::value& right) {
    const auto a = left.as_double();
    const auto b = right.as_double();
    if (!a || !b || ((sign == '/' || sign == '%') && *b == 0)) {
        return nullptr;
    }
    if (left.as_int64() && right.as_int64()) {
        if (const auto whole = calculate_whole(sign, *left.as_int64(), *right.as_int64())) {
            return *whole;
        }
    }
    return make_number(
        sign == '+'   ? *a + *b
        : sign == '-' ? *a - *b
        : sign == '*' ? *a * *b
        : sign == '/' ? *a / *b
                      : std::fmod(*a, *b));
}

// IN is null if there is no equal element, but a null one.
json::value find_among(const json::value& what, const json::array& among) {
    const auto is_equal = [&what](const auto& each) { return collate(what, each) == 0; };
    if (std::ranges::any_of(among, is_equal)) {
        return true;
    }
    return std::ranges::any_of(among, &json::value::is_null) ? json::value() : json::value(false);
}

json::value to_value(maybe_value from) {
    return from ? *std::move(from) : json::value();
}

}  // namespace

bool matches_like(std::string_view pattern, std::string_view text) {
    // The last `%` and what it has matched so far: the only place to backtrack to.
    std::size_t at = 0;
    std::size_t seen = 0;
    std::size_t star = std::string_view::npos;
    std::size_t star_seen = 0;
    while (seen < text.size()) {
        const bool is_escaped = at + 1 < pattern.size() && pattern[at] == '\\' &&
                                std::string_view("%_\\").contains(pattern[at + 1]);
        const std::size_t letter = at + (is_escaped ? 1 : 0);
        if (!is_escaped && at < pattern.size() && pattern[at] == '%') {
            star = at++;
            star_seen = seen;
        } else if (!is_escaped && at < pattern.size() && pattern[at] == '_') {
            ++at;
            seen += character_size(text.substr(seen));
        } else if (letter < pattern.size() && pattern[letter] == text[seen]) {
            at = letter + 1;
            ++seen;
        } else if (star != std::string_view::npos) {
            at = star + 1;
            star_seen += character_size(text.substr(star_seen));
            seen = star_seen;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('%', at) == std::string_view::npos;
}

void evaluator::fail(int code, std::string message) {
    if (!error_) {
        error_ = statement_error{code, std::move(message), 0, {}};
        error_->is_in_execution = code >= 5000 && code != not_in_sandbox_code;
    }
}

maybe_value evaluator::parameter(const std::string& name) {
    std::size_t number = 0;
    const char* end = name.data() + name.size();
    if (std::from_chars(name.data(), end, number).ptr == end) {
        if (number >= 1 && number <= parameters_.positional.size()) {
            return parameters_.positional[number - 1];
        }
        fail(
            5010,
            "Error evaluating projection - cause: No value for positional parameter $" + name);
        return std::nullopt;
    }
    if (const json::value* found = parameters_.named.find(name); found != nullptr) {
        return *found;
    }
    fail(5010, "Error evaluating projection - cause: No value for named parameter $" + name);
    return std::nullopt;
}

maybe_value evaluator::name(const std::string& name, const row_view& row) {
    if (row.content == nullptr) {
        fail(3080, "Ambiguous reference to field '" + name + "'.");
        return std::nullopt;
    }
    if (name == row.alias) {
        return *row.content;
    }
    const json::value* found = row.content->find(name);
    return found == nullptr ? maybe_value{} : maybe_value(*found);
}

maybe_value evaluator::element(const expression& from, const row_view& row) {
    const maybe_value list = value_of(from.operands[0], row);
    const maybe_value at = value_of(from.operands[1], row);
    const json::array* elements = list ? list->as_array() : nullptr;
    const auto number = at ? at->as_double() : std::nullopt;
    const auto index = number ? make_number(*number).as_int64() : std::nullopt;
    if (elements == nullptr || !index) {
        return std::nullopt;
    }
    const auto count = static_cast<std::int64_t>(elements->size());
    const std::int64_t position = *index < 0 ? *index + count : *index;
    return position >= 0 && position < count
               ? maybe_value((*elements)[static_cast<std::size_t>(position)])
               : maybe_value{};
}

maybe_value evaluator::value_of(const expression& from, const row_view& row) {
    switch (from.what) {
        case expression_kind::literal:
            return from.literal;
        case expression_kind::missing:
            return std::nullopt;
        case expression_kind::parameter:
            return parameter(from.text);
        case expression_kind::name:
            return name(from.text, row);
        case expression_kind::member:
            return member_of(value_of(from.operands[0], row), from.text);
        case expression_kind::element:
            return element(from, row);
        case expression_kind::list: {
            json::array elements;
            for (const expression& each : from.operands) {
                elements.push_back(to_value(value_of(each, row)));
            }
            return elements;
        }
        case expression_kind::map: {
            json::object members;
            for (std::size_t i = 0; i < from.operands.size(); ++i) {
                if (maybe_value content = value_of(from.operands[i], row)) {
                    members.set(from.names[i], *std::move(content));
                }
            }
            return members;
        }
        case expression_kind::meta:
            if (row.content == nullptr) {
                fail(4310, "META() in query with multiple FROM terms requires an argument.");
            } else if (!from.text.empty() && from.text != row.alias) {
                fail(3000, "META() of '" + from.text + "', which is not in FROM");
            }
            return row.meta == nullptr ? maybe_value{} : maybe_value(*row.meta);
        case expression_kind::count_all:
            fail(not_in_sandbox_code, not_in_sandbox_text("COUNT(*) inside an expression"));
            return std::nullopt;
        case expression_kind::operation:
            return operation(from, row);
        case expression_kind::is_test: {
            const maybe_value tested = value_of(from.operands[0], row);
            if (from.text == "MISSING") {
                return !tested.has_value();
            }
            if (!tested) {
                return from.text == "VALUED" ? maybe_value(false) : maybe_value{};
            }
            return tested->is_null() == (from.text == "NULL");
        }
    }
    return std::nullopt;
}

maybe_value evaluator::operation(const expression& from, const row_view& row) {
    const maybe_value left = value_of(from.operands[0], row);
    const std::string& sign = from.text;
    if (sign == "NOT") {
        const auto truth = truth_of(left);
        return truth ? maybe_value(!*truth) : left;
    }
    if (sign == "NEGATE") {
        return left ? maybe_value(calculate('-', 0, *left)) : left;
    }
    const maybe_value right = value_of(from.operands[1], row);
    if (sign == "AND" || sign == "OR") {
        const bool decisive = sign == "OR";
        const auto first = truth_of(left);
        const auto second = truth_of(right);
        if (first == decisive || second == decisive) {
            return decisive;
        }
        if (first && second) {
            return !decisive;
        }
        return left && right ? maybe_value(nullptr) : maybe_value{};
    }
    if (!left || !right) {
        return std::nullopt;
    }
    return compare(sign, *left, *right);
}

maybe_value evaluator::compare(
    const std::string& sign, const json::value& a, const json::value& b) {
    if (a.is_null() || b.is_null()) {
        return nullptr;
    }
    if (sign == "||") {
        return a.as_string() && b.as_string()
                   ? json::value(std::string(*a.as_string()) + std::string(*b.as_string()))
                   : json::value();
    }
    if (sign == "LIKE") {
        return a.as_string() && b.as_string()
                   ? json::value(matches_like(*b.as_string(), *a.as_string()))
                   : json::value();
    }
    if (sign == "IN") {
        const json::array* among = b.as_array();
        return among == nullptr ? json::value() : find_among(a, *among);
    }
    if (std::string_view("+-*/%").contains(sign)) {
        return calculate(sign.front(), a, b);
    }
    const int order = collate(a, b);
    if (sign == "=" || sign == "==") {
        return order == 0;
    }
    if (sign == "!=" || sign == "<>") {
        return order != 0;
    }
    return (order < 0 && sign.front() == '<') || (order > 0 && sign.front() == '>') ||
           (order == 0 && sign.ends_with('='));
}

bool evaluator::is_true(const expression& from, const row_view& row) {
    return truth_of(value_of(from, row)).value_or(false);
}

std::uint64_t evaluator::count_of(const expression& from, std::string_view clause) {
    maybe_value given = value_of(from, {});
    if (given) {
        normalize_numbers(*given);
    }
    const auto number = given ? given->as_int64() : std::nullopt;
    if (!number) {
        fail(
            5030, "Invalid " + std::string(clause) + " value " +
                      (given ? json::serialize(*given) : "<nil>"));
        // A constant of the wrong type is found while the statement is planned.
        error_->is_in_execution =
            error_->is_in_execution &&
            (from.what != expression_kind::literal || !given || given->is_null());
    }
    return static_cast<std::uint64_t>(std::max<std::int64_t>(number.value_or(0), 0));
}

json::value evaluator::row_of(const projection& what, const row_view& row) {
    if (what.is_raw) {
        json::value made = to_value(value_of(what.items.front().value, row));
        normalize_numbers(made);
        return made;
    }
    json::object members;
    for (const projection_item& item : what.items) {
        if (item.is_whole) {
            if (row.content != nullptr) {
                members.set(row.alias, *row.content);
            }
        } else if (item.is_star) {
            const maybe_value inner = value_of(item.value, row);
            if (const json::object* spread = inner ? inner->as_object() : nullptr) {
                for (const json::member& each : *spread) {
                    members.set(each.name, each.content);
                }
            }
        } else if (maybe_value content = value_of(item.value, row)) {
            members.set(item.alias, *std::move(content));
        }
    }
    json::value made(std::move(members));
    normalize_numbers(made);
    return made;
}

void evaluator::append_row(std::string& out, const projection& what, const row_view& row) {
    json::serialize_to(out, row_of(what, row));
}

namespace {

// By expression_kind; literals and operations have types of their own.
constexpr std::string_view types[] = {"",      "missing", "json",   "json",   "json", "json",
                                      "array", "object",  "object", "number", "",     "boolean"};

std::string_view type_of(const expression& of) noexcept {
    const json::value& literal = of.literal;
    if (of.what == expression_kind::literal) {
        return literal.is_null()     ? "null"
               : literal.as_bool()   ? "boolean"
               : literal.as_string() ? "string"
                                     : "number";
    }
    if (of.what == expression_kind::operation) {
        const bool is_number = of.text == "NEGATE" || std::string_view("+-*/%").contains(of.text);
        return is_number ? "number" : (of.text == "||" ? "string" : "boolean");
    }
    return types[static_cast<std::size_t>(of.what)];
}

}  // namespace

json::value signature_of(const projection& what) {
    if (what.is_raw) {
        return type_of(what.items.front().value);
    }
    json::object members;
    for (const projection_item& item : what.items) {
        members.set(item.is_star ? "*" : item.alias, item.is_star ? "*" : type_of(item.value));
    }
    return members;
}

}  // namespace reprise::sandbox::detail
