#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <reprise/base/byte_writer.hpp>
#include <reprise/base/slice.hpp>

namespace reprise::engine {

// The bytes that a connection sends, write by write. Small ones are copied into one buffer. A large
// value stays where it is: the stream shares its memory until the write has ended, and hands it
// out between the bytes that surround it.
//
//     begin -> (encode, on_appended, append_value) ... -> outstanding -> on_written ... -> begin
//
class outgoing_stream {
public:
    // Begins the next write. All bytes of the last one must have been written.
    [[nodiscard]] base::byte_writer begin();
    // The writer has appended a whole frame, or its head if append_value follows.
    void on_appended(const base::byte_writer& writer) noexcept {
        size_ = writer.total_size() + values_size_;
    }
    void append_value(const base::slice& value);

    // Bytes of the current write.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool is_written() const noexcept { return written_ == size_; }
    // Bytes not yet reported as written, in order. The list is valid until the next call of a
    // member; the bytes stay until they are written.
    [[nodiscard]] base::byte_views outstanding();
    // Offset of the next byte in the stream of all writes.
    [[nodiscard]] std::uint64_t offset_of_next() const noexcept { return handed_before_ + size_; }
    // The driver has written `size` more bytes. Returns false if there were not that many.
    [[nodiscard]] bool on_written(std::size_t size) noexcept;
    // If the last `unwritten` bytes were not written, the first offset that has certainly not left
    // the process.
    [[nodiscard]] std::uint64_t sent_end(std::size_t unwritten) const noexcept;

private:
    struct value_part {
        std::size_t offset = 0;  // in the current write
        base::slice value;
    };

    [[gnu::noinline]] base::byte_views list_parts();
    [[gnu::noinline]] void drop_values() noexcept { values_.clear(); }

    // The bytes of the current write, without its large values, come first in the buffer. It is not
    // shortened between writes, because clearing and growing again would cost more than what is
    // written.
    std::vector<std::byte> buffer_;
    std::vector<value_part> values_;
    std::size_t values_size_ = 0;
    std::size_t size_ = 0;
    std::size_t written_ = 0;
    std::uint64_t handed_before_ = 0;  // bytes of all earlier writes
    base::byte_view rest_;             // what is outstanding, if there are no values
    std::vector<base::byte_view> parts_;
};

}  // namespace reprise::engine
