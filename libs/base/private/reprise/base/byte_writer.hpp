#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include <reprise/base/bytes.hpp>

namespace reprise::base {

/// Stores `number` in big-endian order at `at`, which must have room for sizeof(Number) bytes.
/// Returns a pointer past it. For encoders that reserve all their room at once with
/// `byte_writer::extend`.
template <class Number>
std::byte* store_big_endian(std::byte* at, Number number) noexcept {
    // One exchange of bytes and one store: GCC 12 does not find these in a loop over the bytes.
    const auto bits = static_cast<std::make_unsigned_t<Number>>(number);
    const auto stored = std::endian::native == std::endian::little ? std::byteswap(bits) : bits;
    std::memcpy(at, &stored, sizeof stored);
    return at + sizeof stored;
}

/// Appends big-endian numbers and bytes to memory that the caller owns: either a vector, which
/// grows up to a limit, or a fixed span. The memory must outlive the writer, and nothing else may
/// change the vector in the meantime.
///
/// If something does not fit, the writer writes none of it and fails. The failure is sticky, so an
/// encoder can write every field and check `ok()` once. Throws only what the vector's allocator
/// throws.
class byte_writer {
public:
    static constexpr std::size_t no_bound = std::numeric_limits<std::size_t>::max();
    struct reuse_tag {};

    /// Appends to the content of `out`. `size_max_bytes` limits the vector's total size.
    explicit byte_writer(
        std::vector<std::byte>& out, std::size_t size_max_bytes = no_bound) noexcept
        : vector_(&out),
          data_(out.data()),
          start_(out.size()),
          size_(out.size()),
          ready_size_(out.size()),
          limit_(size_max_bytes) {}

    /// Writes behind the first `used_size` bytes of a buffer that is used again and again: over
    /// what follows them, and beyond. The vector is never shortened, and only its first
    /// `total_size()` bytes have a meaning.
    byte_writer(std::vector<std::byte>& buffer, std::size_t used_size, reuse_tag) noexcept
        : vector_(&buffer),
          data_(buffer.data()),
          start_(used_size),
          size_(used_size),
          ready_size_(buffer.size()),
          limit_(no_bound),
          is_reusing_(true) {}

    /// Writes from the beginning of `out`.
    explicit byte_writer(mutable_byte_view out) noexcept
        : data_(out.data()), ready_size_(out.size()), limit_(out.size()) {}

    void write_u8(std::uint8_t number) { write_number(number); }
    void write_u16(std::uint16_t number) { write_number(number); }
    void write_u32(std::uint32_t number) { write_number(number); }
    void write_u64(std::uint64_t number) { write_number(number); }
    void write_bytes(byte_view bytes);
    void write_text(std::string_view text) { write_bytes(as_bytes(text)); }

    /// Reserves `size` bytes for the caller to fill. Returns nullptr and puts the writer into its
    /// failed state if they do not fit. The pointer is valid until the next call that writes.
    /// `size` may be 0: do not dereference the pointer then; it is null only if the writer had
    /// already failed.
    [[gnu::always_inline]] std::byte* extend(std::size_t size) {
        // Subtracts because size_ + size could wrap. A vector may start above its limit.
        if (failed_ || size_ > limit_ || size > limit_ - size_) {
            failed_ = true;
            return nullptr;
        }
        if (size > ready_size_ - size_) {
            grow(size);
        }
        size_ += size;
        return data_ + (size_ - size);
    }

    bool ok() const noexcept { return !failed_; }
    /// Puts the writer into its failed state, for encoders that find a field that cannot be
    /// expressed.
    void fail() noexcept { failed_ = true; }
    /// Number of bytes in the vector or the span, including what the vector held before.
    std::size_t total_size() const noexcept { return size_; }
    /// Number of bytes written by this writer, not counting what the vector held before.
    std::size_t written() const noexcept { return size_ - start_; }
    /// Number of bytes that still fit; 0 once the writer has failed.
    std::size_t room() const noexcept { return failed_ || size_ > limit_ ? 0 : limit_ - size_; }
    /// The bytes written so far. Valid until the next call that writes.
    byte_view bytes() const noexcept { return {data_ + start_, size_ - start_}; }
    /// Drops what was written beyond `written_size` and clears the failure. An encoder that must
    /// not leave half a message behind stores `written()` first and rewinds to it.
    void rewind(std::size_t written_size) noexcept;

private:
    template <class Number>
    void write_number(Number number) {
        if (std::byte* at = extend(sizeof(Number)); at != nullptr) {
            store_big_endian(at, number);
        }
    }

    // Makes room for `size` more bytes of the vector.
    void grow(std::size_t size);
    // Makes room for the bytes and copies them.
    void append(byte_view bytes);

    std::vector<std::byte>* vector_ = nullptr;
    std::byte* data_ = nullptr;  // the beginning of the vector or the span
    std::size_t start_ = 0;
    std::size_t size_ = 0;
    std::size_t ready_size_ = 0;  // bytes of the vector or the span, written or not
    std::size_t limit_ = 0;
    bool failed_ = false;
    bool is_reusing_ = false;
};

}  // namespace reprise::base
