#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace reprise::wire {

// Values marked with the Snappy datatype bit are raw Snappy blocks, without framing.

enum class compression_errc : std::uint8_t {
    not_snappy = 1,     // no valid block, or one that contradicts its own length
    inflated_too_large  // the announced size is over the limit; nothing was inflated
};

std::string_view to_string(compression_errc code) noexcept;

struct compression_options {
    // Smaller values are sent as they are. Bytes.
    std::size_t size_min_bytes = 32;
    // The compressed form is used only if compressed/original is strictly below this.
    double ratio_max = 0.83;
};

// Always compresses.
std::vector<std::byte> compress(std::span<const std::byte> value);

// The compressed form if it is worth sending by `options`, otherwise nothing: send the original
// without the Snappy bit.
std::optional<std::vector<std::byte>> compress_if_smaller(
    std::span<const std::byte> value, const compression_options& options = {});

// The size a block announces is checked against `size_max_bytes` before memory is taken.
std::expected<std::vector<std::byte>, compression_errc> inflate(
    std::span<const std::byte> block, std::size_t size_max_bytes);

}  // namespace reprise::wire
