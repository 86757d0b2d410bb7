#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/base/assert.hpp>
#include <reprise/services/row_splitter.hpp>

#include "rows/json_tokens.hpp"
#include "rows/row_run.hpp"

namespace reprise::services {

// Inside the rows it classifies 64 bytes at once and visits only their tokens. Outside, and at rare
// escapes, it reads one byte at a time. Both ways end in `take`, which has the grammar. Each byte
// is classified once: a row may end inside a block, whose remaining tokens then wait for the next
// call.
//
// `next_rows` lets row_run take what it can, and reads other blocks like `next`.
class row_splitter::machine {
public:
    machine(std::string_view rows_member, const row_splitter_options& options)
        : rows_member_(rows_member), options_(options) {
        REPRISE_ASSERT(options.depth_max <= depth_limit);
    }

    void feed(base::byte_view piece) noexcept;
    std::expected<row_event, row_split_error> next();
    std::expected<row_event, row_split_error> finish() noexcept;

    std::expected<row_event, row_split_error> next_rows();

    std::string_view row() const noexcept { return row_; }
    std::span<const std::string_view> rows() const noexcept {
        return std::span(batch_).first(batch_size_);
    }
    std::uint64_t row_count() const noexcept { return row_count_; }
    std::string_view trailer() const noexcept { return trailer_; }

private:
    static constexpr std::size_t depth_limit = 512;
    static constexpr std::size_t block_size = 64;
    static constexpr std::size_t rows_depth = 2;  // the object and the array around each row
    static constexpr std::size_t batch_size_max = 2048;

    enum class scan_end : std::uint8_t { more, row, complete, failed };

    void forget_shown() noexcept;
    std::expected<row_event, row_split_error> show(scan_end end) noexcept;
    scan_end scan();
    scan_end scan_step();
    scan_end end_piece();
    bool run();
    bool can_run() const noexcept;
    detail::json_place place_behind(
        const char* begin, const detail::row_run_state& state) const noexcept;
    bool load_block() noexcept;
    scan_end take_block();
    scan_end scan_byte();
    scan_end scan_string_byte() noexcept;
    scan_end scan_scalar(const char* at) noexcept;
    const char* run_scalar(const char* at) noexcept;

    scan_end take(detail::json_token token, const char* at);
    scan_end act(std::uint8_t step, detail::json_token token, const char* at);
    scan_end open(bool is_object, const char* at);
    scan_end close(const char* at);
    void begin_row(const char* at) noexcept;
    scan_end show_row(const char* end);

    bool keep_trailer(const char* end);
    bool keep_open_row();
    scan_end fail(row_split_errc code, const char* at) noexcept;

    // The stored size of a row that started in an earlier piece.
    std::size_t gathered_size() const noexcept { return is_gathered_shown_ ? 0 : gathered_.size(); }
    bool is_object_at(std::size_t level) const noexcept {
        return (object_bits_[level / 64] >> (level % 64) & 1) != 0;
    }
    std::uint64_t offset_of(const char* at) const noexcept {
        return begin_offset_ + static_cast<std::uint64_t>(at - begin_);
    }

    std::string rows_member_;
    row_splitter_options options_;

    // The current piece and the position in it.
    const char* begin_ = nullptr;
    const char* at_ = nullptr;
    const char* end_ = nullptr;
    std::uint64_t begin_offset_ = 0;  // offset of `begin_` in the document

    detail::json_place place_ = detail::json_place::document;
    std::uint8_t scalar_state_ = 0;  // 0: not inside a number or literal
    std::uint8_t escape_left_ = 0;   // 0: none; 5: after a backslash; 4..1: digits of \u left
    bool is_in_string_ = false;
    bool is_in_rows_ = false;
    bool is_reading_key_ = false;  // inside a name of the top-level object
    bool is_rows_key_ = false;     // so far, that name matches the rows member
    std::size_t key_matched_ = 0;
    std::size_t depth_ = 0;
    std::array<std::uint64_t, depth_limit / 64> object_bits_{};  // by level: 1 means object

    // The last classified block, while it has tokens left.
    const char* block_ = nullptr;
    const char* block_end_ = nullptr;
    std::uint64_t block_tokens_ = 0;
    bool is_in_string_after_block_ = false;

    // For next_rows: the rows found, and the end of the part that must be read like `next`.
    std::vector<std::string_view> batch_;
    std::size_t batch_size_ = 0;
    const char* slow_end_ = nullptr;

    std::string_view row_;
    const char* row_begin_ = nullptr;
    bool is_row_open_ = false;
    std::uint64_t row_count_ = 0;
    std::string gathered_;  // the beginning of a row that crosses pieces
    bool is_gathered_shown_ = false;

    const char* trailer_begin_ = nullptr;  // start of what is not yet in the trailer
    std::string trailer_;
    std::optional<row_split_error> failure_;
};

}  // namespace reprise::services
