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

/// Limits on what a service may send.
struct row_splitter_options {
    /// Limit of one row. In bytes.
    std::size_t row_size_max_bytes = std::size_t{20} * 1024 * 1024;
    /// Limit of everything except the rows. In bytes.
    std::size_t trailer_size_max_bytes = std::size_t{4} * 1024 * 1024;
    /// The nesting limit of arrays and objects, including the two around a row. At most 512.
    std::size_t depth_max = 256;
};

/// Why a document cannot be split. All errors are final: rows delivered before were whole, and no
/// more rows follow.
enum class row_split_errc : std::uint8_t {
    empty = 1,          ///< the body contains only white space
    not_an_object,      ///< the document is not a JSON object
    token_unexpected,   ///< a comma, colon, bracket or value where it is not allowed
    string_invalid,     ///< a control character or unknown escape inside a string
    scalar_invalid,     ///< neither a number nor true, false or null
    too_deep,           ///< deeper than row_splitter_options::depth_max
    row_too_large,      ///< larger than row_splitter_options::row_size_max_bytes
    trailer_too_large,  ///< larger than row_splitter_options::trailer_size_max_bytes
    truncated,          ///< the body ended inside the document
    extra_text          ///< text follows the document
};

std::string_view to_string(row_split_errc code) noexcept;

struct row_split_error {
    row_split_errc code = row_split_errc::token_unexpected;
    /// The byte of the document, counted over all pieces, at which reading stopped.
    std::uint64_t offset = 0;

    friend bool operator==(const row_split_error&, const row_split_error&) = default;
};

/// Returns for example "token_unexpected at byte 12".
std::string to_string(const row_split_error& error);

/// Result of row_splitter::next.
enum class row_event : std::uint8_t {
    need_more,  ///< everything fed so far is consumed; the piece may be released
    row,        ///< one whole row is available: row()
    complete    ///< the document has ended and the piece is consumed: trailer()
};

/// Splits the answer of a service into rows as it arrives, in constant memory and without a tree.
///
///     feed(piece) -> next(): row, row, ..., need_more -> feed(piece) -> ... -> complete
///                    or next_rows(): row (a batch of them), ..., need_more
///     end of the body -> finish(): complete, or an error
///
/// The splitter never reads ahead of what `next` returns, so the caller can stop after any row and
/// continue later. It returns a row that lies within one piece in place. Only a row that crosses
/// pieces is copied, into one buffer that is reused. Rows may be any JSON value. A row that is an
/// object or array is returned once its last byte has arrived, any other row once the comma or
/// bracket after it has arrived.
///
/// The splitter checks the document as it reads: nesting, commas, colons, strings, escapes and
/// numbers. It does not check the UTF-8 of strings, or for repeated names. It recognises the member
/// with the rows by its name at the top level, written without escapes. If that member is not an
/// array (search may send null), there are no rows, and the value stays in the trailer.
class row_splitter {
public:
    /// `rows_member` is "results", "hits" or "rows". It is copied.
    explicit row_splitter(std::string_view rows_member, const row_splitter_options& options = {});
    row_splitter(row_splitter&&) noexcept;
    row_splitter& operator=(row_splitter&&) noexcept;
    ~row_splitter();

    /// `piece` must stay valid and unchanged until `next()` returns need_more, complete or an
    /// error. Asserts that the previous piece was consumed that way.
    void feed(base::byte_view piece) noexcept;

    /// Advances one step. After `complete` it returns `complete` again, or extra_text if more than
    /// white space follows. After an error every call returns the same error.
    std::expected<row_event, row_split_error> next();

    /// The same for many rows at once, and much faster: after the event `row`, rows() has one or
    /// more. You may mix the calls; both find the same rows and the same errors.
    std::expected<row_event, row_split_error> next_rows();

    /// Reports the end of the body. Returns `complete` if the document is complete, and fails with
    /// empty or truncated otherwise. Call it after `next()` has returned need_more or complete.
    std::expected<row_event, row_split_error> finish() noexcept;

    /// Raw JSON without surrounding spaces. Valid after the event `row` until the next call of
    /// `next()` or `feed()`.
    std::string_view row() const noexcept;
    /// The rows of the last next_rows(), in order.
    std::span<const std::string_view> rows() const noexcept;
    /// Number of rows returned so far.
    std::uint64_t row_count() const noexcept;

    /// After `complete`: the document as it was written, with its rows removed (`"results":[]`
    /// stays). Valid as long as the splitter. Before `complete` it is what has arrived so far,
    /// which is not whole JSON.
    std::string_view trailer() const noexcept;

private:
    class machine;
    std::unique_ptr<machine> machine_;
};

}  // namespace reprise::services
