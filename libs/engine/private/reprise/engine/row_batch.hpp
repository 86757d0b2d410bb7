#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <reprise/base/slice.hpp>

namespace reprise::engine {

// Rows in their order, together with the memory that holds them: blocks from a connection, or
// copies. A moved-from batch is empty.
class row_batch {
public:
    struct parts {
        std::vector<std::string_view> rows;
        std::vector<base::block_ref> memory;  // the memory that the rows point into
    };

    row_batch() noexcept = default;
    row_batch(row_batch&& other) noexcept { swap(other); }
    row_batch& operator=(row_batch other) noexcept {
        swap(other);
        return *this;
    }
    ~row_batch() = default;

    [[nodiscard]] std::size_t size() const noexcept { return parts_.rows.size(); }
    [[nodiscard]] bool empty() const noexcept { return parts_.rows.empty(); }
    [[nodiscard]] std::string_view operator[](std::size_t index) const noexcept {
        return parts_.rows[index];
    }
    [[nodiscard]] std::span<const std::string_view> rows() const noexcept { return parts_.rows; }
    // Bytes of the rows, including separators (commas, blanks) between rows of one piece.
    [[nodiscard]] std::size_t size_bytes() const noexcept { return size_bytes_; }

    // Appends `rows` in their order. Rows within `piece` share `owner` if it contains `piece`, and
    // are copied together otherwise (`owner` may be null). Other rows are copied one by one.
    void append(
        std::span<const std::string_view> rows, std::string_view piece,
        const base::block_ref* owner);
    void clear() noexcept;  // keeps the capacity, releases the memory of the rows

    // Leaves the batch empty.
    [[nodiscard]] parts take_parts() noexcept;
    void swap(row_batch& other) noexcept;

private:
    void append_shared(std::span<const std::string_view> rows, const base::block_ref& owner);
    void append_copies(std::span<const std::string_view> rows);
    [[nodiscard]] std::string_view copy(std::string_view text);

    parts parts_;
    std::size_t size_bytes_ = 0;
    const std::byte* shared_last_ = nullptr;  // the last received block in `memory`
    base::mutable_byte_view room_{};          // the unused part of the last allocated block
    std::size_t own_size_last_ = 0;
};

}  // namespace reprise::engine
