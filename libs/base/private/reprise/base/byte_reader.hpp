#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <reprise/base/bytes.hpp>

namespace reprise::base {

/// Returns the big-endian number at `at`, which must have sizeof(Number) bytes. For decoders that
/// have checked the size of all their fields at once.
template <class Number>
Number load_big_endian(const std::byte* at) noexcept {
    static_assert(std::is_unsigned_v<Number>);
    // One load and one exchange of bytes: GCC 12 does not find these in a loop over the bytes.
    Number number;
    std::memcpy(&number, at, sizeof number);
    return std::endian::native == std::endian::little ? std::byteswap(number) : number;
}

/// The same for a little-endian number.
template <class Number>
Number load_little_endian(const std::byte* at) noexcept {
    static_assert(std::is_unsigned_v<Number>);
    Number number;
    std::memcpy(&number, at, sizeof number);
    return std::endian::native == std::endian::little ? number : std::byteswap(number);
}

/// Reads big-endian numbers and sub-views from untrusted bytes.
///
/// A read past the end fails, and the failure is sticky: that read and all later ones return zero
/// or an empty view, the position does not change, and `ok()` is false. So a decoder can read every
/// field and check once. The reader never throws, never reads outside the view and owns nothing:
/// the views it returns are valid as long as the bytes it was constructed from.
class byte_reader {
public:
    explicit byte_reader(byte_view bytes) noexcept : bytes_(bytes) {}

    /// Read numbers of 1, 2, 4 and 8 bytes. They return 0 if the bytes are missing.
    std::uint8_t read_u8() noexcept { return read_number<std::uint8_t>(); }
    std::uint16_t read_u16() noexcept { return read_number<std::uint16_t>(); }
    std::uint32_t read_u32() noexcept { return read_number<std::uint32_t>(); }
    std::uint64_t read_u64() noexcept { return read_number<std::uint64_t>(); }
    std::int64_t read_i64() noexcept { return static_cast<std::int64_t>(read_u64()); }

    /// Returns the next `size` bytes as a view of the same memory.
    byte_view read_bytes(std::size_t size) noexcept {
        if (!take(size)) {
            return {};
        }
        return bytes_.subspan(position_ - size, size);
    }

    /// Moves past `size` bytes. Fails like a read if they are missing.
    void skip(std::size_t size) noexcept { (void)take(size); }

    /// False once any read has failed. Do not use values read after the failure.
    bool ok() const noexcept { return !failed_; }
    /// True if every byte was read and no read failed. Decoders of a whole field check this.
    bool is_complete() const noexcept { return !failed_ && position_ == bytes_.size(); }
    std::size_t position() const noexcept { return position_; }
    std::size_t remaining() const noexcept { return bytes_.size() - position_; }

private:
    // Moves past `size` bytes, or fails and does not move.
    bool take(std::size_t size) noexcept {
        if (failed_ || size > bytes_.size() - position_) {
            failed_ = true;
            return false;
        }
        position_ += size;
        return true;
    }

    template <class Number>
    Number read_number() noexcept {
        return take(sizeof(Number))
                   ? load_big_endian<Number>(bytes_.data() + (position_ - sizeof(Number)))
                   : Number{0};
    }

    byte_view bytes_;
    std::size_t position_ = 0;
    bool failed_ = false;
};

}  // namespace reprise::base
