#pragma once

#include <planted_bug.hpp>

namespace reprise::sim::testing {

// Plants one bug for as long as it lives.
class planted_choice {
public:
    explicit planted_choice(engine::bug which) noexcept { engine::chosen_bug = which; }
    ~planted_choice() { engine::chosen_bug = engine::bug::none; }
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
auto observe_both(engine::bug which, Observe observe) {
    const auto without = observe();
    const planted_choice choice(which);
    return both_ways<std::remove_const_t<decltype(without)>>{without, observe()};
}

}  // namespace reprise::sim::testing
