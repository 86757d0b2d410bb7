#pragma once

#include <type_traits>

#include "planted_bug.hpp"

namespace reprise::engine::testing {

// Plants one bug for as long as it lives.
class planted_choice {
public:
    explicit planted_choice(bug which) noexcept { chosen_bug = which; }
    ~planted_choice() { chosen_bug = bug::none; }
    planted_choice(const planted_choice&) = delete;
    planted_choice& operator=(const planted_choice&) = delete;
};

// What `observe` returns without the bug and with it.
template <class Value>
struct both_ways {
    Value without;
    Value with;
};

template <class Observe>
auto observe_both(bug which, Observe observe) {
    const auto without = observe();
    const planted_choice choice(which);
    return both_ways<std::remove_const_t<decltype(without)>>{without, observe()};
}

}  // namespace reprise::engine::testing
