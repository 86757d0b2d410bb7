#pragma once

// The loops of a client with their threads, and how calls reach them.

#include <atomic>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <reprise/net/client.hpp>
#include <reprise/wire/vbucket.hpp>

#include "client_loops.hpp"
#include "driver.hpp"
#include "process_mark.hpp"

namespace reprise::net {

class client::runtime {
public:
    std::shared_ptr<const loop_list> loops;
    driver* first = nullptr;  // of loop 0: services, the cluster itself, and what has no key
    std::size_t loop_count = 1;
    std::vector<std::thread> threads;
    std::atomic<std::size_t> next_loop{0};
    std::atomic<ticket> ticket_last{0};
    const std::uint32_t made_in = watch_forks();

    [[nodiscard]] std::expected<void, setup_error> begin(
        engine::engine_options&& options, const boost::asio::any_io_executor* given);
    void end() noexcept;
    [[nodiscard]] own_loop* first_own() const noexcept { return loops->front().own.get(); }
    [[nodiscard]] bool is_caller_driven() const noexcept {
        return threads.empty() && loops->front().own != nullptr;
    }
    [[nodiscard]] bool is_loop_thread() const noexcept;
    [[nodiscard]] bool is_of_parent() const noexcept { return made_in != process_mark(); }
    // All operations on a key run on one loop, so first sends of one thread keep their order.
    [[nodiscard]] loop_number loop_of(std::string_view key) const noexcept {
        return loop_count == 1 || key.empty() ? 0 : wire::key_hash(key) % loop_count;
    }
    [[nodiscard]] driver& at(loop_number loop) const noexcept {
        return loop_count == 1 ? *first : *(*loops)[loop].engine_driver;
    }
    // A ping names its node instead of a key.
    [[nodiscard]] driver& driver_for(
        engine::operation_kind kind, std::string_view key) const noexcept {
        return loop_count == 1 || kind == engine::operation_kind::noop ? *first : at(loop_of(key));
    }
    // Why this thread cannot wait for the loop, if so.
    [[nodiscard]] refusal blocking_refusal() const noexcept;
    [[nodiscard]] keyspace_number keyspace(
        std::string_view bucket, std::string_view scope, std::string_view collection);
    [[nodiscard]] keyspace_names names_of(keyspace_number keyspace) const;
    // Runs `look` on the loop and waits for it. Not for a thread that runs a loop.
    [[nodiscard]] refusal wait_for_look(
        const client_loop& loop, const std::function<void(driver&)>& look) const;
    // The same on every loop in turn. With one loop also for the thread that runs it.
    [[nodiscard]] refusal look_at_all(const std::function<void(driver&)>& look) const;
    // The sum of what all loops report.
    template <class Figures>
    [[nodiscard]] std::expected<Figures, refusal> figures() const;
    template <class Figures>
    [[nodiscard]] refusal start_figures(figures_receiver<Figures>&& done) const;
    // Whether the operation shows if the bucket can be used, which every loop must confirm.
    [[nodiscard]] bool is_for_all(
        keyspace_number where, engine::operation_kind kind, std::string_view key) const {
        return loop_count != 1 && is_readiness_check(kind, key) && !names_of(where).bucket.empty();
    }
    void start_on_all(
        keyspace_number where, const engine::operation_request& request, engine::completion&& done,
        ticket cancel_with) const;
    // Starts it on the loop of its key, or on every loop, if there are several.
    [[nodiscard]] [[gnu::noinline]] refusal start_on_loops(
        keyspace_number where, engine::document_call&& call, engine::completion&& done,
        ticket cancel_with) const;
    // The loop of the operation if a blocked caller may run it: one that has a thread of ours.
    [[nodiscard]] own_loop* lendable_loop(
        keyspace_number where, engine::operation_kind kind, std::string_view key) const {
        if (threads.empty() || is_for_all(where, kind, key)) {
            return nullptr;
        }
        return (*loops)[kind == engine::operation_kind::noop ? 0 : loop_of(key)].own.get();
    }

private:
    [[nodiscard]] std::expected<void, setup_error> start_threads();

    using names = std::tuple<std::string, std::string, std::string>;
    mutable std::mutex names_mutex_;
    std::map<names, keyspace_number> names_;
};

template <class Figures>
std::expected<Figures, refusal> client::runtime::figures() const {
    if (is_of_parent()) {
        return std::unexpected(refusal::of_parent_process);
    }
    Figures sum;
    const refusal refused = look_at_all([&](const driver& each) { add_figures(sum, each); });
    if (refused != refusal::none) {
        return std::unexpected(refused);
    }
    return sum;
}

template <class Figures>
refusal client::runtime::start_figures(figures_receiver<Figures>&& done) const {
    if (is_of_parent()) {
        return refusal::of_parent_process;
    }
    const auto joined = std::make_shared<joined_figures<Figures>>(loop_count, std::move(done));
    const auto held = loops;
    for (const client_loop& each : *held) {
        const driver* at = each.engine_driver.get();
        if (!each.engine_driver->run([joined, at] { joined->add(*at); })) {
            return refusal::context_gone;  // only a caller's executor, which has one loop
        }
    }
    return refusal::none;
}

}  // namespace reprise::net
