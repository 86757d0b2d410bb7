#include <reprise/services/row_splitter.hpp>

#include <algorithm>
#include <array>

#include "rows/row_splitter_machine.hpp"

namespace reprise::services {

using detail::json_place;
using detail::json_token;

void row_splitter::machine::feed(base::byte_view piece) noexcept {
    if (failure_) {
        return;
    }
    REPRISE_ASSERT(at_ == end_);
    begin_offset_ += static_cast<std::uint64_t>(end_ - begin_);
    const std::string_view text = base::as_text(piece);
    begin_ = text.data();
    at_ = begin_;
    end_ = begin_ + text.size();
    trailer_begin_ = begin_;
    row_begin_ = begin_;
    row_ = {};
    slow_end_ = nullptr;
}

std::expected<row_event, row_split_error> row_splitter::machine::next() {
    forget_shown();
    return show(failure_ ? scan_end::failed : scan());
}

void row_splitter::machine::forget_shown() noexcept {
    row_ = {};
    batch_size_ = 0;
    if (is_gathered_shown_) {
        gathered_.clear();
        is_gathered_shown_ = false;
    }
}

std::expected<row_event, row_split_error> row_splitter::machine::show(scan_end end) noexcept {
    switch (end) {
        case scan_end::more:
            return row_event::need_more;
        case scan_end::row:
            ++row_count_;
            return row_event::row;
        case scan_end::complete:
            return row_event::complete;
        case scan_end::failed:
            break;
    }
    return std::unexpected(*failure_);
}

std::expected<row_event, row_split_error> row_splitter::machine::finish() noexcept {
    if (!failure_ && place_ != json_place::done) {
        (void)fail(
            place_ == json_place::document ? row_split_errc::empty : row_split_errc::truncated,
            end_);
    }
    if (failure_) {
        return std::unexpected(*failure_);
    }
    return row_event::complete;
}

// Reads up to the next row, the end of the piece or the end of the document.
row_splitter::machine::scan_end row_splitter::machine::scan() {
    while (at_ != end_) {
        const scan_end end = scan_step();
        if (end != scan_end::more) {
            return end;
        }
    }
    return end_piece();
}

row_splitter::machine::scan_end row_splitter::machine::scan_step() {
    if (block_ != nullptr) {
        return take_block();
    }
    // Rare escapes and invalid text are read one byte at a time.
    const bool is_for_block = is_in_rows_ && scalar_state_ == 0 && escape_left_ == 0;
    return is_for_block && load_block() ? scan_end::more : scan_byte();
}

row_splitter::machine::scan_end row_splitter::machine::end_piece() {
    if (place_ == json_place::done) {
        return scan_end::complete;
    }
    const bool is_kept = is_in_rows_ ? keep_open_row() : keep_trailer(end_);
    return is_kept ? scan_end::more : scan_end::failed;
}

// Classifies the block at `at_`. Returns false if it must be read one byte at a time.
bool row_splitter::machine::load_block() noexcept {
    const auto left = static_cast<std::size_t>(end_ - at_);
    detail::json_block found;
    if (left >= block_size) {
        found = detail::classify_json_block(at_);
    } else {
        // Padding with spaces adds no token and changes neither strings nor scalars.
        std::array<char, block_size> padded;
        padded.fill(' ');
        std::copy_n(at_, left, padded.begin());
        found = detail::classify_json_block(padded.data());
    }
    // Ends the block before an escape that cannot be checked here.
    std::size_t size = std::min(left, block_size);
    if (found.backslashes != 0) {
        const detail::json_escapes escapes = detail::find_escapes(found.backslashes, at_, size);
        found.quotes &= ~escapes.escaped;
        size = escapes.size;
    }
    const std::uint64_t carried = is_in_string_ ? ~std::uint64_t{0} : 0;
    const std::uint64_t in_string = detail::prefix_parity(found.quotes) ^ carried;
    // Also ends it before a control character that is not allowed in a string.
    size = std::min(size, static_cast<std::size_t>(std::countr_zero(found.controls & in_string)));
    if (size == 0) {
        return false;
    }
    const std::uint64_t scalars = ~(in_string | found.quotes | found.operators | found.blanks);
    const std::uint64_t tokens =
        (found.operators & ~in_string) | (found.quotes & in_string) | (scalars & ~(scalars << 1));
    block_ = at_;
    block_end_ = at_ + size;
    block_tokens_ = tokens & (~std::uint64_t{0} >> (block_size - size));
    is_in_string_after_block_ = (in_string >> (size - 1) & 1) != 0;
    return true;
}

row_splitter::machine::scan_end row_splitter::machine::take_block() {
    const char* const block = block_;
    std::uint64_t tokens = block_tokens_;
    auto place = static_cast<std::uint8_t>(place_);
    const char* behind = block_end_;  // a scalar may extend beyond the block
    while (tokens != 0) {
        const char* const at = block + std::countr_zero(tokens);
        tokens &= tokens - 1;
        const json_token token = detail::json_token_of(*at);
        const std::uint8_t step = detail::json_step_table[place][static_cast<std::size_t>(token)];
        if (step < detail::step_first_action) {
            place = step;
        } else {
            place_ = static_cast<json_place>(place);
            block_tokens_ = tokens;
            const scan_end end = act(step, token, at);
            if (!is_in_rows_) {
                block_ = nullptr;  // `act` has moved at_ past the rows
                return end;
            }
            if (end != scan_end::more) {
                return end;
            }
            place = static_cast<std::uint8_t>(place_);
        }
        if (token == json_token::scalar) {
            const char* const scalar_end = run_scalar(at);
            if (scalar_end == nullptr) {
                return scan_end::failed;
            }
            behind = std::max(behind, scalar_end);
        }
    }
    place_ = static_cast<json_place>(place);
    block_ = nullptr;
    at_ = behind;
    is_in_string_ = is_in_string_after_block_;
    return scan_end::more;
}

row_splitter::machine::scan_end row_splitter::machine::scan_byte() {
    if (is_in_string_) {
        return scan_string_byte();
    }
    if (scalar_state_ != 0) {
        return scan_scalar(at_);
    }
    const char* const at = at_;
    const json_token token = detail::json_token_of(*at);
    if (token == json_token::blank) {
        ++at_;
        return scan_end::more;
    }
    ++at_;
    is_in_string_ = token == json_token::string;
    const scan_end end = take(token, at);
    return token == json_token::scalar && end == scan_end::more ? scan_scalar(at) : end;
}

row_splitter::machine::scan_end row_splitter::machine::scan_scalar(const char* at) noexcept {
    const char* const behind = run_scalar(at);
    if (behind == nullptr) {
        return scan_end::failed;
    }
    at_ = behind;
    return scan_end::more;
}

row_splitter::machine::scan_end row_splitter::machine::scan_string_byte() noexcept {
    const char* const at = at_++;
    const char letter = *at;
    if (escape_left_ == 5) {
        if (letter == 'u') {
            escape_left_ = 4;
            return scan_end::more;
        }
        escape_left_ = 0;
        return detail::is_short_escape(letter) ? scan_end::more
                                               : fail(row_split_errc::string_invalid, at);
    }
    if (escape_left_ != 0) {
        --escape_left_;
        const bool is_digit =
            std::string_view("0123456789abcdefABCDEF").find(letter) != std::string_view::npos;
        return is_digit ? scan_end::more : fail(row_split_errc::string_invalid, at);
    }
    if (letter == '"') {
        is_in_string_ = false;
        if (is_reading_key_) {
            is_reading_key_ = false;
            is_rows_key_ = is_rows_key_ && key_matched_ == rows_member_.size();
        }
        return scan_end::more;
    }
    if (is_reading_key_ && is_rows_key_) {
        is_rows_key_ = key_matched_ < rows_member_.size() && rows_member_[key_matched_] == letter;
        ++key_matched_;
    }
    if (letter == '\\') {
        escape_left_ = 5;
    } else if (static_cast<unsigned char>(letter) < 0x20) {
        return fail(row_split_errc::string_invalid, at);
    }
    return scan_end::more;
}

// Continues a number or literal from `at` to the byte after it or the end of the piece. Fails and
// returns null if it is neither.
const char* row_splitter::machine::run_scalar(const char* at) noexcept {
    std::uint8_t state = scalar_state_;
    const char* const end = end_;
    while (at != end) {
        const std::uint8_t step = detail::scalar_step_table[state][static_cast<unsigned char>(*at)];
        if (step == detail::scalar_wrong) {
            if (!detail::is_scalar_whole(state) ||
                detail::json_token_of(*at) == json_token::scalar) {
                (void)fail(row_split_errc::scalar_invalid, at);
                return nullptr;
            }
            scalar_state_ = 0;
            return at;
        }
        state = step;
        ++at;
    }
    scalar_state_ = state;
    return at;
}

row_splitter::machine::scan_end row_splitter::machine::take(json_token token, const char* at) {
    const std::uint8_t step =
        detail::json_step_table[static_cast<std::size_t>(place_)][static_cast<std::size_t>(token)];
    if (step >= detail::step_first_action) {
        return act(step, token, at);
    }
    const auto to = static_cast<json_place>(step);
    if (depth_ == 1 && to == json_place::colon) {
        is_reading_key_ = true;
        is_rows_key_ = true;
        key_matched_ = 0;
    }
    place_ = to;
    return scan_end::more;
}

row_splitter::machine::scan_end row_splitter::machine::act(
    std::uint8_t step, json_token token, const char* at) {
    switch (step) {
        case detail::step_open_object:
        case detail::step_open_array:
            return open(token == json_token::open_object, at);
        case detail::step_close:
            return close(at);
        case detail::step_row:
            begin_row(at);
            if (token == json_token::open_object || token == json_token::open_array) {
                return open(token == json_token::open_object, at);
            }
            place_ = json_place::row_next;
            return scan_end::more;
        case detail::step_row_comma:
            place_ = json_place::row;
            return is_row_open_ ? show_row(at) : scan_end::more;
        case detail::step_rows_end:
            is_in_rows_ = false;
            is_in_string_ = false;  // may be left from the start of a block
            depth_ = 1;
            place_ = json_place::object_next;
            trailer_begin_ = at;
            at_ = at + 1;
            return is_row_open_ ? show_row(at) : scan_end::more;
        default:  // step_wrong: no token may stand here
            break;
    }
    if (place_ == json_place::document) {
        return fail(row_split_errc::not_an_object, at);
    }
    return fail(
        place_ == json_place::done ? row_split_errc::extra_text : row_split_errc::token_unexpected,
        at);
}

row_splitter::machine::scan_end row_splitter::machine::open(bool is_object, const char* at) {
    if (depth_ >= options_.depth_max) {
        return fail(row_split_errc::too_deep, at);
    }
    if (depth_ == 1 && !is_object && is_rows_key_) {
        if (!keep_trailer(at + 1)) {
            return scan_end::failed;
        }
        is_in_rows_ = true;
        depth_ = rows_depth;
        place_ = json_place::first_row;
        return scan_end::more;
    }
    const std::uint64_t bit = std::uint64_t{1} << (depth_ % 64);
    std::uint64_t& word = object_bits_[depth_ / 64];
    word = is_object ? word | bit : word & ~bit;
    ++depth_;
    place_ = is_object ? json_place::key_or_end : json_place::first_element;
    return scan_end::more;
}

row_splitter::machine::scan_end row_splitter::machine::close(const char* at) {
    --depth_;
    if (depth_ == 0) {
        place_ = json_place::done;  // `scan` checks what follows before it reports the end
        return keep_trailer(at + 1) ? scan_end::more : scan_end::failed;
    }
    if (is_in_rows_ && depth_ == rows_depth) {
        place_ = json_place::row_next;
        return show_row(at + 1);
    }
    place_ = is_object_at(depth_ - 1) ? json_place::object_next : json_place::array_next;
    return scan_end::more;
}

void row_splitter::machine::begin_row(const char* at) noexcept {
    is_row_open_ = true;
    row_begin_ = at;
}

// A row without brackets ends at the next comma and does not include the spaces before it.
row_splitter::machine::scan_end row_splitter::machine::show_row(const char* end) {
    is_row_open_ = false;
    row_ = std::string_view(row_begin_, static_cast<std::size_t>(end - row_begin_));
    if (gathered_size() + row_.size() > options_.row_size_max_bytes) {
        return fail(row_split_errc::row_too_large, end);
    }
    if (gathered_size() != 0) {
        gathered_.append(row_);
        is_gathered_shown_ = true;
        row_ = gathered_;
    }
    while (detail::json_token_of(row_.back()) == json_token::blank) {
        row_.remove_suffix(1);
    }
    return scan_end::row;
}

// Both copy what is still needed of a piece before it is released.
bool row_splitter::machine::keep_trailer(const char* end) {
    const auto size = static_cast<std::size_t>(end - trailer_begin_);
    if (size > options_.trailer_size_max_bytes - trailer_.size()) {
        (void)fail(row_split_errc::trailer_too_large, end);
        return false;
    }
    trailer_.append(trailer_begin_, size);
    trailer_begin_ = end;
    return true;
}

bool row_splitter::machine::keep_open_row() {
    if (!is_row_open_) {
        return true;
    }
    const auto size = static_cast<std::size_t>(end_ - row_begin_);
    if (size > options_.row_size_max_bytes - gathered_.size()) {
        (void)fail(row_split_errc::row_too_large, end_);
        return false;
    }
    gathered_.append(row_begin_, size);
    row_begin_ = end_;
    return true;
}

row_splitter::machine::scan_end row_splitter::machine::fail(
    row_split_errc code, const char* at) noexcept {
    failure_ = row_split_error{code, offset_of(at)};
    at_ = end_;
    block_ = nullptr;
    row_ = {};
    return scan_end::failed;
}

row_splitter::row_splitter(std::string_view rows_member, const row_splitter_options& options)
    : machine_(std::make_unique<machine>(rows_member, options)) {}
row_splitter::row_splitter(row_splitter&&) noexcept = default;
row_splitter& row_splitter::operator=(row_splitter&&) noexcept = default;
row_splitter::~row_splitter() = default;

void row_splitter::feed(base::byte_view piece) noexcept {
    machine_->feed(piece);
}

std::expected<row_event, row_split_error> row_splitter::next() {
    return machine_->next();
}

std::expected<row_event, row_split_error> row_splitter::next_rows() {
    return machine_->next_rows();
}

std::expected<row_event, row_split_error> row_splitter::finish() noexcept {
    return machine_->finish();
}

std::string_view row_splitter::row() const noexcept {
    return machine_->row();
}

std::span<const std::string_view> row_splitter::rows() const noexcept {
    return machine_->rows();
}

std::uint64_t row_splitter::row_count() const noexcept {
    return machine_->row_count();
}

std::string_view row_splitter::trailer() const noexcept {
    return machine_->trailer();
}

}  // namespace reprise::services
