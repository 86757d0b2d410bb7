#include "rows/json_masks.hpp"

#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace reprise::services::detail {

void fill_masks_portable(
    const char* bytes, std::size_t first, std::size_t count, json_masks& masks) {
    for (std::size_t block = first; block < first + count; ++block, bytes += json_block_size) {
        const auto fill = [&](block_words& words, auto is_member) {
            words[block] = 0;
            for (unsigned i = 0; i < json_block_size; ++i) {
                words[block] |= std::uint64_t{is_member(bytes[i])} << i;
            }
        };
        fill(masks.quotes, [](char letter) { return letter == '"'; });
        fill(masks.backslashes, [](char letter) { return letter == '\\'; });
        fill(masks.commas, [](char letter) { return letter == ','; });
        fill(masks.colons, [](char letter) { return letter == ':'; });
        fill(masks.opens, [](char letter) { return letter == '{' || letter == '['; });
        fill(masks.closes, [](char letter) { return letter == '}' || letter == ']'; });
        fill(masks.blanks, [](char letter) { return letter == ' ' || letter == '\n'; });
        fill(masks.controls, [](char letter) { return static_cast<unsigned char>(letter) < 0x20; });
        fill(masks.digits, [](char letter) { return letter >= '0' && letter <= '9'; });
        fill(masks.zeros, [](char letter) { return letter == '0'; });
    }
}

#if defined(__x86_64__)

// Bit 5 apart, [ is { and ] is }.

void fill_masks_sse2(const char* bytes, std::size_t first, std::size_t count, json_masks& masks) {
    const auto all = [](char letter) { return _mm_set1_epi8(letter); };
    for (std::size_t block = first; block < first + count; ++block, bytes += json_block_size) {
        const auto fill = [&](block_words& words, auto lanes_of) {
            std::uint64_t word = 0;
            for (unsigned shift = 0; shift < 64; shift += 16) {
                const __m128i lanes =
                    lanes_of(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + shift)));
                const auto bits = static_cast<std::uint32_t>(_mm_movemask_epi8(lanes));
                word |= std::uint64_t{bits} << shift;
            }
            words[block] = word;
        };
        const auto equal = [&](char letter) {
            return [=](__m128i text) { return _mm_cmpeq_epi8(text, all(letter)); };
        };
        const auto equal_folded = [&](char letter) {
            return [=](__m128i text) {
                return _mm_cmpeq_epi8(_mm_or_si128(text, all(0x20)), all(letter));
            };
        };
        fill(masks.quotes, equal('"'));
        fill(masks.backslashes, equal('\\'));
        fill(masks.commas, equal(','));
        fill(masks.colons, equal(':'));
        fill(masks.opens, equal_folded('{'));
        fill(masks.closes, equal_folded('}'));
        fill(masks.blanks, [=](__m128i text) {
            return _mm_or_si128(_mm_cmpeq_epi8(text, all(' ')), _mm_cmpeq_epi8(text, all('\n')));
        });
        fill(masks.controls, [=](__m128i text) {
            return _mm_cmpeq_epi8(_mm_min_epu8(text, all(0x1f)), text);
        });
        fill(masks.digits, [=](__m128i text) {
            const __m128i digit = _mm_sub_epi8(text, all('0'));
            return _mm_cmpeq_epi8(_mm_min_epu8(digit, all(9)), digit);
        });
        fill(masks.zeros, equal('0'));
    }
}

// Macros below: a lambda would not be compiled for the processor of its function.

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

__attribute__((target("avx512f,avx512bw"))) void fill_masks_avx512(
    const char* bytes, std::size_t first, std::size_t count, json_masks& masks) {
    for (std::size_t block = first; block < first + count; ++block, bytes += json_block_size) {
        const __m512i text = _mm512_loadu_si512(bytes);
        const __m512i folded = text | _mm512_set1_epi8(0x20);
        const __m512i digit = _mm512_sub_epi8(text, _mm512_set1_epi8('0'));
#define REPRISE_EQUAL(lanes, letter) _mm512_cmpeq_epi8_mask(lanes, _mm512_set1_epi8(letter))
        masks.quotes[block] = REPRISE_EQUAL(text, '"');
        masks.backslashes[block] = REPRISE_EQUAL(text, '\\');
        masks.commas[block] = REPRISE_EQUAL(text, ',');
        masks.colons[block] = REPRISE_EQUAL(text, ':');
        masks.opens[block] = REPRISE_EQUAL(folded, '{');
        masks.closes[block] = REPRISE_EQUAL(folded, '}');
        masks.blanks[block] = REPRISE_EQUAL(text, ' ') | REPRISE_EQUAL(text, '\n');
        masks.controls[block] = _mm512_cmplt_epu8_mask(text, _mm512_set1_epi8(0x20));
        masks.digits[block] = _mm512_cmplt_epu8_mask(digit, _mm512_set1_epi8(10));
        masks.zeros[block] = REPRISE_EQUAL(text, '0');
#undef REPRISE_EQUAL
    }
}

// With VBMI, one lookup tells the kind of 64 bytes, as a number of four bits. Taking out four bits
// costs less than ten comparisons; the masks are made of them, for eight blocks at once.

namespace {

// Bit 3 tells line feeds, controls and digits; bit 1 tells digits from the others of these.
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

consteval std::array<std::uint8_t, 128> make_kinds() {
    std::array<std::uint8_t, 128> kinds{};
    for (std::size_t letter = 0; letter < 0x20; ++letter) {
        kinds[letter] = kind_control;
    }
    for (std::size_t letter = '1'; letter <= '9'; ++letter) {
        kinds[letter] = kind_digit;
    }
    kinds['0'] = kind_zero;
    kinds['\n'] = kind_line_feed;
    kinds[' '] = kind_space;
    kinds['"'] = kind_quote;
    kinds['\\'] = kind_backslash;
    kinds[','] = kind_comma;
    kinds[':'] = kind_colon;
    kinds['{'] = kinds['['] = kind_open;
    kinds['}'] = kinds[']'] = kind_close;
    return kinds;
}

alignas(64) constexpr std::array<std::uint8_t, 128> kind_table = make_kinds();

struct kind_planes {
    block_words bit0;
    block_words bit1;
    block_words bit2;
    block_words bit3;
};

using eight_words = std::uint64_t __attribute__((vector_size(64)));

// For one word or eight. Always inline: compiled for the processor of its caller.
template <class Words>
__attribute__((always_inline)) inline void make_masks(
    const kind_planes& planes, std::size_t from, json_masks& masks, std::size_t to) noexcept {
    Words bit0, bit1, bit2, bit3;
    std::memcpy(&bit0, &planes.bit0[from], sizeof bit0);
    std::memcpy(&bit1, &planes.bit1[from], sizeof bit1);
    std::memcpy(&bit2, &planes.bit2[from], sizeof bit2);
    std::memcpy(&bit3, &planes.bit3[from], sizeof bit3);
#define REPRISE_PUT(mask, ...)                              \
    do {                                                    \
        const Words words = (__VA_ARGS__);                  \
        std::memcpy(&masks.mask[to], &words, sizeof words); \
    } while (false)
    REPRISE_PUT(quotes, bit0 & ~bit1 & ~bit2 & ~bit3);
    REPRISE_PUT(backslashes, ~bit0 & bit1 & ~bit2 & ~bit3);
    REPRISE_PUT(commas, bit0 & bit1 & ~bit2 & ~bit3);
    REPRISE_PUT(colons, ~bit0 & ~bit1 & bit2 & ~bit3);
    REPRISE_PUT(opens, bit0 & ~bit1 & bit2 & ~bit3);
    REPRISE_PUT(closes, ~bit0 & bit1 & bit2 & ~bit3);
    REPRISE_PUT(blanks, (bit0 & bit1 & bit2) | (bit3 & ~bit1 & ~bit0));
    REPRISE_PUT(controls, bit3 & ~bit1);
    REPRISE_PUT(digits, bit3 & bit1);
    REPRISE_PUT(zeros, bit3 & bit1 & bit0);
#undef REPRISE_PUT
}

}  // namespace

__attribute__((target("avx512f,avx512bw,avx512vbmi"))) void fill_masks_avx512_vbmi(
    const char* bytes, std::size_t first, std::size_t count, json_masks& masks) {
    const __m512i low_kinds = _mm512_load_si512(kind_table.data());
    const __m512i high_kinds = _mm512_load_si512(kind_table.data() + 64);
    kind_planes planes;
    for (std::size_t i = 0; i < count; ++i, bytes += json_block_size) {
        const __m512i text = _mm512_loadu_si512(bytes);
        // The lookup ignores bit 7. Bytes that have it are of kind 0.
        const __mmask64 ascii = _mm512_testn_epi8_mask(text, _mm512_set1_epi8(-0x80));
        const __m512i kind = _mm512_maskz_permutex2var_epi8(ascii, low_kinds, text, high_kinds);
        planes.bit0[i] = _mm512_test_epi8_mask(kind, _mm512_set1_epi8(1));
        planes.bit1[i] = _mm512_test_epi8_mask(kind, _mm512_set1_epi8(2));
        planes.bit2[i] = _mm512_test_epi8_mask(kind, _mm512_set1_epi8(4));
        planes.bit3[i] = _mm512_test_epi8_mask(kind, _mm512_set1_epi8(8));
    }
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        make_masks<eight_words>(planes, i, masks, first + i);
    }
    for (; i < count; ++i) {
        make_masks<std::uint64_t>(planes, i, masks, first + i);
    }
}

#endif

}  // namespace reprise::services::detail
