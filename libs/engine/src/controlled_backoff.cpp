#include "controlled_backoff.hpp"

#include <array>

namespace reprise::engine {

duration controlled_backoff(std::uint32_t attempts) noexcept {
    constexpr std::array ladder{std::chrono::milliseconds{1},   std::chrono::milliseconds{10},
                                std::chrono::milliseconds{50},  std::chrono::milliseconds{100},
                                std::chrono::milliseconds{500}, std::chrono::milliseconds{1000}};
    return ladder[attempts < ladder.size() ? attempts : ladder.size() - 1];
}

}  // namespace reprise::engine
