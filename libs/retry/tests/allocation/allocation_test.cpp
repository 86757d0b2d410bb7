/// Counts allocations on every path of the library. It is a separate program because it replaces
/// operator new.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>

#include <reprise/retry.hpp>
#include <reprise/testing/scripted.hpp>

namespace {

std::atomic<std::size_t> allocation_count{0};

void* counted_allocation(std::size_t size) {
    allocation_count.fetch_add(1, std::memory_order_relaxed);
    if (void* memory = std::malloc(size == 0 ? 1 : size)) {
        return memory;
    }
    throw std::bad_alloc{};
}

}  // namespace

void* operator new(std::size_t size) {
    return counted_allocation(size);
}
void* operator new[](std::size_t size) {
    return counted_allocation(size);
}
void operator delete(void* memory) noexcept {
    std::free(memory);
}
void operator delete[](void* memory) noexcept {
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}

namespace reprise {

namespace {

/// A clock that advances when asked to wait and allocates no memory.
class instant_clock final : public retry_clock {
public:
    time_point now() noexcept override { return now_; }
    bool wait_until(time_point until, const std::stop_token&) noexcept override {
        now_ = until;
        return true;
    }

private:
    time_point now_{};
};

template <class Strategy>
[[nodiscard]] std::size_t allocations_of(Strategy& strategy, int failures) {
    instant_clock clock;
    retry_history trace;
    call_options options{.history = &trace, .clock = &clock};
    int calls = 0;
    const std::size_t before = allocation_count.load();
    const auto result = retry(strategy, options, [&]() -> testing::scripted_result {
        if (calls++ < failures) {
            return testing::scripted_error{0, testing::transient()};
        }
        return 1;
    });
    const std::size_t after = allocation_count.load();
    EXPECT_EQ(result.has_value(), failures < 5);
    return after - before;
}

}  // namespace

TEST(allocation, the_counter_counts) {
    const std::size_t before = allocation_count.load();
    const auto memory = std::make_unique<int>(1);
    EXPECT_GT(allocation_count.load(), before) << *memory;
}

TEST(allocation, success_retries_and_final_failure_allocate_nothing) {
    standard_strategy inlined;
    driver::virtual_strategy<standard_strategy> converted;
    static_cast<void>(detail::thread_random());  // the first number seeds the thread's generator
    for (const int failures : {0, 1, 4, 5}) {
        EXPECT_EQ(allocations_of(inlined, failures), 0U) << failures;
        EXPECT_EQ(allocations_of(static_cast<driver::retry_strategy&>(converted), failures), 0U)
            << failures;
    }
}

// Each call used to make a block for its breaker and its observer.
TEST(allocation, an_observer_and_a_breaker_allocate_nothing) {
    class silent_observer final : public retry_observer {};
    standard_strategy strategy(
        {.breaker = std::make_shared<circuit_breaker>(),
         .observer = std::make_shared<silent_observer>()});
    static_cast<void>(detail::thread_random());
    for (const int failures : {0, 1, 4}) {
        EXPECT_EQ(allocations_of(strategy, failures), 0U) << failures;
    }
}

TEST(allocation, tokens_and_decisions_allocate_nothing) {
    standard_strategy strategy;
    const std::size_t before = allocation_count.load();
    driver::token_result token = strategy.acquire_initial_token();
    token = strategy.refresh_token(
        token.token, {testing::transient(), {}, driver::no_deadline, repeatability::unspecified});
    EXPECT_EQ(strategy.record_success(token.token), std::errc{});
    EXPECT_EQ(allocation_count.load(), before);
}

}  // namespace reprise
