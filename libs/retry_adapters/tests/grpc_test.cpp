#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include <reprise/retry.hpp>
#include <reprise/retry/adapters/grpc.hpp>

#include "imitated_grpc.hpp"

// gRPC's adapter without gRPC, which `imitated_grpc.hpp` stands for. What needs a server is in
// tests/adapters.

namespace {

using reprise::adapters::grpc_result;

/// A cancellation slot, like Asio's.
struct signal_slot {
    std::function<void(int)>* target = nullptr;

    [[nodiscard]] bool is_connected() const noexcept { return target != nullptr; }
    template <class Function>
    void assign(Function function) {
        *target = std::move(function);
    }
};

/// The handler of an attempt: counts how often it was called.
struct counting_handler {
    int* completions;
    signal_slot slot{};

    [[nodiscard]] signal_slot get_cancellation_slot() const noexcept { return slot; }
    void operator()(const grpc_result&, int) { ++*completions; }
};

/// A call that was started and has not ended yet.
struct started_call {
    std::function<void(int)> signal;
    grpc::ClientContext* context = nullptr;
    std::function<void(grpc::Status)> end;
    int completions = 0;

    explicit started_call(bool has_slot) {
        const counting_handler handler{&completions, {has_slot ? &signal : nullptr}};
        reprise::adapters::grpc_start<int>(
            reprise::attempt{}, handler,
            [this](grpc::ClientContext* used, int*, std::function<void(grpc::Status)> done) {
                context = used;
                end = std::move(done);
            });
    }
};

// The signal reached no one: a hedge waited for the loser, and a canceled loop for its attempt, as
// long as the server took; without a time limit that could be for ever.
TEST(grpc_calls, signal_to_the_slot_of_the_handler_cancels_the_call) {
    started_call call(true);
    ASSERT_TRUE(call.signal);
    EXPECT_EQ(call.context->cancellations, 0);
    call.signal(1);
    EXPECT_EQ(call.context->cancellations, 1);
    EXPECT_EQ(call.completions, 0);
    call.end(grpc::Status(grpc::StatusCode::CANCELLED, "canceled"));
    EXPECT_EQ(call.completions, 1);
}

TEST(grpc_calls, signal_after_the_end_of_the_call_reaches_nothing) {
    started_call call(true);
    ASSERT_TRUE(call.signal);
    call.end(grpc::Status());
    call.end = nullptr;  // What gRPC kept of the call is gone.
    call.signal(1);
    EXPECT_EQ(call.completions, 1);
}

TEST(grpc_calls, handler_without_a_connected_slot_is_called_once) {
    started_call call(false);
    EXPECT_FALSE(call.signal);
    call.end(grpc::Status());
    EXPECT_EQ(call.completions, 1);
}

// Twenty lookups of what does not exist kept all calls away from a service that worked.
TEST(grpc_calls, mistakes_of_callers_do_not_open_a_circuit_breaker) {
    const auto answered_twenty_times_with = [](grpc::StatusCode code) {
        const auto breaker = std::make_shared<reprise::circuit_breaker>();
        for (int call = 0; call < 20; ++call) {
            static_cast<void>(reprise::retry(reprise::attempts(1).breaker(breaker), [&] {
                return grpc_result(grpc::Status(code, "as planned"));
            }));
        }
        return breaker->state();
    };
    for (const auto code : {grpc::StatusCode::NOT_FOUND, grpc::StatusCode::CANCELLED}) {
        EXPECT_EQ(answered_twenty_times_with(code), reprise::circuit_state::closed);
    }
    for (const auto code : {grpc::StatusCode::INTERNAL, grpc::StatusCode::UNAVAILABLE}) {
        EXPECT_EQ(answered_twenty_times_with(code), reprise::circuit_state::open);
    }
}

}  // namespace
