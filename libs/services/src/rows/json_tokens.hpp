#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

// The grammar of JSON as tables, and a search for tokens 64 bytes at a time. For row_splitter.

namespace reprise::services::detail {

// The kind of token that starts at a byte outside strings.
enum class json_token : std::uint8_t {
    open_object,
    close_object,
    open_array,
    close_array,
    comma,
    colon,
    string,
    scalar,  // a number, a literal, or something invalid
    blank    // white space, which is not a token
};

inline constexpr std::size_t json_token_count = 8;  // without `blank`

constexpr std::array<json_token, 256> make_json_token_table() noexcept {
    std::array<json_token, 256> table{};
    table.fill(json_token::scalar);
    table['{'] = json_token::open_object;
    table['}'] = json_token::close_object;
    table['['] = json_token::open_array;
    table[']'] = json_token::close_array;
    table[','] = json_token::comma;
    table[':'] = json_token::colon;
    table['"'] = json_token::string;
    for (const char blank : {' ', '\t', '\n', '\r'}) {
        table[static_cast<unsigned char>(blank)] = json_token::blank;
    }
    return table;
}

inline constexpr std::array<json_token, 256> json_token_table = make_json_token_table();

constexpr json_token json_token_of(char letter) noexcept {
    return json_token_table[static_cast<unsigned char>(letter)];
}

// The position of a document between two tokens.
enum class json_place : std::uint8_t {
    document,       // before everything
    key_or_end,     // after {
    key,            // after a comma in an object
    colon,          // after a name
    object_value,   // after a colon
    object_next,    // after a member
    first_element,  // after [
    element,        // after a comma in an array
    array_next,     // after an element
    first_row,      // after the [ of the rows
    row,            // after a comma between rows
    row_next,       // after a row
    done            // after the document
};

inline constexpr std::size_t json_place_count = 13;

// The effect of a token: either the next json_place (values below `step_first_action`) or an
// action.
inline constexpr std::uint8_t step_first_action = 16;
inline constexpr std::uint8_t step_open_object = 16;
inline constexpr std::uint8_t step_open_array = 17;
inline constexpr std::uint8_t step_close = 18;
inline constexpr std::uint8_t step_row = 19;        // a row starts
inline constexpr std::uint8_t step_row_comma = 20;  // the comma after a row
inline constexpr std::uint8_t step_rows_end = 21;
inline constexpr std::uint8_t step_wrong = 22;

using json_steps = std::array<std::array<std::uint8_t, json_token_count>, json_place_count>;

constexpr json_steps make_json_steps() noexcept {
    json_steps steps{};
    for (auto& row : steps) {
        row.fill(step_wrong);
    }
    const auto set = [&](json_place from, json_token token, std::uint8_t step) {
        steps[static_cast<std::size_t>(from)][static_cast<std::size_t>(token)] = step;
    };
    const auto lead = [&](json_place from, json_token token, json_place to) {
        set(from, token, static_cast<std::uint8_t>(to));
    };
    const auto value = [&](json_place from, json_place to) {
        set(from, json_token::open_object, step_open_object);
        set(from, json_token::open_array, step_open_array);
        lead(from, json_token::string, to);
        lead(from, json_token::scalar, to);
    };
    set(json_place::document, json_token::open_object, step_open_object);
    lead(json_place::key_or_end, json_token::string, json_place::colon);
    set(json_place::key_or_end, json_token::close_object, step_close);
    lead(json_place::key, json_token::string, json_place::colon);
    lead(json_place::colon, json_token::colon, json_place::object_value);
    value(json_place::object_value, json_place::object_next);
    lead(json_place::object_next, json_token::comma, json_place::key);
    set(json_place::object_next, json_token::close_object, step_close);
    value(json_place::first_element, json_place::array_next);
    set(json_place::first_element, json_token::close_array, step_close);
    value(json_place::element, json_place::array_next);
    lead(json_place::array_next, json_token::comma, json_place::element);
    set(json_place::array_next, json_token::close_array, step_close);
    for (const json_place place : {json_place::first_row, json_place::row}) {
        for (const json_token token :
             {json_token::open_object, json_token::open_array, json_token::string,
              json_token::scalar}) {
            set(place, token, step_row);
        }
    }
    set(json_place::first_row, json_token::close_array, step_rows_end);
    set(json_place::row_next, json_token::comma, step_row_comma);
    set(json_place::row_next, json_token::close_array, step_rows_end);
    return steps;
}

inline constexpr json_steps json_step_table = make_json_steps();

// Numbers and the three literals, as one state machine over bytes. State 0 is before the first
// byte. A byte that cannot follow leads to `scalar_wrong`. The byte that ends a scalar is not part
// of it.
inline constexpr std::uint8_t scalar_wrong = 31;
inline constexpr std::size_t scalar_state_count = 32;

using scalar_steps = std::array<std::array<std::uint8_t, 256>, scalar_state_count>;

namespace scalar {
enum : std::uint8_t { start, minus, zero, whole, point, fraction, exponent, sign, power, word };
}  // namespace scalar

constexpr scalar_steps make_scalar_steps() noexcept {
    scalar_steps steps{};
    for (auto& row : steps) {
        row.fill(scalar_wrong);
    }
    const auto digits = [&](std::uint8_t from, std::uint8_t to, char first = '0') {
        for (char digit = first; digit <= '9'; ++digit) {
            steps[from][static_cast<unsigned char>(digit)] = to;
        }
    };
    steps[scalar::start]['-'] = scalar::minus;
    for (const std::uint8_t from : {scalar::start, scalar::minus}) {
        steps[from]['0'] = scalar::zero;
        digits(from, scalar::whole, '1');
    }
    digits(scalar::whole, scalar::whole);
    digits(scalar::point, scalar::fraction);
    digits(scalar::fraction, scalar::fraction);
    for (const std::uint8_t from : {scalar::zero, scalar::whole}) {
        steps[from]['.'] = scalar::point;
    }
    for (const std::uint8_t from : {scalar::zero, scalar::whole, scalar::fraction}) {
        steps[from]['e'] = scalar::exponent;
        steps[from]['E'] = scalar::exponent;
    }
    steps[scalar::exponent]['+'] = scalar::sign;
    steps[scalar::exponent]['-'] = scalar::sign;
    for (const std::uint8_t from : {scalar::exponent, scalar::sign, scalar::power}) {
        digits(from, scalar::power);
    }
    std::uint8_t next = scalar::word;
    for (const std::string_view word : {"true", "false", "null"}) {
        std::uint8_t from = scalar::start;
        for (const char letter : word) {
            steps[from][static_cast<unsigned char>(letter)] = next;
            from = next++;
        }
    }
    return steps;
}

inline constexpr scalar_steps scalar_step_table = make_scalar_steps();

// Whether a scalar may end here: after 0, a whole number, a fraction, an exponent, or the last
// letter of a literal.
constexpr bool is_scalar_whole(std::uint8_t state) noexcept {
    constexpr std::uint32_t ends =
        1u << scalar::zero | 1u << scalar::whole | 1u << scalar::fraction | 1u << scalar::power |
        1u << (scalar::word + 3) | 1u << (scalar::word + 8) | 1u << (scalar::word + 12);
    return (ends >> state & 1u) != 0;
}

// One bit for each of 64 bytes.
struct json_block {
    std::uint64_t quotes = 0;
    std::uint64_t backslashes = 0;
    std::uint64_t controls = 0;   // below 0x20
    std::uint64_t operators = 0;  // { } [ ] , :
    std::uint64_t blanks = 0;
};

#if defined(__SSE2__)
// Every x86-64 processor has these 16 lanes. The compiler's own vectors need no other header.
inline json_block classify_json_block(const char* bytes) noexcept {
    using lanes = unsigned char __attribute__((vector_size(16)));
    using signs = char __attribute__((vector_size(16)));
    const auto bits = [](auto mask) {
        return static_cast<std::uint64_t>(
            static_cast<std::uint32_t>(__builtin_ia32_pmovmskb128((signs)mask)));
    };
    json_block block;
    for (unsigned part = 0; part < 4; ++part) {
        lanes text;
        std::memcpy(&text, bytes + std::size_t{part} * 16, sizeof text);
        const lanes folded = text | 0x20;  // makes [ and { equal, and ] and }
        const unsigned shift = part * 16;
        block.quotes |= bits(text == '"') << shift;
        block.backslashes |= bits(text == '\\') << shift;
        block.controls |= bits(text < 0x20) << shift;
        block.operators |= bits((folded == '{') | (folded == '}') | (text == ',') | (text == ':'))
                           << shift;
        block.blanks |= bits((text == ' ') | (text == '\n') | (text == '\r') | (text == '\t'))
                        << shift;
    }
    return block;
}
#else
inline json_block classify_json_block(const char* bytes) noexcept {
    json_block block;
    for (unsigned i = 0; i < 64; ++i) {
        const std::uint64_t bit = std::uint64_t{1} << i;
        const json_token token = json_token_of(bytes[i]);
        block.quotes |= token == json_token::string ? bit : 0;
        block.backslashes |= bytes[i] == '\\' ? bit : 0;
        block.controls |= static_cast<unsigned char>(bytes[i]) < 0x20 ? bit : 0;
        block.operators |= token < json_token::string ? bit : 0;
        block.blanks |= token == json_token::blank ? bit : 0;
    }
    return block;
}
#endif

struct json_escapes {
    std::uint64_t escaped = 0;  // bytes after a backslash that is not itself escaped
    std::size_t size = 0;       // the bytes before the first escape that is left unchecked
};

constexpr bool is_short_escape(char letter) noexcept {
    return letter == '"' || letter == '\\' || letter == '/' || letter == 'b' || letter == 'f' ||
           letter == 'n' || letter == 'r' || letter == 't';
}

// Pairs each backslash with its letter. Leaves unchecked `\u`, unknown letters and an escape that
// is incomplete within `size`.
constexpr json_escapes find_escapes(
    std::uint64_t backslashes, const char* bytes, std::size_t size) noexcept {
    json_escapes found{0, size};
    while (backslashes != 0) {
        const auto at = static_cast<std::size_t>(std::countr_zero(backslashes));
        if (at + 1 >= size || !is_short_escape(bytes[at + 1])) {
            found.size = at;
            break;
        }
        const std::uint64_t behind = std::uint64_t{2} << at;
        found.escaped |= behind;
        backslashes &= ~(behind | behind >> 1);
    }
    return found;
}

// Bit i is the parity of bits 0..i: set from each opening quote to just before its closing one.
constexpr std::uint64_t prefix_parity(std::uint64_t bits) noexcept {
    for (const unsigned shift : {1u, 2u, 4u, 8u, 16u, 32u}) {
        bits ^= bits << shift;
    }
    return bits;
}

}  // namespace reprise::services::detail
