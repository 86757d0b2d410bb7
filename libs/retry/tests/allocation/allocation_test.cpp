/// Counts allocations on every path of the library, and lets them fail. It is a separate program
/// because it replaces operator new.

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <reprise/retry.hpp>
#include <reprise/testing/scripted.hpp>

namespace {

std::atomic<std::size_t> allocation_count{0};
std::atomic<bool> is_out_of_memory{false};

void* counted_allocation(std::size_t size) {
    allocation_count.fetch_add(1, std::memory_order_relaxed);
    if (!is_out_of_memory) {
        if (void* memory = std::malloc(size == 0 ? 1 : size)) {
            return memory;
        }
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

namespace {

constexpr const char* long_text =
    "a text that is too long to fit into a string without an allocation";

class counting_channel final : public driver::answer_channel {
public:
    int failures = 0;

    void post(
        driver::decision_ticket, std::optional<driver::retry_action> action,
        std::string) noexcept override {
        failures += action ? 0 : 1;
    }
};

}  // namespace

// The texts of these failures were built in functions that must not throw: the program ended.
TEST(without_memory, an_answer_that_is_dropped_still_fails_its_question) {
    const auto channel = std::make_shared<counting_channel>();
    {
        driver::deferred_answer replaced(channel, {});
        driver::deferred_answer dropped(channel, {});
        is_out_of_memory = true;
        replaced = driver::deferred_answer();
        const driver::deferred_answer moved = std::move(dropped);
    }
    is_out_of_memory = false;
    EXPECT_EQ(channel->failures, 2);
}

TEST(without_memory, a_strategy_that_throws_or_does_not_answer_is_a_refusal) {
    struct long_exception final : std::exception {
        [[nodiscard]] const char* what() const noexcept override { return long_text; }
    };
    class broken_strategy final : public driver::retry_strategy {
    public:
        int kind = 0;

    private:
        void retry_after(const driver::retry_question&, driver::retry_sink&) override {
            if (kind == 0) {
                throw long_exception();
            }
            if (kind == 1) {
                throw kind;
            }
        }
    };
    broken_strategy strategy;
    for (strategy.kind = 0; strategy.kind < 3; ++strategy.kind) {
        is_out_of_memory = true;
        const driver::retry_action action = detail::ask(strategy, {});
        is_out_of_memory = false;
        EXPECT_EQ(action.refusal(), refusal_reason::strategy_failed) << strategy.kind;
    }
}

namespace {

/// A tracer that counts its spans. Memory runs out when it has started as many as are given.
class counting_tracer final : public retry_tracer {
public:
    explicit counting_tracer(int starts_with_memory) : starts_with_memory_(starts_with_memory) {}

    int started = 0;
    int ended = 0;
    std::size_t type_size = 0;  // of the last error

    std::unique_ptr<retry_tracer::span> start_span(
        std::string_view, retry_tracer::span*) noexcept override {
        auto made = std::make_unique<counted_span>(*this);
        is_out_of_memory = ++started == starts_with_memory_;
        return made;
    }

private:
    class counted_span final : public retry_tracer::span {
    public:
        explicit counted_span(counting_tracer& of) : of_(of) {}
        void set_attribute(std::string_view, std::int64_t) noexcept override {}
        void set_attribute(std::string_view name, std::string_view value) noexcept override {
            if (name == trace_names::error_type) {
                of_.type_size = value.size();
            }
        }
        void end(bool) noexcept override { ++of_.ended; }

    private:
        counting_tracer& of_;
    };
    int starts_with_memory_;
};

class long_category final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return long_text; }
    [[nodiscard]] std::string message(int) const override { return "no"; }
};

}  // namespace

// `started` counts the span of the call as well as that of its attempt.
TEST(without_memory, every_span_that_is_started_is_ended) {
    const long_category category;
    instant_clock clock;
    for (const int starts_with_memory : {1, 2, 3}) {
        const auto tracer = std::make_shared<counting_tracer>(starts_with_memory);
        const auto once = attempts(1).tracer(tracer);
        const std::error_code result = retry(once, {.clock = &clock}, [&] {
            is_out_of_memory = true;
            return std::error_code(7, category);
        });
        is_out_of_memory = false;
        const bool is_kept = starts_with_memory > 1;
        EXPECT_EQ(result.value(), 7);
        EXPECT_EQ(tracer->started, is_kept ? 2 : 1);
        EXPECT_EQ(tracer->ended, tracer->started);
        EXPECT_EQ(tracer->type_size, is_kept ? std::string_view("_OTHER").size() : 0U);
    }
}

}  // namespace reprise
