#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "rows/json_masks.hpp"

// Operations on the bits of four words together. Only for row_run_group.cpp, which undefines the
// macros at its end.

// Compiled once for each kind of processor, so it must never be a function of its own.
#define REPRISE_INLINE __attribute__((always_inline)) inline
// Returns for each word of a vector the word before it; for the first word, the last of `before`.
#define REPRISE_BEFORE(before, words) __builtin_shufflevector(before, words, 3, 4, 5, 6)

namespace reprise::services::detail {

// The compiler uses what the processor has: one 256-bit register, or several smaller ones. It
// handles vectors larger than a register badly. Never pass one by value, because the calling
// convention depends on the processor.
using word_vector = std::uint64_t __attribute__((vector_size(32)));
constexpr std::size_t vector_size = json_vector_size;
static_assert(sizeof(word_vector) == vector_size * sizeof(std::uint64_t));

REPRISE_INLINE void load(word_vector& to, const std::uint64_t* from) noexcept {
    std::memcpy(&to, from, sizeof to);
}
REPRISE_INLINE void store(std::uint64_t* to, const word_vector& from) noexcept {
    std::memcpy(to, &from, sizeof from);
}
REPRISE_INLINE std::uint64_t any_of(const word_vector& words) noexcept {
    return words[0] | words[1] | words[2] | words[3];
}

// Bit i becomes the parity of bits 0..i.
template <class Words>
REPRISE_INLINE void make_parity(Words& bits) noexcept {
    bits ^= bits << 1;
    bits ^= bits << 2;
    bits ^= bits << 4;
    bits ^= bits << 8;
    bits ^= bits << 16;
    bits ^= bits << 32;
}

// Turns the parity within each word into the parity over all of them. `carry` and the result have
// all bits set or none.
REPRISE_INLINE std::uint64_t link(
    block_words& words, std::size_t words_end, std::uint64_t carry) noexcept {
    word_vector numbers = {0, 1, 2, 3};
    word_vector odd = {};  // words with odd parity, one bit each
    for (std::size_t i = 0; i < words_end; i += vector_size) {
        word_vector word;
        load(word, &words[i]);
        odd |= word >> 63 << (numbers + i);
    }
    std::uint64_t parity = any_of(odd);
    make_parity(parity);
    parity ^= carry;
    const std::uint64_t before = parity << 1 | (carry & 1);
    for (std::size_t i = 0; i < words_end; i += vector_size) {
        word_vector word;
        load(word, &words[i]);
        word ^= 0 - ((before >> (numbers + i)) & 1);
        store(&words[i], word);
    }
    return std::uint64_t{0} - (parity >> ((words_end - 1) % 64) & 1);
}

}  // namespace reprise::services::detail
