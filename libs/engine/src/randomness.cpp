#include <reprise/engine/randomness.hpp>

#include <memory>

#include <reprise/retry/random_generator.hpp>

namespace reprise::engine {

randomness seeded_randomness(std::uint64_t seed) {
    // Nonces have their own stream, so that random numbers used for jitter do not change them.
    const auto source = std::make_shared<random_generator>(~seed);
    return {seed, [source](std::span<std::byte> out) {
                for (std::byte& each : out) {
                    each = static_cast<std::byte>(source->next() & 0xffU);
                }
                return true;
            }};
}

}  // namespace reprise::engine
