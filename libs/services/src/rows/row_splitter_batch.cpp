// row_splitter::next_rows, which combines the run over blocks with reading by token.

#include "rows/row_splitter_machine.hpp"

namespace reprise::services {

using detail::json_place;
using detail::json_token;

std::expected<row_event, row_split_error> row_splitter::machine::next_rows() {
    forget_shown();
    if (batch_.empty()) {
        batch_.resize(batch_size_max);
    }
    while (!failure_ && at_ != end_) {
        // Leaves room for the rows of one group.
        if (batch_.size() - batch_size_ < detail::row_run::group_row_count_max) {
            break;
        }
        if (can_run() && run()) {
            continue;
        }
        if (scan_step() == scan_end::row) {
            batch_[batch_size_++] = row_;
        }
    }
    // The next call reports what follows the last row, after it has dropped these rows.
    if (batch_size_ != 0) {
        row_count_ += batch_size_;
        return row_event::row;
    }
    return show(failure_ ? scan_end::failed : end_piece());
}

bool row_splitter::machine::can_run() const noexcept {
    // A row that is too large is detected only at its end, so a run needs a limit that no row can
    // exceed: what is gathered plus this piece.
    const auto size = static_cast<std::size_t>(end_ - begin_);
    return is_in_rows_ && block_ == nullptr && scalar_state_ == 0 && escape_left_ == 0 &&
           (slow_end_ == nullptr || at_ >= slow_end_) && depth_ <= detail::row_run::depth_limit &&
           is_row_open_ == (depth_ != rows_depth) && size <= options_.row_size_max_bytes &&
           gathered_size() <= options_.row_size_max_bytes - size;
}

// Returns false if the run cannot take the next block.
bool row_splitter::machine::run() {
    using enum json_place;
    detail::row_run_state from;
    from.nesting = {depth_, object_bits_[0], row_begin_};
    from.is_in_string = is_in_string_;
    from.awaits_colon = place_ == key_or_end || place_ == key || place_ == colon;
    from.is_after_value = !is_in_string_ && (place_ == colon || place_ == object_next ||
                                             place_ == array_next || place_ == row_next);
    detail::row_run run(from, options_.depth_max);
    const char* const begin = at_;
    at_ = run.read(begin, end_, &batch_[batch_size_], batch_.size() - batch_size_);
    const detail::row_run_state state = run.state();
    if (run.is_stuck()) {
        slow_end_ = static_cast<std::size_t>(end_ - at_) < block_size ? end_ : at_ + block_size;
    }
    if (at_ == begin) {
        return false;
    }
    if (run.row_count() != 0 && gathered_size() != 0) {
        gathered_.append(batch_[batch_size_]);
        batch_[batch_size_] = gathered_;
        is_gathered_shown_ = true;
    }
    batch_size_ += run.row_count();
    depth_ = state.nesting.depth;
    object_bits_[0] = state.nesting.object_bits;
    row_begin_ = state.nesting.row_begin;
    is_row_open_ = depth_ != rows_depth;
    is_in_string_ = state.is_in_string;
    place_ = place_behind(begin, state);
    return true;
}

// Returns the position of the document at `at_`, which a run from `begin` has reached.
json_place row_splitter::machine::place_behind(
    const char* begin, const detail::row_run_state& state) const noexcept {
    using enum json_place;
    const bool is_between_rows = depth_ == rows_depth;
    const bool is_object = !is_between_rows && is_object_at(depth_ - 1);
    if (state.is_in_string || state.is_after_value) {
        if (state.awaits_colon) {
            return colon;
        }
        return is_between_rows ? row_next : is_object ? object_next : array_next;
    }
    const char* last = at_;
    while (last != begin && detail::json_token_of(last[-1]) == json_token::blank) {
        --last;
    }
    if (last == begin) {
        return place_;  // only spaces
    }
    switch (detail::json_token_of(last[-1])) {
        case json_token::open_object:
            return key_or_end;
        case json_token::open_array:
            return first_element;
        case json_token::colon:
            return object_value;
        default:  // a comma
            return is_between_rows ? row : is_object ? key : element;
    }
}

}  // namespace reprise::services
