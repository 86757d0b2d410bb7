#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace reprise::wire {

// A value with the Snappy datatype bit is one raw Snappy block without framing.

enum class compression_errc : std::uint8_t {
    not_snappy = 1,     ///< not a valid block, or its content contradicts its length
    inflated_too_large  ///< the announced size exceeds the limit; nothing was inflated
};

std::string_view to_string(compression_errc code) noexcept;

struct compression_options {
    /// Smaller values are sent uncompressed. In bytes.
    std::size_t size_min_bytes = 32;
    /// The compressed form is used only if compressed size / original size is below this.
    double ratio_max = 0.83;
};

/// Compresses unconditionally.
std::vector<std::byte> compress(std::span<const std::byte> value);

/// Returns the compressed form if `options` considers it worth sending. Otherwise returns nothing:
/// send the original without the Snappy bit.
std::optional<std::vector<std::byte>> compress_if_smaller(
    std::span<const std::byte> value, const compression_options& options = {});

/// Checks the size that the block announces against `size_max_bytes` before it allocates memory.
std::expected<std::vector<std::byte>, compression_errc> inflate(
    std::span<const std::byte> block, std::size_t size_max_bytes);

}  // namespace reprise::wire
