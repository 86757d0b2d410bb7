#include <reprise/wire/compression.hpp>

#include <snappy.h>

namespace reprise::wire {

namespace {

const char* snappy_input(std::span<const std::byte> bytes) noexcept {
    return reinterpret_cast<const char*>(bytes.data());
}

}  // namespace

std::string_view to_string(compression_errc code) noexcept {
    switch (code) {
        case compression_errc::not_snappy:
            return "not a Snappy block";
        case compression_errc::inflated_too_large:
            return "inflated size exceeds the limit";
    }
    return "unknown";
}

std::vector<std::byte> compress(std::span<const std::byte> value) {
    std::vector<std::byte> block(snappy::MaxCompressedLength(value.size()));
    std::size_t size = block.size();
    snappy::RawCompress(
        snappy_input(value), value.size(), reinterpret_cast<char*>(block.data()), &size);
    block.resize(size);
    return block;
}

std::optional<std::vector<std::byte>> compress_if_smaller(
    std::span<const std::byte> value, const compression_options& options) {
    if (value.size() < options.size_min_bytes || value.empty()) {
        return std::nullopt;
    }
    std::vector<std::byte> block = compress(value);
    const double ratio = static_cast<double>(block.size()) / static_cast<double>(value.size());
    if (ratio >= options.ratio_max) {
        return std::nullopt;
    }
    return block;
}

std::expected<std::vector<std::byte>, compression_errc> inflate(
    std::span<const std::byte> block, std::size_t size_max_bytes) {
    std::size_t size = 0;
    if (!snappy::GetUncompressedLength(snappy_input(block), block.size(), &size)) {
        return std::unexpected(compression_errc::not_snappy);
    }
    if (size > size_max_bytes) {
        return std::unexpected(compression_errc::inflated_too_large);
    }
    // A false size must not make us allocate memory: validate the whole block first.
    if (!snappy::IsValidCompressedBuffer(snappy_input(block), block.size())) {
        return std::unexpected(compression_errc::not_snappy);
    }
    std::vector<std::byte> value(size);
    if (!snappy::RawUncompress(
            snappy_input(block), block.size(), reinterpret_cast<char*>(value.data()))) {
        return std::unexpected(compression_errc::not_snappy);
    }
    return value;
}

}  // namespace reprise::wire
