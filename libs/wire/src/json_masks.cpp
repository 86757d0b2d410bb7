#include "json_masks.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace reprise::wire::detail {

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

#endif

}  // namespace reprise::wire::detail
