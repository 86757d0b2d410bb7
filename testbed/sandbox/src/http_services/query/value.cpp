#include "http_services/query/value.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace reprise::sandbox::detail {

namespace {

// All numbers have the same rank; false sorts before true.
int type_rank(const json::value& of) noexcept {
    switch (of.what()) {
        case json::kind::null:
            return 0;
        case json::kind::boolean:
            return of.as_bool().value_or(false) ? 2 : 1;
        case json::kind::integer:
        case json::kind::unsigned_integer:
        case json::kind::decimal:
            return 3;
        case json::kind::string:
            return 4;
        case json::kind::list:
            return 5;
        case json::kind::map:
            return 6;
    }
    return 7;
}

template <class T>
int sign_of(const T& left, const T& right) noexcept {
    return left < right ? -1 : (right < left ? 1 : 0);
}

int collate_numbers(const json::value& left, const json::value& right) noexcept {
    const auto a = left.as_int64();
    const auto b = right.as_int64();
    return a && b ? sign_of(*a, *b)
                  : sign_of(left.as_double().value_or(0), right.as_double().value_or(0));
}

int collate_arrays(const json::array& left, const json::array& right) {
    const std::size_t count = std::min(left.size(), right.size());
    for (std::size_t i = 0; i < count; ++i) {
        if (const int sign = collate(left[i], right[i]); sign != 0) {
            return sign;
        }
    }
    return sign_of(left.size(), right.size());
}

// Compares sizes first, then the members in the order of their names.
int collate_objects(const json::object& left, const json::object& right) {
    if (left.size() != right.size()) {
        return sign_of(left.size(), right.size());
    }
    const auto sorted = [](const json::object& from) {
        std::vector<const json::member*> members;
        for (const json::member& each : from) {
            members.push_back(&each);
        }
        std::ranges::sort(
            members, {}, [](const json::member* each) -> const std::string& { return each->name; });
        return members;
    };
    const auto a = sorted(left);
    const auto b = sorted(right);
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (const int sign = sign_of(a[i]->name, b[i]->name); sign != 0) {
            return sign;
        }
        if (const int sign = collate(a[i]->content, b[i]->content); sign != 0) {
            return sign;
        }
    }
    return 0;
}

}  // namespace

int collate(const json::value& left, const json::value& right) {
    const int rank = type_rank(left);
    if (const int other = type_rank(right); rank != other) {
        return rank < other ? -1 : 1;
    }
    switch (rank) {
        case 3:
            return collate_numbers(left, right);
        case 4:
            return sign_of(*left.as_string(), *right.as_string());
        case 5:
            return collate_arrays(*left.as_array(), *right.as_array());
        case 6:
            return collate_objects(*left.as_object(), *right.as_object());
        default:
            return 0;
    }
}

json::value make_number(double number) {
    constexpr double integer_limit = 9223372036854775808.0;  // 2^63
    constexpr double plain_limit = 1e21;                     // larger ones have an exponent
    if (std::trunc(number) != number || std::abs(number) >= plain_limit) {
        return number;
    }
    if (std::abs(number) < integer_limit) {
        return static_cast<std::int64_t>(number);
    }
    // The shortest digits that identify the double ("1.5e+20"), then zeros up to the point.
    std::array<char, 32> buffer{};
    const char* end = std::to_chars(
                          buffer.data(), buffer.data() + buffer.size(), std::abs(number),
                          std::chars_format::scientific)
                          .ptr;
    const char* mark = std::find(std::as_const(buffer).data(), end, 'e');
    std::size_t exponent = 0;
    std::from_chars(mark + 2, end, exponent);
    std::string text(std::as_const(buffer).data(), mark);
    std::erase(text, '.');
    text.resize(exponent + 1, '0');
    return json::real{number, (number < 0 ? "-" : "") + text};
}

void normalize_numbers(json::value& in) {
    if (in.as_real() != nullptr || in.what() == json::kind::unsigned_integer) {
        in = make_number(*in.as_double());
    } else if (json::array* list = in.as_array()) {
        std::ranges::for_each(*list, normalize_numbers);
    } else if (json::object* members = in.as_object()) {
        for (json::member& each : *members) {
            normalize_numbers(each.content);
        }
    }
}

}  // namespace reprise::sandbox::detail
