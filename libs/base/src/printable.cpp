#include <reprise/base/printable.hpp>

#include <algorithm>
#include <cstdint>

#include <reprise/base/hex.hpp>

namespace reprise::base {
namespace {

struct code_point {
    std::size_t size = 0;  // in bytes; 0 if the bytes are not UTF-8
    std::uint32_t value = 0;
};

// Returns the first character of a text, which must not be empty.
code_point front_of(std::string_view text) noexcept {
    const auto byte = [&](std::size_t index) {
        return std::uint32_t{static_cast<unsigned char>(text[index])};
    };
    const std::uint32_t first = byte(0);
    if (first < 0x80) {
        return {1, first};
    }
    const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || text.size() < size) {
        return {};
    }
    std::uint32_t value = first & (0xffU >> (size + 1));
    for (std::size_t index = 1; index < size; ++index) {
        if ((byte(index) & 0xc0U) != 0x80) {
            return {};
        }
        value = (value << 6U) | (byte(index) & 0x3fU);
    }
    constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const bool is_surrogate = value >= 0xd800 && value <= 0xdfff;
    return value < least[size] || value > 0x10ffff || is_surrogate ? code_point{}
                                                                   : code_point{size, value};
}

void append_byte(std::string& out, std::string_view prefix, std::uint32_t value) {
    out += prefix;
    append_hex(out, value, 2);
}

struct code_range {
    std::uint32_t first;
    std::uint32_t last;
};

// Characters that are not shown and change how others are: directions, lines, nothing at all. The
// joiners U+200C and U+200D are part of ordinary words.
constexpr code_range hidden_ranges[] = {{0x061c, 0x061c}, {0x180e, 0x180e}, {0x200b, 0x200b},
                                        {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2060, 0x206f},
                                        {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};

bool is_hidden(std::uint32_t value) noexcept {
    return std::ranges::any_of(hidden_ranges, [&](const code_range& range) {
        return value >= range.first && value <= range.last;
    });
}

bool is_control(std::uint32_t value) noexcept {
    return value < 0x20 || (value >= 0x7f && value <= 0x9f);
}

// As in JSON strings: UTF-16, so two escapes above U+FFFF.
void append_unicode(std::string& out, std::uint32_t value) {
    if (value > 0xffff) {
        append_unicode(out, 0xd800 + ((value - 0x10000) >> 10U));
        value = 0xdc00 + ((value - 0x10000) & 0x3ffU);
    }
    out += "\\u";
    append_hex(out, value, 4);
}

void append_escaped(std::string& out, std::uint32_t control) {
    switch (control) {
        case '\n':
            out += "\\n";
            break;
        case '\r':
            out += "\\r";
            break;
        case '\t':
            out += "\\t";
            break;
        default:
            append_byte(out, control < 0x80 ? "\\x" : "\\u00", control);
    }
}

}  // namespace

std::string printable(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const code_point next = front_of(text);
        if (next.size == 0) {
            append_byte(out, "\\x", static_cast<unsigned char>(text.front()));
        } else if (is_control(next.value)) {
            append_escaped(out, next.value);
        } else if (is_hidden(next.value)) {
            append_unicode(out, next.value);
        } else {
            out += text.substr(0, next.size);
        }
        text.remove_prefix(std::max<std::size_t>(next.size, 1));
    }
    return out;
}

std::string printable_page(std::string_view page) {
    std::string out;
    out.reserve(page.size());
    while (!page.empty()) {
        const code_point next = front_of(page);
        if (page.front() == '\n' || page.front() == '\t') {
            out += page.front();
        } else if (page.front() == '\r') {
            out += ' ';
        } else if (next.size == 0) {
            append_unicode(out, 0xfffd);
        } else if (is_control(next.value) || is_hidden(next.value)) {
            append_unicode(out, next.value);
        } else {
            out += page.substr(0, next.size);
        }
        page.remove_prefix(std::max<std::size_t>(next.size, 1));
    }
    return out;
}

std::string shortened(std::string_view text, std::size_t size_max) {
    if (text.size() <= size_max) {
        return std::string(text);
    }
    // A character has at most four bytes. The cut must not be inside one.
    std::size_t end = size_max;
    while (end > 0 && size_max - end < 3 &&
           (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80) {
        --end;
    }
    return std::string(text.substr(0, end)) + "... (" + std::to_string(text.size() - end) +
           " more bytes)";
}

}  // namespace reprise::base
