#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <reprise/base/bytes.hpp>

namespace reprise::services {

// Bounds on what a service may send.
struct row_splitter_options {
    // One row. Bytes.
    std::size_t row_size_max_bytes = std::size_t{20} * 1024 * 1024;
    // Everything beside the rows together. Bytes.
    std::size_t trailer_size_max_bytes = std::size_t{4} * 1024 * 1024;
    // Arrays and objects inside each other, the two around a row included; at most 512.
    std::size_t depth_max = 256;
};

// Why a document cannot be split. All are final: rows handed out before were whole, more will not
// come.
enum class row_split_errc : std::uint8_t {
    empty = 1,          // the body ended before anything but white space came
    not_an_object,      // the document is something else than a JSON object
    token_unexpected,   // a comma, colon, bracket or value where it cannot stand
    string_invalid,     // a control character or an unknown escape inside a string
    scalar_invalid,     // neither a number nor true, false, null
    too_deep,           // over row_splitter_options::depth_max
    row_too_large,      // over row_splitter_options::row_size_max_bytes
    trailer_too_large,  // over row_splitter_options::trailer_size_max_bytes
    truncated,          // the body ended inside the document
    extra_text          // something follows the document
};

std::string_view to_string(row_split_errc code) noexcept;

struct row_split_error {
    row_split_errc code = row_split_errc::token_unexpected;
    // Byte of the document, counted over all pieces, at which reading stopped.
    std::uint64_t offset = 0;

    friend bool operator==(const row_split_error&, const row_split_error&) = default;
};

// "token_unexpected at byte 12"
std::string to_string(const row_split_error& error);

// What the splitter found; see row_splitter::next.
enum class row_event : std::uint8_t {
    need_more,  // everything fed was used up: the piece may be dropped
    row,        // one whole row: row()
    complete    // the document is over and the piece used up: trailer()
};

// Cuts the answer of a service into rows while it comes, in constant memory and without a tree.
//
//     feed(piece) -> next(): row, row, ..., need_more -> feed(piece) -> ... -> complete
//                    or next_rows(): row (a batch of them), ..., need_more
//     end of the body -> finish(): complete, or what was cut
//
// Nothing is read ahead of what `next` returns, so the caller can stop after any row and go on
// later. A row that lies in one piece is shown in place; only one that crosses pieces is gathered,
// in one buffer that is used again. Rows may be any JSON value. One that is an object or an array
// is given as soon as its last byte came, another one when the comma or bracket behind it came.
//
// The document is checked as it passes: nesting, commas, colons, strings, escapes, numbers. Not
// checked are the UTF-8 of strings and names that occur twice. The member that holds the rows is
// known by its name at the top level, written without escapes; if it holds something else than an
// array (search may send null) there are no rows and the value stays in the trailer.
class row_splitter {
public:
    // `rows_member`: "results", "hits" or "rows". Copied.
    explicit row_splitter(std::string_view rows_member, const row_splitter_options& options = {});
    row_splitter(row_splitter&&) noexcept;
    row_splitter& operator=(row_splitter&&) noexcept;
    ~row_splitter();

    // `piece` must stay valid and unchanged until `next()` has returned need_more, complete or an
    // error. The previous piece must have been used up that way (asserted).
    void feed(base::byte_view piece) noexcept;

    // One step. After `complete` it gives `complete` again, or extra_text if more than white space
    // follows. After an error every further call gives the same error.
    std::expected<row_event, row_split_error> next();

    // The same for many rows at once, and much faster: after the event `row` there are one or more
    // in rows(). The calls may be mixed; both find the same rows and the same errors.
    std::expected<row_event, row_split_error> next_rows();

    // The body is over. `complete` if the document is; otherwise empty or truncated. Call it when
    // `next()` has returned need_more or complete.
    std::expected<row_event, row_split_error> finish() noexcept;

    // Valid after the event `row`, until the next call of `next()` or `feed()`. Raw JSON without
    // blanks around it.
    std::string_view row() const noexcept;
    // The same after next_rows(). In the order in which they came.
    std::span<const std::string_view> rows() const noexcept;
    // Rows given so far.
    std::uint64_t row_count() const noexcept;

    // After `complete`: the document with its rows taken out (`"results":[]` stays), as it was
    // written. Valid as long as the splitter. Before: what came so far, which is no whole JSON.
    std::string_view trailer() const noexcept;

private:
    class machine;
    std::unique_ptr<machine> machine_;
};

}  // namespace reprise::services
