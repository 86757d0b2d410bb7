#include <gtest/gtest.h>

#include <array>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <reprise/couchbase/asio.hpp>
#include <reprise/retry.hpp>

#include "live_cluster.hpp"
#include "write_ledger.hpp"

// Tests invariants with random mixtures of calls: operations, timeouts, strategies with odd habits,
// lent allowances, cancellations and the end of the client, in every thread mode, on a cluster that
// refuses, delays and loses requests and closes connections. The number of a case determines its
// mixture.

namespace random_calls_test {

using namespace live;
namespace asio = boost::asio;
namespace driver = reprise::driver;
using reprise::wire::opcode;

enum class loops { own_thread, callers, one_thread_of_the_program, pool_of_the_program, two };

// How a strategy answers: always with a retry, if it answers.
enum class habit { at_once, later, elsewhere, throws, never, answers_and_throws, before_now };
constexpr int habit_count = 7;

class odd_strategy final : public couchbase::retry_strategy {
public:
    odd_strategy(habit how, asio::thread_pool& elsewhere) : how_(how), elsewhere_(elsewhere) {}

    void retry_after(const couchbase::retry_question&, couchbase::retry_sink& sink) override {
        const auto soon = couchbase::retry_action::after(1ms);
        switch (how_) {
            case habit::at_once:
                return sink.answer(soon);
            case habit::later: {
                const std::scoped_lock lock(mutex_);
                held_.push_back(sink.defer());
                return;
            }
            case habit::elsewhere:
                asio::post(
                    elsewhere_, [answer = sink.defer(), soon]() mutable { answer.answer(soon); });
                return;
            case habit::throws:
                throw std::runtime_error("no idea");
            case habit::never:
                return;
            case habit::answers_and_throws:
                sink.answer(soon);
                throw std::runtime_error("too late");
            case habit::before_now:
                return sink.answer(couchbase::retry_action::after(-5ms));
        }
    }
    void answer_what_is_held() {
        std::vector<couchbase::deferred_answer> held;
        {
            const std::scoped_lock lock(mutex_);
            held.swap(held_);
        }
        for (auto& each : held) {
            each.answer(couchbase::retry_action::after(0ms));
        }
    }

private:
    habit how_;
    asio::thread_pool& elsewhere_;
    std::mutex mutex_;
    std::vector<couchbase::deferred_answer> held_;
};

struct call {
    std::string name;
    int ended = 0;
    std::uint32_t given = 0;
    std::unique_ptr<driver::retry_allowance> lent{};
    std::shared_ptr<odd_strategy> strategy{};
    std::optional<reprise::duration> timeout{};
    std::string written{};
    asio::cancellation_signal signal{};
};

class mixture {
public:
    mixture(loops how, unsigned number) : random_(number), how_(how) {
        disturb();
        auto options = app_options();
        options.kv_timeout = 300ms;
        switch (how) {
            case loops::own_thread:
                break;
            case loops::callers:
                options.threads = couchbase::thread_mode::caller_drives;
                break;
            case loops::one_thread_of_the_program:
                pool_.emplace(1);
                break;
            case loops::pool_of_the_program:
                pool_.emplace(2);
                break;
            case loops::two:
                options.io_threads = 2;
                break;
        }
        client_ = pool_
                      ? couchbase::connect(
                            pool_->get_executor(), server_->addresses().connection_string, options)
                            .value()
                      : connect(*server_, options);
        documents_ = documents(*client_);
    }
    ~mixture() {
        end_client();
        if (pool_) {
            pool_->join();
        }
        elsewhere_.join();
    }
    mixture(const mixture&) = delete;
    mixture& operator=(const mixture&) = delete;

    void run(int count) {
        const int closed_at = draw(2) == 0 ? count * 2 / 3 : count;
        const bool is_dropped = how_ != loops::callers && draw(2) == 0;
        for (int i = 0; i < count; ++i) {
            if (i == closed_at) {
                client_->close();
            }
            start_one();
            step();
        }
        if (is_dropped) {
            end_client();
        }
        EXPECT_TRUE(await([this] {
            step();
            return open_ == 0;
        })) << open_
            << " calls never ended";
        for (const call& each : calls_) {
            EXPECT_EQ(each.ended, 1) << each.name;
        }
    }
    [[nodiscard]] sandbox::ledger_totals writes() const { return ledger_.totals(); }

private:
    [[nodiscard]] int draw(int count) {
        return static_cast<int>(random_() % static_cast<unsigned>(count));
    }
    void disturb() {
        const auto add = [&](sandbox::fault_effect effect, double probability) {
            sandbox::fault_rule rule;
            rule.ops = {opcode::get, opcode::set, opcode::get_replica};
            rule.when.probability = probability;
            rule.effect = std::move(effect);
            add_fault(*server_, rule);
        };
        add(sandbox::fault_status{}, 0.12);
        add(sandbox::fault_delay{30ms}, 0.1);
        add(sandbox::fault_no_answer{}, 0.08);
        add(sandbox::fault_close_after{}, 0.02);
    }
    // Handlers and cancellations run here, on the test's thread.
    void step() {
        for (call& each : calls_) {
            if (each.strategy) {
                each.strategy->answer_what_is_held();
            }
        }
        if (how_ == loops::callers && client_) {
            (void)client_->drive(1ms);
        }
        handlers_.restart();
        handlers_.poll();
    }
    void end_client() {
        documents_.reset();
        client_.reset();
    }

    template <class Options>
    [[nodiscard]] static Options options_of(const call& made) {
        Options options;
        options.timeout = made.timeout;
        options.strategy = made.strategy;
        options.outer_allowance = reprise::borrowed(made.lent.get());
        return options;
    }
    template <class Result>
    [[nodiscard]] auto handler(call& made) {
        return asio::bind_cancellation_slot(
            made.signal.slot(),
            asio::bind_executor(
                handlers_.get_executor(),
                [this, &made](const std::expected<Result, couchbase::error>& result) {
                    end(made, result);
                }));
    }
    template <class Result>
    void end(call& made, const std::expected<Result, couchbase::error>& result) {
        ++made.ended;
        --open_;
        if (made.lent) {
            EXPECT_LE(*made.lent->left(), made.given) << made.name << ": its allowance has grown";
        }
        if constexpr (requires { result->trace.retry_attempts; }) {
            if (made.lent && made.name != "get_any_replica") {
                const auto retries =
                    result ? result->trace.retry_attempts : result.error().info().retry_attempts;
                EXPECT_LE(made.given - *made.lent->left(), retries)
                    << made.name << ": pays for retries that were not made";
            }
        }
        if (!made.written.empty()) {
            ledger_.settle(made.written, result);
        }
    }

    void start_one() {
        call& made = calls_.emplace_back();
        constexpr std::array<reprise::duration, 4> timeouts{0ms, -3ms, 1ms, 20ms};
        if (const int which = draw(6); which < 4) {
            made.timeout = timeouts[static_cast<std::size_t>(which)];
        }
        if (const int which = draw(habit_count + 2); which < habit_count) {
            made.strategy = std::make_shared<odd_strategy>(static_cast<habit>(which), elsewhere_);
        }
        if (draw(2) == 0) {
            made.given = static_cast<std::uint32_t>(draw(4));
            made.lent = std::make_unique<driver::retry_allowance>(made.given);
        }
        const int cancellation = draw(4);
        ++open_;
        begin(made);
        if (cancellation == 1) {
            made.signal.emit(asio::cancellation_type::terminal);
        } else if (cancellation == 2) {
            call& other = calls_[static_cast<std::size_t>(draw(static_cast<int>(calls_.size())))];
            other.signal.emit(asio::cancellation_type::terminal);
        }
    }
    void begin(call& made) {
        const std::string key = "k" + std::to_string(draw(20));
        switch (draw(6)) {
            case 0:
                made.name = "get";
                return documents_->async_get(
                    key, options_of<couchbase::get_options>(made),
                    handler<couchbase::get_result>(made));
            case 1:
                made.name = "get_any_replica";
                return documents_->async_get_any_replica(
                    key, options_of<couchbase::get_replica_options>(made),
                    handler<couchbase::get_replica_result>(made));
            case 2:
                made.name = "get_all_replicas";
                return documents_->async_get_all_replicas(
                    key, options_of<couchbase::get_replica_options>(made),
                    handler<std::vector<couchbase::get_replica_result>>(made));
            case 3:
                made.name = "ping";
                return client_->async_ping(
                    options_of<couchbase::ping_options>(made),
                    handler<couchbase::ping_report>(made));
            case 4: {
                made.name = "blocking get";
                const auto result = documents_->get(key, options_of<couchbase::get_options>(made));
                return end(made, result);
            }
            default: {
                made.name = "upsert";
                made.written = ledger_.begin();
                auto options = options_of<couchbase::upsert_options>(made);
                if (draw(3) == 0) {
                    options.durability = couchbase::durability_level::majority;
                }
                return documents_->async_upsert(
                    key, plain_text{made.written}, options,
                    handler<couchbase::mutation_result>(made));
            }
        }
    }
    std::mt19937 random_;
    loops how_;
    std::unique_ptr<sandbox::embedded_cluster> server_ = start();
    write_ledger ledger_{*server_};
    asio::thread_pool elsewhere_{1};
    asio::io_context handlers_;
    std::deque<call> calls_;
    int open_ = 0;
    std::optional<asio::thread_pool> pool_;
    std::optional<couchbase::cluster> client_;
    std::optional<couchbase::collection> documents_;
};

class random_calls : public ::testing::TestWithParam<std::tuple<loops, unsigned>> {};

TEST_P(random_calls, end_once_pay_for_what_they_repeat_and_lose_nothing) {
    const auto [how, number] = GetParam();
    mixture calls(how, number);
    calls.run(200);
    const sandbox::ledger_totals writes = calls.writes();
    EXPECT_EQ(writes.lost, 0U);
    EXPECT_EQ(writes.duplicated, 0U);
    EXPECT_EQ(writes.phantom, 0U) << "reported as not applied";
}

INSTANTIATE_TEST_SUITE_P(
    mixtures, random_calls,
    ::testing::Combine(
        ::testing::Values(
            loops::own_thread, loops::callers, loops::one_thread_of_the_program,
            loops::pool_of_the_program, loops::two),
        ::testing::Range(1U, 4U)));

}  // namespace random_calls_test
