// A block that inflates stays within its limit, and its content survives a round trip.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include <reprise/wire/compression.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reprise::wire;
    constexpr std::size_t limit = 1U << 20U;
    const std::span block(reinterpret_cast<const std::byte*>(data), size);
    const auto value = inflate(block, limit);
    if (!value) {
        return 0;
    }
    if (value->size() > limit || inflate(compress(*value), limit) != value) {
        std::abort();
    }
    return 0;
}
