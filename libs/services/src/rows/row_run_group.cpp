// Processes many blocks at once: bit operations work on four words together as one vector. `link`
// computes for all words what passes from word to word, such as being inside a string.

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "rows/json_tokens.hpp"
#include "rows/row_run.hpp"
#include "rows/row_run_words.hpp"

namespace reprise::services::detail {

namespace {

constexpr std::size_t rows_depth = 2;
constexpr std::uint64_t last_bit = std::uint64_t{1} << 63;

// Offsets of set bits in ascending order. Writes the usual number of bits per block without a
// branch.
class bit_list {
public:
    template <unsigned usual_count>
    REPRISE_INLINE void append(std::uint64_t bits, std::size_t block) noexcept {
        const auto base = static_cast<unsigned>(block * json_block_size);
        for (unsigned i = 0; i < usual_count; ++i) {
            const auto bit = static_cast<unsigned>(std::countr_zero(bits | last_bit));
            offsets_[size_] = static_cast<std::uint16_t>(base + bit);
            size_ += bits != 0 ? 1 : 0;
            bits &= bits - 1;
        }
        while (bits != 0) [[unlikely]] {
            const auto bit = static_cast<unsigned>(std::countr_zero(bits));
            offsets_[size_++] = static_cast<std::uint16_t>(base + bit);
            bits &= bits - 1;
        }
    }
    const std::uint16_t* begin() const noexcept { return offsets_.data(); }
    const std::uint16_t* end() const noexcept { return offsets_.data() + size_; }

private:
    std::size_t size_ = 0;
    std::array<std::uint16_t, json_group_size * json_block_size + 8> offsets_;
};

struct group_tokens {
    block_words commas;
    block_words colons;
    block_words opens;
    block_words closes;
    block_words atoms;    // first bytes of strings, numbers and literals
    block_words starts;   // first bytes of numbers and literals
    block_words closing;  // closing quotes
    block_words scalars;  // all bytes of numbers and literals
    block_words over;     // 1: spaces after a value continue in the next block
    block_words unsure_bits;
    bool has_unsure = false;
    bit_list brackets;
    bit_list unsure;  // bytes of numbers and literals that need a check
};

// Removes escaped quotes. Returns the first block with an unusual escape.
std::size_t unescape_quotes(json_masks& masks, const row_run_group& group) noexcept {
    for (std::size_t i = 0; i < group.count; ++i) {
        const char* const at = group.at + i * json_block_size;
        const auto size = std::min(static_cast<std::size_t>(group.end - at), json_block_size);
        const json_escapes escapes = find_escapes(masks.backslashes[i], at, size);
        masks.quotes[i] &= ~escapes.escaped;
        if (escapes.size < size) {
            return i;
        }
    }
    return group.count;
}

REPRISE_INLINE std::size_t first_of(const block_words& words, std::size_t count) noexcept {
    std::size_t block = 0;
    while (block < count && words[block] == 0) {
        ++block;
    }
    return block;
}

REPRISE_INLINE void list_tokens(const row_run_group& group, group_tokens& found) noexcept {
    for (std::size_t i = 0; i < group.count; ++i) {
        found.brackets.append<2>(found.opens[i] | found.closes[i], i);
    }
    for (std::size_t i = 0; i < group.count && found.has_unsure; ++i) {
        found.unsure.append<1>(found.unsure_bits[i], i);
    }
    // Adds a number that may continue after the group.
    const std::size_t last = group.count - 1;
    const auto size = static_cast<std::size_t>(group.end - group.at) - last * json_block_size;
    const std::uint64_t end_bit = last_bit >> (json_block_size - std::min(size, json_block_size));
    found.unsure.append<1>(found.scalars[last] & end_bit, last);
}

// State left by the previous words. Only the last word of these vectors counts.
struct words_before {
    word_vector closing;
    word_vector ends;
    word_vector scalars;
    word_vector over;
};

// Finds the tokens of the words from `i`, and where they are not allowed.
REPRISE_INLINE void find_in_words(
    const json_masks& masks, const block_words& string_words, std::size_t i, words_before& before,
    group_tokens& found, word_vector& wrong) noexcept {
    word_vector strings, quotes, commas, colons, opens, closes, blanks, controls;
    load(strings, &string_words[i]);
    load(quotes, &masks.quotes[i]);
    load(commas, &masks.commas[i]);
    load(colons, &masks.colons[i]);
    load(opens, &masks.opens[i]);
    load(closes, &masks.closes[i]);
    load(blanks, &masks.blanks[i]);
    load(controls, &masks.controls[i]);
    wrong = controls & (strings | ~blanks);
    const word_vector closing = quotes & ~strings;
    commas &= ~strings;
    colons &= ~strings;
    opens &= ~strings;
    closes &= ~strings;
    blanks &= ~strings;
    const word_vector ends = closing | closes;  // ends of strings and containers
    const word_vector scalars = ~(strings | commas | colons | opens | ends | blanks);
    const word_vector inside = scalars << 1 | REPRISE_BEFORE(before.scalars, scalars) >> 63;
    const word_vector starts = scalars & ~inside;
    const word_vector atoms = (quotes & strings) | starts;
    // The byte after each value, or after the spaces that follow it: adding to a run of spaces
    // carries to its end. A run that reaches the next block continues there, but no further.
    word_vector behind = ends << 1 | REPRISE_BEFORE(before.ends, ends) >> 63 | (inside & ~scalars);
    const word_vector over = (word_vector)((behind & blanks) + blanks < blanks) & 1;
    const word_vector over_into = REPRISE_BEFORE(before.over, over);
    wrong |= over_into & (word_vector)(blanks == ~std::uint64_t{0});
    behind |= over_into;
    const word_vector follow = (((behind & blanks) + blanks) | behind) & ~blanks;
    wrong |= ((atoms | opens) & follow) | ((commas | colons | closes) & ~follow) |
             (colons & ~(closing << 1 | REPRISE_BEFORE(before.closing, closing) >> 63));
    store(&found.commas[i], commas);
    store(&found.colons[i], colons);
    store(&found.opens[i], opens);
    store(&found.closes[i], closes);
    store(&found.starts[i], starts);
    store(&found.atoms[i], atoms);
    store(&found.closing[i], closing);
    store(&found.scalars[i], scalars);
    store(&found.over[i], over);
    before.closing = closing;
    before.ends = ends;
    before.scalars = scalars;
    before.over = over;
}

// Whole numbers are valid unless they start with a zero. Everything else needs a check.
REPRISE_INLINE void find_unsure(
    const json_masks& masks, std::size_t i, const group_tokens& found,
    word_vector& unsure) noexcept {
    word_vector scalars, starts, digits, zeros;
    load(scalars, &found.scalars[i]);
    load(starts, &found.starts[i]);
    load(digits, &masks.digits[i]);
    load(zeros, &masks.zeros[i]);
    zeros &= starts;
    const word_vector others = scalars & ~digits;
    unsure = (others & ~(others << 1)) | (zeros << 1 & scalars) | (zeros & last_bit);
}

// Each of the following functions returns the first block that it does not accept, or the number of
// blocks.

// Finds strings and spaces, and checks which tokens are adjacent.
REPRISE_INLINE std::size_t find_tokens(
    json_masks& masks, const row_run_group& group, row_run_carry& carry,
    group_tokens& found) noexcept {
    const std::size_t words_end = row_run_group::words_of(group.count);
    word_vector backslashes = {};
    for (std::size_t i = 0; i < words_end; i += vector_size) {
        word_vector words;
        load(words, &masks.backslashes[i]);
        backslashes |= words;
    }
    if (any_of(backslashes) != 0) [[unlikely]] {
        if (const std::size_t taken = unescape_quotes(masks, group); taken < group.count) {
            return taken;
        }
    }
    block_words string_words;  // without their closing quotes
    for (std::size_t i = 0; i < words_end; i += vector_size) {
        word_vector words;
        load(words, &masks.quotes[i]);
        make_parity(words);
        store(&string_words[i], words);
    }
    carry.in_string = link(string_words, words_end, carry.in_string);

    words_before before{
        {0, 0, 0, carry.after_quote << 63},
        {0, 0, 0, carry.after_value << 63},
        {0, 0, 0, carry.in_scalar << 63},
        {}};
    word_vector any_wrong = {};
    word_vector any_unsure = {};
    block_words wrong_words;
    for (std::size_t i = 0; i < words_end; i += vector_size) {
        word_vector wrong, unsure;
        find_in_words(masks, string_words, i, before, found, wrong);
        find_unsure(masks, i, found, unsure);
        any_wrong |= wrong;
        any_unsure |= unsure;
        store(&wrong_words[i], wrong);
        store(&found.unsure_bits[i], unsure);
    }
    if (any_of(any_wrong) != 0) {
        if (const std::size_t taken = first_of(wrong_words, group.count); taken < group.count) {
            return taken;
        }
    }
    found.has_unsure = any_of(any_unsure) != 0;
    list_tokens(group, found);
    const std::size_t last = group.count - 1;
    carry.after_quote = found.closing[last] >> 63;
    carry.after_value = (found.closing[last] | found.closes[last]) >> 63 | found.over[last];
    carry.in_scalar = found.scalars[last] >> 63;
    return group.count;
}

// Reads a number or literal. Returns null if it is neither, or if it reaches `end`.
const char* skip_scalar(const char* at, const char* end) noexcept {
    std::uint8_t state = 0;
    for (; at != end; ++at) {
        const std::uint8_t step = scalar_step_table[state][static_cast<unsigned char>(*at)];
        if (step == scalar_wrong) {
            const bool is_right =
                is_scalar_whole(state) && json_token_of(*at) != json_token::scalar;
            return is_right ? at : nullptr;
        }
        state = step;
    }
    return nullptr;
}

// The same for literals only, without a branch for each letter.
REPRISE_INLINE const char* skip_word(const char* at, const char* end) noexcept {
    if (end - at < 6) {
        return nullptr;
    }
    const auto is = [&](const char* letters) { return std::memcmp(at, letters, 4) == 0; };
    const std::ptrdiff_t size = is("true") || is("null") ? 4 : is("fals") && at[4] == 'e' ? 5 : 0;
    return size != 0 && json_token_of(at[size]) != json_token::scalar ? at + size : nullptr;
}

// `checked_end` is the end of the last number or literal that was checked before the group.
REPRISE_INLINE std::size_t check_scalars(
    const group_tokens& found, const row_run_group& group, const char* checked_end,
    row_run_carry& carry) noexcept {
    for (const std::uint16_t offset : found.unsure) {
        if (group.at + offset < checked_end) {
            continue;
        }
        std::size_t block = offset / json_block_size;
        std::uint64_t starts =
            found.starts[block] & ~(~std::uint64_t{1} << offset % json_block_size);
        while (starts == 0) {
            if (block == 0) {
                return 0;
            }
            starts = found.starts[--block];
        }
        const char* const begin = group.at + block * json_block_size +
                                  static_cast<std::size_t>(std::bit_width(starts)) - 1;
        checked_end = skip_word(begin, group.end);
        if (checked_end == nullptr) {
            checked_end = skip_scalar(begin, group.end);
        }
        if (checked_end == nullptr) {
            return block;
        }
    }
    carry.scalar_end = checked_end;
    return group.count;
}

// The containers around the bytes of each block.
struct group_places {
    block_words in_array;      // also set between rows
    block_words between_rows;  // used only if rows contain arrays; otherwise it equals in_array
    block_words object_opens;
    bool has_arrays;
};

// The usual case: every row is an object without inner containers. Returns false and changes
// nothing otherwise.
REPRISE_INLINE bool match_flat(
    const group_tokens& found, const row_run_group& group, row_run_carry& carry,
    group_places& places) noexcept {
    const std::size_t words_end = row_run_group::words_of(group.count);
    const row_nesting& nesting = carry.nesting;
    const bool is_inside = nesting.depth == rows_depth + 1;
    if (nesting.depth > rows_depth + 1 || group.depth_max <= rows_depth ||
        (is_inside && carry.in_array != 0)) {
        return false;
    }
    block_words inside;
    for (std::size_t i = 0; i < words_end; i += vector_size) {
        word_vector opens, closes;
        load(opens, &found.opens[i]);
        load(closes, &found.closes[i]);
        opens |= closes;
        make_parity(opens);
        store(&inside[i], opens);
    }
    const std::uint64_t last = link(inside, words_end, is_inside ? ~std::uint64_t{0} : 0);
    word_vector wrong = {};
    for (std::size_t i = 0; i < words_end; i += vector_size) {
        word_vector opens, closes, within;
        load(opens, &found.opens[i]);
        load(closes, &found.closes[i]);
        load(within, &inside[i]);
        wrong |= (opens & ~within) | (closes & within);
        store(&places.in_array[i], ~within);
        store(&places.object_opens[i], opens);
    }
    if (any_of(wrong) != 0) {
        return false;
    }
    // Brackets alternate between opening and closing.
    const std::uint16_t* offset = found.brackets.begin();
    const std::uint16_t* const end = found.brackets.end();
    std::string_view* rows = group.rows + carry.row_count;
    const char* row_begin = nesting.row_begin;
    unsigned kinds = 0x20;  // 0x20 if all are brackets of objects
    if (is_inside && offset != end) {
        const char* const bracket = group.at + *offset++;
        kinds &= static_cast<unsigned>(*bracket);
        *rows++ = std::string_view(row_begin, bracket + 1);
    }
    for (; end - offset >= 2; offset += 2) {
        row_begin = group.at + offset[0];
        const char* const bracket = group.at + offset[1];
        kinds &= static_cast<unsigned>(*row_begin & *bracket);
        *rows++ = std::string_view(row_begin, bracket + 1);
    }
    if (offset != end) {
        row_begin = group.at + *offset;
        kinds &= static_cast<unsigned>(*row_begin);
    }
    if (kinds == 0) {
        return false;
    }
    places.has_arrays = false;
    carry.nesting.depth = rows_depth + (last & 1);
    carry.nesting.object_bits |= std::uint64_t{1} << rows_depth;
    carry.nesting.row_begin = row_begin;
    carry.row_count = static_cast<std::size_t>(rows - group.rows);
    carry.in_array = ~last;
    carry.between_rows = ~last;
    return true;
}

// All other cases. A bracket changes the container of the bytes after it.
REPRISE_INLINE std::size_t match_nested(
    const group_tokens& found, const row_run_group& group, row_run_carry& carry,
    group_places& places) noexcept {
    const std::size_t words_end = row_run_group::words_of(group.count);
    std::fill_n(places.in_array.begin(), words_end, 0);
    std::fill_n(places.between_rows.begin(), words_end, 0);
    std::fill_n(places.object_opens.begin(), words_end, 0);
    row_nesting nesting = carry.nesting;
    std::string_view* rows = group.rows + carry.row_count;
    bool is_array = carry.in_array != 0;
    for (const std::uint16_t offset : found.brackets) {
        const std::size_t block = offset / json_block_size;
        const std::uint64_t bit = std::uint64_t{1} << offset % json_block_size;
        const char* const bracket = group.at + offset;
        const bool is_object = (*bracket & 0x20) != 0;
        const bool was_array = is_array;
        if ((*bracket & 0x02) != 0) {  // opening
            if (nesting.depth >= group.depth_max) {
                return block;
            }
            if (nesting.depth == rows_depth) {
                nesting.row_begin = bracket;
                places.between_rows[block] |= bit;
            }
            const std::uint64_t level = std::uint64_t{1} << nesting.depth++;
            nesting.object_bits =
                is_object ? nesting.object_bits | level : nesting.object_bits & ~level;
            places.object_opens[block] |= is_object ? bit : 0;
            is_array = !is_object;
        } else {
            if (nesting.depth == rows_depth || was_array == is_object) {
                return block;
            }
            if (--nesting.depth == rows_depth) {
                *rows++ = std::string_view(nesting.row_begin, bracket + 1);
                places.between_rows[block] |= bit;
                is_array = true;
            } else {
                is_array = (nesting.object_bits >> (nesting.depth - 1) & 1) == 0;
            }
        }
        places.in_array[block] |= was_array != is_array ? bit : 0;
    }
    // So far these hold the positions of changes. The parity turns them into ranges.
    for (std::size_t i = 0; i < words_end; i += vector_size) {
        word_vector in_array, between_rows;
        load(in_array, &places.in_array[i]);
        load(between_rows, &places.between_rows[i]);
        make_parity(in_array);
        make_parity(between_rows);
        store(&places.in_array[i], in_array);
        store(&places.between_rows[i], between_rows);
    }
    carry.in_array = link(places.in_array, words_end, carry.in_array);
    carry.between_rows = link(places.between_rows, words_end, carry.between_rows);
    places.has_arrays = true;
    carry.nesting = nesting;
    carry.row_count = static_cast<std::size_t>(rows - group.rows);
    return group.count;
}

// Checks what depends on the containers around a token.
REPRISE_INLINE std::size_t check_places(
    const group_tokens& found, const group_places& places, std::size_t count,
    row_run_carry& carry) noexcept {
    const std::size_t words_end = row_run_group::words_of(count);
    const block_words& between_rows = places.has_arrays ? places.between_rows : places.in_array;
    // A name follows a comma or an opening bracket of an object; a member's value follows a colon.
    block_words name_words;
    block_words before_words;
    for (std::size_t i = 0; i < words_end; i += vector_size) {
        word_vector commas, colons, in_array, object_opens;
        load(commas, &found.commas[i]);
        load(colons, &found.colons[i]);
        load(in_array, &places.in_array[i]);
        load(object_opens, &places.object_opens[i]);
        const word_vector before = (commas & ~in_array) | object_opens;
        word_vector in_names = before | colons;
        make_parity(in_names);
        store(&before_words[i], before);
        store(&name_words[i], in_names);
    }
    carry.awaits_colon = link(name_words, words_end, carry.awaits_colon);
    block_words wrong_words;
    word_vector any_wrong = {};
    for (std::size_t i = 0; i < words_end; i += vector_size) {
        word_vector before, in_names, colons, closes, starts, opens, object_opens, atoms, between;
        load(before, &before_words[i]);
        load(in_names, &name_words[i]);
        load(colons, &found.colons[i]);
        load(closes, &found.closes[i]);
        load(starts, &found.starts[i]);
        load(opens, &found.opens[i]);
        load(object_opens, &places.object_opens[i]);
        load(atoms, &found.atoms[i]);
        load(between, &between_rows[i]);
        const word_vector never_in_names = colons | closes | starts | (opens & ~object_opens);
        const word_vector wrong =
            (before & ~in_names) | (never_in_names & in_names) | (atoms & between);
        any_wrong |= wrong;
        store(&wrong_words[i], wrong);
    }
    return any_of(any_wrong) != 0 ? first_of(wrong_words, count) : count;
}

REPRISE_INLINE std::size_t take_group(
    json_masks& masks, const row_run_group& group, row_run_carry& carry) noexcept {
    row_run_carry next = carry;
    group_tokens found;
    group_places places;
    const char* const checked_end = carry.in_scalar != 0 ? carry.scalar_end : group.at;
    std::size_t taken = find_tokens(masks, group, next, found);
    if (taken == group.count) {
        taken = check_scalars(found, group, checked_end, next);
    }
    if (taken == group.count && !match_flat(found, group, next, places)) {
        taken = match_nested(found, group, next, places);
    }
    if (taken == group.count) {
        taken = check_places(found, places, group.count, next);
    }
    if (taken == group.count) {
        carry = next;
    }
    return taken;
}

std::size_t take_group_portable(
    json_masks& masks, const row_run_group& group, row_run_carry& carry) {
    return take_group(masks, group, carry);
}

#if defined(__x86_64__)
__attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt"))) std::size_t take_group_avx2(
    json_masks& masks, const row_run_group& group, row_run_carry& carry) {
    return take_group(masks, group, carry);
}
#endif

struct kernel_list {
    std::array<row_run_kernel, 2> kernels{};
    std::size_t count = 0;

    kernel_list() noexcept {
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
            __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("lzcnt") &&
            __builtin_cpu_supports("popcnt")) {
            kernels[count++] = {"avx2", &fill_masks_avx2, &take_group_avx2};
        }
#endif
        kernels[count++] = {"portable", &fill_masks_portable, &take_group_portable};
    }
};

}  // namespace

std::span<const row_run_kernel> row_run_kernels() noexcept {
    static const kernel_list list;
    return std::span(list.kernels).first(list.count);
}

}  // namespace reprise::services::detail

#undef REPRISE_BEFORE
#undef REPRISE_INLINE
