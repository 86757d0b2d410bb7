#include "services/views/view_map.hpp"

#include <charconv>
#include <cmath>
#include <utility>

#include <reprise/json/write.hpp>

// Runs map functions.

namespace reprise::sandbox::detail {

namespace {

bool is_text(const maybe_value& of) noexcept {
    return of && of->as_string();
}

bool is_nothing(const maybe_value& of) noexcept {
    return !of || of->is_null();
}

bool is_truthy(const maybe_value& of) noexcept {
    if (is_nothing(of)) {
        return false;
    }
    if (const auto flag = of->as_bool()) {
        return *flag;
    }
    if (const auto number = of->as_double()) {
        return *number != 0;
    }
    const auto text = of->as_string();
    return !text || !text->empty();
}

std::string_view type_of(const maybe_value& of) noexcept {
    if (!of) {
        return "undefined";
    }
    return of->as_bool()     ? "boolean"
           : of->is_number() ? "number"
           : of->as_string() ? "string"
                             : "object";
}

// Converts to a number like JavaScript; empty: NaN.
std::optional<double> number_of(const maybe_value& of) {
    if (!of) {
        return std::nullopt;
    }
    if (const auto number = of->as_double()) {
        return number;
    }
    if (const auto flag = of->as_bool()) {
        return *flag ? 1 : 0;
    }
    if (of->is_null()) {
        return 0;
    }
    const auto text = of->as_string();
    if (!text) {
        return std::nullopt;
    }
    double number = 0;
    const char* end = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), end, number);
    if (text->empty()) {
        return 0;
    }
    return error == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

json::value number_value(double number) {
    constexpr double exact_max = 9007199254740992.0;  // 2^53
    return std::trunc(number) == number && std::abs(number) < exact_max
               ? json::value(static_cast<std::int64_t>(number))
               : json::value(number);
}

bool is_strictly_equal(const maybe_value& left, const maybe_value& right) {
    if (type_of(left) != type_of(right)) {
        return false;
    }
    if (!left) {
        return true;
    }
    // Arrays and objects are equal only to themselves.
    const bool is_simple = left->as_array() == nullptr && left->as_object() == nullptr;
    return is_simple && collate(*left, *right) == 0;
}

bool is_loosely_equal(const maybe_value& left, const maybe_value& right) {
    if (is_nothing(left) || is_nothing(right)) {
        return is_nothing(left) && is_nothing(right);
    }
    if (type_of(left) == type_of(right)) {
        return is_strictly_equal(left, right);
    }
    const auto a = number_of(left);
    const auto b = number_of(right);
    return a && b && *a == *b;
}

// Negative, zero or positive; empty if not comparable, which makes every comparison false.
std::optional<int> order_of(const maybe_value& left, const maybe_value& right) {
    if (is_text(left) && is_text(right)) {
        return collate(*left, *right);
    }
    const auto a = number_of(left);
    const auto b = number_of(right);
    return a && b ? std::optional(*a < *b ? -1 : int{*a > *b}) : std::nullopt;
}

std::string text_of(const maybe_value& of) {
    if (!of) {
        return "undefined";
    }
    return of->as_string() ? std::string(*of->as_string()) : json::serialize(*of);
}

// The length in JavaScript's unit: UTF-16 code units.
std::size_t length_of(std::string_view text) noexcept {
    std::size_t length = 0;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        length += ((byte & 0xc0) == 0x80 ? 0u : 1u) + (byte >= 0xf0 ? 1u : 0u);
    }
    return length;
}

// One call of a map function.
class map_run {
public:
    map_run(const json::value& document, const json::value& meta)
        : document_(document), meta_(meta) {}

    // Returns false after a return or a failure.
    bool run(const std::vector<map_statement>& body) {
        for (const map_statement& each : body) {
            if (!run(each)) {
                return false;
            }
        }
        return true;
    }

    bool has_failed() const noexcept { return has_failed_; }
    std::vector<view_row>& rows() noexcept { return rows_; }

private:
    bool run(const map_statement& step) {
        if (step.what == map_step::leave) {
            return false;
        }
        const maybe_value first = value_of(step.expressions[0]);
        if (step.what == map_step::check) {
            return !has_failed_ && run(is_truthy(first) ? step.then : step.otherwise);
        }
        const maybe_value second = value_of(step.expressions[1]);
        rows_.push_back({{}, first.value_or(nullptr), second.value_or(nullptr)});
        return !has_failed_;
    }

    maybe_value value_of(const map_expression& of) {
        switch (of.what) {
            case map_operation::literal:
                return of.content;
            case map_operation::document:
                return document_;
            case map_operation::meta:
                return meta_;
            case map_operation::member:
                return member(value_of(of.operands[0]), of.text);
            case map_operation::element:
                return element(of);
            case map_operation::list: {
                json::array elements;
                elements.reserve(of.operands.size());
                for (const map_expression& each : of.operands) {
                    elements.push_back(value_of(each).value_or(nullptr));
                }
                return elements;
            }
            case map_operation::map: {
                json::object members;
                for (std::size_t i = 0; i < of.operands.size(); ++i) {
                    if (maybe_value content = value_of(of.operands[i])) {
                        members.set(of.names[i], *std::move(content));
                    }
                }
                return members;
            }
            case map_operation::negate: {
                const auto number = number_of(value_of(of.operands[0]));
                return number ? maybe_value(number_value(-*number)) : maybe_value(nullptr);
            }
            case map_operation::type_name:
                return json::value(type_of(value_of(of.operands[0])));
            case map_operation::is_not:
                return !is_truthy(value_of(of.operands[0]));
            case map_operation::binary:
                return binary(of);
        }
        return std::nullopt;
    }

    maybe_value member(const maybe_value& of, const std::string& name) {
        if (is_nothing(of)) {
            has_failed_ = true;  // a TypeError
            return std::nullopt;
        }
        if (name == "length" && of->as_array() != nullptr) {
            return of->as_array()->size();
        }
        if (name == "length" && of->as_string()) {
            return length_of(*of->as_string());
        }
        const json::value* found = of->find(name);
        return found == nullptr ? maybe_value{} : maybe_value(*found);
    }

    maybe_value element(const map_expression& of) {
        const maybe_value in = value_of(of.operands[0]);
        const maybe_value at = value_of(of.operands[1]);
        const json::array* list = in ? in->as_array() : nullptr;
        const auto index = at ? at->as_uint64() : std::nullopt;
        if (list != nullptr && index) {
            return *index < list->size() ? maybe_value((*list)[*index]) : maybe_value{};
        }
        return member(in, text_of(at));
    }

    maybe_value binary(const map_expression& of) {
        const std::string& sign = of.text;
        maybe_value left = value_of(of.operands[0]);
        if (sign == "&&" || sign == "||") {
            return is_truthy(left) == (sign == "||") ? left : value_of(of.operands[1]);
        }
        const maybe_value right = value_of(of.operands[1]);
        if (sign.starts_with("==") || sign.starts_with("!=")) {
            const bool is_equal =
                sign.size() == 3 ? is_strictly_equal(left, right) : is_loosely_equal(left, right);
            return is_equal == (sign.front() == '=');
        }
        if (sign == "+" && (is_text(left) || is_text(right))) {
            return json::value(text_of(left) + text_of(right));
        }
        if (sign == "+" || sign == "-") {
            const auto a = number_of(left);
            const auto b = number_of(right);
            return a && b ? maybe_value(number_value(sign == "+" ? *a + *b : *a - *b))
                          : maybe_value(nullptr);
        }
        const auto order = order_of(left, right);
        return order &&
               ((*order < 0 && sign.front() == '<') || (*order > 0 && sign.front() == '>') ||
                (*order == 0 && sign.ends_with('=')));
    }

    const json::value& document_;
    const json::value& meta_;
    std::vector<view_row> rows_;
    bool has_failed_ = false;
};

}  // namespace

void map_function::run(
    const std::string& id, const json::value& document, const json::value& meta,
    std::vector<view_row>& out) const {
    map_run call(document, meta);
    call.run(body_);
    if (call.has_failed()) {
        return;
    }
    for (view_row& row : call.rows()) {
        row.id = id;
        out.push_back(std::move(row));
    }
}

}  // namespace reprise::sandbox::detail
