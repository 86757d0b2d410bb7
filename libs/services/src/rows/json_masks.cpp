#include "rows/json_masks.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace reprise::services::detail {

namespace {

// The kind of a byte in four bits. Bit 3 marks line feeds, control characters and digits; bit 1
// separates digits from the other two.
enum byte_kind : std::uint8_t {
    kind_other = 0,
    kind_quote = 1,
    kind_backslash = 2,
    kind_comma = 3,
    kind_colon = 4,
    kind_open = 5,
    kind_close = 6,
    kind_space = 7,
    kind_line_feed = 8,
    kind_control = 9,
    kind_digit = 10,
    kind_zero = 11
};

consteval std::array<std::uint8_t, 256> make_kinds() {
    std::array<std::uint8_t, 256> table{};
    for (std::size_t letter = 0; letter < 0x20; ++letter) {
        table[letter] = kind_control;
    }
    for (std::size_t letter = '1'; letter <= '9'; ++letter) {
        table[letter] = kind_digit;
    }
    table['0'] = kind_zero;
    table['\n'] = kind_line_feed;
    table[' '] = kind_space;
    table['"'] = kind_quote;
    table['\\'] = kind_backslash;
    table[','] = kind_comma;
    table[':'] = kind_colon;
    table['{'] = table['['] = kind_open;
    table['}'] = table[']'] = kind_close;
    return table;
}

constexpr std::array<std::uint8_t, 256> kind_of_byte = make_kinds();

// Returns the kinds of eight bytes, with the first in the lowest byte.
std::uint64_t kinds_of(const char* bytes) noexcept {
    std::uint64_t kinds = 0;
    for (unsigned i = 0; i < 8; ++i) {
        kinds |= std::uint64_t{kind_of_byte[static_cast<unsigned char>(bytes[i])]} << (8 * i);
    }
    return kinds;
}

// Collects one bit of each of eight kinds: the product moves the lowest bit of byte i to bit 56 +
// i, and no two of them collide.
std::uint64_t gather(std::uint64_t kinds, unsigned bit) noexcept {
    return ((kinds >> bit) & 0x0101010101010101u) * 0x0102040810204080u >> 56;
}

}  // namespace

void fill_masks_portable(
    const char* bytes, std::size_t first, std::size_t count, json_masks& masks) {
    for (std::size_t block = first; block < first + count; ++block, bytes += json_block_size) {
        std::array<std::uint64_t, 4> bits{};  // one word for each bit of the kinds
        for (unsigned shift = 0; shift < json_block_size; shift += 8) {
            const std::uint64_t kinds = kinds_of(bytes + shift);
            for (unsigned bit = 0; bit < bits.size(); ++bit) {
                bits[bit] |= gather(kinds, bit) << shift;
            }
        }
        const auto [bit0, bit1, bit2, bit3] = bits;
        masks.quotes[block] = bit0 & ~bit1 & ~bit2 & ~bit3;
        masks.backslashes[block] = ~bit0 & bit1 & ~bit2 & ~bit3;
        masks.commas[block] = bit0 & bit1 & ~bit2 & ~bit3;
        masks.colons[block] = ~bit0 & ~bit1 & bit2 & ~bit3;
        masks.opens[block] = bit0 & ~bit1 & bit2 & ~bit3;
        masks.closes[block] = ~bit0 & bit1 & bit2 & ~bit3;
        masks.blanks[block] = (bit0 & bit1 & bit2) | (bit3 & ~bit1 & ~bit0);
        masks.controls[block] = bit3 & ~bit1;
        masks.digits[block] = bit3 & bit1;
        masks.zeros[block] = bit3 & bit1 & bit0;
    }
}

#if defined(__x86_64__)

// Bit 5 is the difference between [ and {, and between ] and }. These are macros because a lambda
// would not be compiled for the processor of its function.

__attribute__((target("avx2"))) void fill_masks_avx2(
    const char* bytes, std::size_t first, std::size_t count, json_masks& masks) {
    for (std::size_t block = first; block < first + count; ++block, bytes += json_block_size) {
        const auto* const halves = reinterpret_cast<const __m256i*>(bytes);
        const __m256i low = _mm256_loadu_si256(halves);
        const __m256i high = _mm256_loadu_si256(halves + 1);
        const __m256i fold = _mm256_set1_epi8(0x20);
        const __m256i zero = _mm256_set1_epi8('0');
#define REPRISE_EQUAL(text, letter) _mm256_cmpeq_epi8(text, _mm256_set1_epi8(letter))
#define REPRISE_UP_TO(text, last) \
    _mm256_cmpeq_epi8(_mm256_min_epu8(text, _mm256_set1_epi8(last)), text)
#define REPRISE_BITS(lanes)                                     \
    std::uint64_t {                                             \
        static_cast<std::uint32_t>(_mm256_movemask_epi8(lanes)) \
    }
#define REPRISE_BOTH(lanes, a, b, letter) \
    (REPRISE_BITS(lanes(a, letter)) | REPRISE_BITS(lanes(b, letter)) << 32)
        masks.quotes[block] = REPRISE_BOTH(REPRISE_EQUAL, low, high, '"');
        masks.backslashes[block] = REPRISE_BOTH(REPRISE_EQUAL, low, high, '\\');
        masks.commas[block] = REPRISE_BOTH(REPRISE_EQUAL, low, high, ',');
        masks.colons[block] = REPRISE_BOTH(REPRISE_EQUAL, low, high, ':');
        masks.opens[block] = REPRISE_BOTH(REPRISE_EQUAL, (low | fold), (high | fold), '{');
        masks.closes[block] = REPRISE_BOTH(REPRISE_EQUAL, (low | fold), (high | fold), '}');
        masks.blanks[block] = REPRISE_BITS(REPRISE_EQUAL(low, ' ') | REPRISE_EQUAL(low, '\n')) |
                              REPRISE_BITS(REPRISE_EQUAL(high, ' ') | REPRISE_EQUAL(high, '\n'))
                                  << 32;
        masks.controls[block] = REPRISE_BOTH(REPRISE_UP_TO, low, high, 0x1f);
        masks.digits[block] =
            REPRISE_BOTH(REPRISE_UP_TO, _mm256_sub_epi8(low, zero), _mm256_sub_epi8(high, zero), 9);
        masks.zeros[block] = REPRISE_BOTH(REPRISE_EQUAL, low, high, '0');
#undef REPRISE_EQUAL
#undef REPRISE_UP_TO
#undef REPRISE_BITS
#undef REPRISE_BOTH
    }
}

#endif

}  // namespace reprise::services::detail
