#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <future>

#include <grpcpp/grpcpp.h>
#include <shop.grpc.pb.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <reprise/asio/async_retry.hpp>
#include <reprise/asio/hedge.hpp>
#include <reprise/retry.hpp>
#include <reprise/retry/adapters/grpc.hpp>
#include <reprise/testing/virtual_clock.hpp>

#include "run_example.hpp"
#include "server_process.hpp"

// The gRPC adapter on a server in the same process, over a real socket.

namespace adapters {
namespace {

using namespace std::chrono_literals;
using grpc::Status;
using grpc::StatusCode;
using reprise::adapters::grpc_result;

/// The server's behaviour in one call.
using scripted_answer = std::function<Status(grpc::ServerContext&, shop::Stock&)>;

scripted_answer fails_with(StatusCode code) {
    return [code](auto&, auto&) { return Status(code, "as planned"); };
}
scripted_answer pushes_back(StatusCode code, std::string milliseconds) {
    return [code, milliseconds](grpc::ServerContext& context, auto&) {
        context.AddTrailingMetadata("grpc-retry-pushback-ms", milliseconds);
        return Status(code, "as planned");
    };
}
scripted_answer succeeds() {
    return [](auto&, shop::Stock& stock) {
        stock.set_count(7);
        return Status::OK;
    };
}
/// Takes longer than the client waits.
scripted_answer is_slow() {
    return [](grpc::ServerContext& context, auto&) {
        while (!context.IsCancelled()) {
            std::this_thread::yield();
        }
        return Status(StatusCode::CANCELLED, "too late");
    };
}

/// A serialized field of a message.
std::string field(int number, const std::string& bytes) {
    return std::string{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())} + bytes;
}
/// A google.rpc.Status with a RetryInfo of so many seconds.
std::string retry_info(char seconds) {
    return field(
        3, field(1, "type.googleapis.com/google.rpc.RetryInfo") +
               field(2, field(1, std::string{'\x08', seconds})));
}

/// Each call gets the next answer; the last one is repeated.
class scripted_shop final : public shop::Shop::Service {
public:
    explicit scripted_shop(std::vector<scripted_answer> answers) : answers_(std::move(answers)) {
        grpc::ServerBuilder builder;
        builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
        builder.RegisterService(this);
        server_ = builder.BuildAndStart();
        grpc::ChannelArguments arguments;
        arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
        stub_ = shop::Shop::NewStub(
            grpc::CreateCustomChannel(address(), grpc::InsecureChannelCredentials(), arguments));
    }
    ~scripted_shop() override { server_->Shutdown(std::chrono::system_clock::now() + 1s); }

    [[nodiscard]] std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
    [[nodiscard]] std::size_t calls() const noexcept { return calls_; }
    [[nodiscard]] shop::Shop::Stub& stub() const noexcept { return *stub_; }

    Status Find(grpc::ServerContext* context, const shop::Item*, shop::Stock* stock) override {
        return answers_[std::min(calls_++, answers_.size() - 1)](*context, *stock);
    }

private:
    std::vector<scripted_answer> answers_;
    std::atomic<std::size_t> calls_ = 0;
    int port_ = 0;
    std::unique_ptr<grpc::Server> server_;
    std::unique_ptr<shop::Shop::Stub> stub_;
};

/// One retried call: how it ended, and how long it waited before each retry.
struct blocking_call {
    grpc_result result;
    shop::Stock stock;
    reprise::retry_history history;
    std::vector<reprise::duration> waits;

    explicit blocking_call(
        scripted_shop& server,
        reprise::repeatability repeat = reprise::repeatability::unspecified) {
        reprise::testing::virtual_clock clock;
        reprise::standard_strategy strategy({.attempts_max = 3, .backoff = {.base = 1ms}});
        const reprise::call_options options{
            .attempt_timeout = 500ms, .repeat = repeat, .history = &history, .clock = &clock};
        result = reprise::retry(strategy, options, [&](const reprise::attempt& current) {
            grpc::ClientContext context;
            context.set_wait_for_ready(true);
            reprise::adapters::grpc_limit_time(context, current);
            return grpc_result(server.stub().Find(&context, {}, &stock), context);
        });
        waits = clock.waits();
    }
};

TEST(grpc_adapter, repeats_an_unavailable_call) {
    scripted_shop server({fails_with(StatusCode::UNAVAILABLE), succeeds()});
    const blocking_call call(server);
    EXPECT_TRUE(call.result.status().ok());
    EXPECT_EQ(call.stock.count(), 7);
    EXPECT_EQ(server.calls(), 2U);
}

TEST(grpc_adapter, never_repeats_what_may_have_been_done_if_it_is_not_repeatable) {
    scripted_shop server({fails_with(StatusCode::UNAVAILABLE), succeeds()});
    const blocking_call call(server, reprise::repeatability::not_repeatable);
    EXPECT_EQ(call.result.status().error_code(), StatusCode::UNAVAILABLE);
    EXPECT_EQ(server.calls(), 1U);
    EXPECT_TRUE(call.history.message_of(call.history.entries[0]).starts_with("UNAVAILABLE"));
}

TEST(grpc_adapter, reports_an_open_circuit_as_unavailable) {
    scripted_shop server({fails_with(StatusCode::UNAVAILABLE)});
    reprise::testing::virtual_clock clock;
    const auto breaker = std::make_shared<reprise::circuit_breaker>(
        reprise::circuit_breaker::options{.volume_threshold = 1});
    const auto find = [&] {
        const auto rule = reprise::attempts(1).breaker(breaker);
        return reprise::retry(rule, reprise::call_options{.clock = &clock}, [&] {
            grpc::ClientContext context;
            context.set_wait_for_ready(true);
            shop::Stock stock;
            return grpc_result(server.stub().Find(&context, {}, &stock), context);
        });
    };
    EXPECT_EQ(find().status().error_message(), "as planned");
    const grpc_result refused = find();
    EXPECT_EQ(refused.status().error_code(), StatusCode::UNAVAILABLE);
    EXPECT_EQ(refused.status().error_message(), "circuit breaker is open");
    EXPECT_EQ(server.calls(), 1U);
}

TEST(grpc_adapter, never_repeats_mistakes_and_aborted_calls) {
    for (const StatusCode code :
         {StatusCode::INVALID_ARGUMENT, StatusCode::NOT_FOUND, StatusCode::ABORTED,
          StatusCode::INTERNAL, StatusCode::FAILED_PRECONDITION, StatusCode::UNAUTHENTICATED}) {
        scripted_shop server({fails_with(code), succeeds()});
        const blocking_call call(server);
        EXPECT_EQ(call.result.status().error_code(), code);
        EXPECT_EQ(server.calls(), 1U) << code;
    }
}

TEST(grpc_adapter, waits_as_long_as_a_pushback_asks_for) {
    scripted_shop server({pushes_back(StatusCode::RESOURCE_EXHAUSTED, "4200"), succeeds()});
    const blocking_call call(server);
    EXPECT_TRUE(call.result.status().ok());
    EXPECT_EQ(call.waits, std::vector<reprise::duration>{4200ms});
}

TEST(grpc_adapter, never_repeats_what_a_pushback_forbids) {
    for (const char* value : {"-1", "soon"}) {
        scripted_shop server({pushes_back(StatusCode::UNAVAILABLE, value), succeeds()});
        const blocking_call call(server);
        EXPECT_EQ(call.result.status().error_code(), StatusCode::UNAVAILABLE);
        EXPECT_EQ(server.calls(), 1U) << value;
    }
}

TEST(grpc_adapter, waits_as_long_as_a_retry_info_asks_for) {
    scripted_shop server(
        {[](auto&, auto&) { return Status(StatusCode::ABORTED, "as planned", retry_info(9)); },
         succeeds()});
    const blocking_call call(server);
    EXPECT_TRUE(call.result.status().ok());
    EXPECT_EQ(call.waits, std::vector<reprise::duration>{9s});
}

TEST(grpc_adapter, ends_a_slow_call_in_time_and_repeats_it) {
    scripted_shop server({is_slow(), succeeds()});
    const blocking_call call(server);
    EXPECT_TRUE(call.result.status().ok());
    EXPECT_EQ(call.history.failed_attempts(), 1U);
}

// Each of several calls had all the time of the attempt.
TEST(grpc_adapter, gives_a_call_the_time_that_is_left_of_the_attempt) {
    reprise::testing::virtual_clock clock;
    const reprise::attempt current{.deadline = clock.now() + 1h, .timeout = 1h, .clock = &clock};
    grpc::ClientContext first;
    reprise::adapters::grpc_limit_time(first, current);
    EXPECT_EQ(first.raw_deadline().tv_sec, 3600);
    clock.advance(1h - 2s);
    grpc::ClientContext second;
    reprise::adapters::grpc_limit_time(second, current);
    EXPECT_EQ(second.raw_deadline().tv_sec, 2);
}

/// One attempt through the callback interface.
auto find_at(scripted_shop& server) {
    const auto initiate = [&server](const reprise::attempt& current, auto handler) {
        reprise::adapters::grpc_start<shop::Stock>(
            current, std::move(handler),
            [&server](grpc::ClientContext* context, shop::Stock* stock, auto done) {
                static const shop::Item item;
                server.stub().async()->Find(context, &item, stock, std::move(done));
            });
    };
    return initiate;
}

/// Starts a retried call through the callback interface; completes with any token.
template <class Executor, class Token>
auto async_find(
    Executor executor, scripted_shop& server, reprise::standard_strategy& strategy, Token token,
    reprise::duration attempt_timeout = 5s) {
    const reprise::async_call_options options{.attempt_timeout = attempt_timeout};
    return reprise::async_retry<void(grpc_result, shop::Stock)>(
        executor, strategy, options, find_at(server), std::move(token));
}

TEST(grpc_adapter, repeats_a_call_with_a_callback) {
    scripted_shop server(
        {fails_with(StatusCode::UNAVAILABLE), fails_with(StatusCode::UNAVAILABLE), succeeds()});
    reprise::standard_strategy strategy({.backoff = {.base = 1ms}});
    boost::asio::thread_pool threads(1);
    std::promise<int> count;
    async_find(
        threads.get_executor(), server, strategy,
        [&](const grpc_result& result, shop::Stock stock) {
            count.set_value(result.is_failure() ? -1 : stock.count());
        });
    EXPECT_EQ(count.get_future().get(), 7);
    EXPECT_EQ(server.calls(), 3U);
    threads.join();
}

TEST(grpc_adapter, repeats_a_call_in_a_coroutine) {
    scripted_shop server({fails_with(StatusCode::UNAVAILABLE), succeeds()});
    reprise::standard_strategy strategy({.backoff = {.base = 1ms}});
    boost::asio::io_context io;
    const auto work = [&]() -> boost::asio::awaitable<int> {
        auto [result, stock] =
            co_await async_find(io.get_executor(), server, strategy, boost::asio::use_awaitable);
        co_return result.is_failure() ? -1 : stock.count();
    };
    auto count = boost::asio::co_spawn(io, work(), boost::asio::use_future);
    io.run();
    EXPECT_EQ(count.get(), 7);
    EXPECT_EQ(server.calls(), 2U);
}

// The answer of the hedge was there, and the loop waited for the slow call until its time was over.
TEST(grpc_adapter, hedge_that_answers_first_cancels_the_slow_call) {
    std::atomic<bool> is_canceled = false;
    const scripted_answer waits_for_its_end = [&](grpc::ServerContext& context, auto& stock) {
        const auto ended = is_slow()(context, stock);
        is_canceled = std::chrono::system_clock::now() < context.deadline();
        return ended;
    };
    scripted_shop server({waits_for_its_end, succeeds()});
    boost::asio::thread_pool threads(1);
    const auto [result, stock] =
        reprise::async_retry<void(grpc_result, shop::Stock)>(
            threads.get_executor(), reprise::attempts(2),
            {.timeout = 60s, .repeat = reprise::repeatability::repeatable},
            reprise::hedged(20ms, find_at(server)), boost::asio::use_future)
            .get();
    EXPECT_TRUE(result.status().ok());
    EXPECT_EQ(stock.count(), 7);
    EXPECT_EQ(server.calls(), 2U);
    threads.join();
    EXPECT_TRUE(becomes_ready([&] { return is_canceled.load(); })) << "before its time was over";
}

// A loop cancels at the limit of an attempt, and so does gRPC: whichever is first, it is a timeout.
TEST(grpc_adapter, call_that_the_loop_canceled_at_the_limit_of_the_attempt_is_repeated) {
    for (int round = 0; round < 20; ++round) {
        scripted_shop server({is_slow(), succeeds()});
        reprise::standard_strategy strategy({.backoff = {.base = 1ms}});
        boost::asio::thread_pool threads(1);
        const auto [result, stock] =
            async_find(threads.get_executor(), server, strategy, boost::asio::use_future, 30ms)
                .get();
        EXPECT_TRUE(result.status().ok()) << result.message();
        threads.join();
    }
}

TEST(grpc_adapter, first_program_prints_the_stock) {
    scripted_shop server({pushes_back(StatusCode::UNAVAILABLE, "1"), succeeds()});
    const auto ran = run_example("example_4_adapters_grpc", {server.address()});
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_EQ(ran.output, "0 7\n");
}

}  // namespace
}  // namespace adapters
