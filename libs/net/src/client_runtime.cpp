#include "client_runtime.hpp"

#include <algorithm>
#include <system_error>

#include <boost/asio/io_context.hpp>

namespace reprise::net {

namespace asio = boost::asio;

std::expected<void, setup_error> client::runtime::begin(
    engine::engine_options&& options, const asio::any_io_executor* given) {
    const bool is_caller_driving = options.threads == couchbase::thread_mode::caller_drives;
    if (options.io_threads != 1 && given != nullptr) {
        return std::unexpected(setup_error{
            setup_errc::option_invalid, "io_threads must be 1 if the client runs on an executor"});
    }
    auto made_loops = std::make_shared<loop_list>();
    loop_count = options.io_threads;
    for (std::size_t index = 0; index < loop_count; ++index) {
        client_loop next;
        if (given == nullptr) {
            next.own = std::make_shared<own_loop>();
        }
        auto made =
            next.own ? driver::make(
                           next.own->context.get_executor(), options, context_owner::client, first)
                     : driver::make(*given, options, context_owner::caller);
        if (!made) {
            return std::unexpected(std::move(made.error()));
        }
        next.engine_driver = std::move(*made);
        if (next.own) {
            next.own->engine_driver = next.engine_driver;
        }
        made_loops->push_back(std::move(next));
        first = made_loops->front().engine_driver.get();
    }
    loops = std::move(made_loops);
    return given != nullptr || is_caller_driving ? std::expected<void, setup_error>()
                                                 : start_threads();
}

std::expected<void, setup_error> client::runtime::start_threads() {
    try {
        for (const client_loop& each : *loops) {
            each.engine_driver->set_shift(&each.own->shift);
            threads.emplace_back([running = each.own] { attend(*running); });
        }
    } catch (const std::system_error& error) {
        return std::unexpected(setup_error{setup_errc::no_resources, error.what()});
    }
    return {};
}

// Inside a loop nothing waits for the other loops either: a completion of theirs may be waiting for
// this thread.
void client::runtime::end() noexcept {
    if (!loops) {
        return;
    }
    const bool is_inside = is_loop_thread();
    const auto held = loops;
    for (const client_loop& each : *held) {
        each.engine_driver->run([at = each.engine_driver.get()] { at->stop(); });
    }
    for (const client_loop& each : *held) {
        if (each.own) {
            each.own->work.reset();
        }
    }
    for (std::thread& each : threads) {
        is_inside ? each.detach() : each.join();  // it ends when the loop runs out of work
    }
    if (is_inside) {
        return;
    }
    for (const client_loop& each : *held) {
        if (!each.own) {
            continue;
        }
        if (threads.size() != held->size()) {  // callers drive, or a thread could not be started
            each.own->turn.begin();
            const turn_end at_end(each.own->turn);
            run_while(*each.own, [] {}, [] { return true; });
        }
        each.own->engine_driver.reset();
    }
    loops.reset();
}

bool client::runtime::is_loop_thread() const noexcept {
    return std::ranges::any_of(*loops, [](const client_loop& each) { return each.is_run_here(); });
}

refusal client::runtime::wait_for_look(
    const client_loop& loop, const std::function<void(driver&)>& look) const {
    waiter<bool> done;
    const auto look_here = [&] {
        look(*loop.engine_driver);
        done.set(true);
    };
    const auto submit = [&] {
        // After `look_here` this call may have returned; the thread that runs the loop keeps it
        // alive.
        const bool is_accepted = loop.engine_driver->run([&look_here, own = loop.own.get()] {
            look_here();
            if (own != nullptr) {
                own->turn.announce();
            }
        });
        return is_accepted ? refusal::none : refusal::context_gone;
    };
    const refusal refused =
        is_caller_driven() ? drive_until_set(*loop.own, done, look_here, submit) : submit();
    if (refused == refusal::none) {
        (void)done.wait();
    }
    return refused;
}

refusal client::runtime::look_at_all(const std::function<void(driver&)>& look) const {
    if (is_loop_thread()) {
        // On another thread of a pool the strand may be busy. Only inside an iteration is it ours.
        // Other loops are busy with their own work.
        if (loop_count != 1 || (!first_own() && !first->is_running())) {
            return refusal::blocking_in_loop;
        }
        look(*first);
        return refusal::none;
    }
    const auto held = loops;
    for (const client_loop& each : *held) {
        if (const refusal refused = wait_for_look(each, look); refused != refusal::none) {
            return refused;
        }
    }
    return refusal::none;
}

refusal client::runtime::start_on_loops(
    keyspace_number where, engine::document_call&& call, engine::completion&& done,
    ticket cancel_with) const {
    if (is_for_all(where, call.kind, call.key)) {
        const engine::operation_request request({}, call);
        start_on_all(where, request, std::move(done), cancel_with);
        return refusal::none;
    }
    driver& to = driver_for(call.kind, call.key);
    return to.start(where, std::move(call), std::move(done), cancel_with);
}

// Through tasks, which no full queue refuses: a start that some loops have accepted goes on.
void client::runtime::start_on_all(
    keyspace_number where, const engine::operation_request& request, engine::completion&& done,
    ticket cancel_with) const {
    const auto joined = std::make_shared<joined_result>(loop_count, std::move(done));
    const auto held = loops;
    for (const client_loop& each : *held) {
        each.engine_driver->run(
            [at = each.engine_driver.get(), where, cancel_with, joined, own = request]() mutable {
                engine::completion part = [joined](engine::operation_result&& result) {
                    joined->add(std::move(result));
                };
                static_cast<void>(at->start(where, std::move(own), std::move(part), cancel_with));
            });
    }
}

refusal client::runtime::blocking_refusal() const noexcept {
    if (is_of_parent()) {
        return refusal::of_parent_process;
    }
    if (is_loop_thread()) {
        return refusal::blocking_in_loop;
    }
    return first->is_context_gone() ? refusal::context_gone : refusal::none;
}

keyspace_number client::runtime::keyspace(
    std::string_view bucket, std::string_view scope, std::string_view collection) {
    if (is_of_parent()) {
        return 0;  // a thread that does not exist here may hold the lock; nothing will be started
    }
    constexpr std::string_view default_name = "_default";
    names wanted{
        bucket, scope.empty() ? default_name : scope,
        collection.empty() ? default_name : collection};
    const std::scoped_lock lock(names_mutex_);
    const auto next = static_cast<keyspace_number>(names_.size());
    const auto [found, is_new] = names_.try_emplace(std::move(wanted), next);
    if (is_new) {
        // Holds the lock, so that the loops assign the same numbers in the same order.
        for (const client_loop& each : *loops) {
            each.engine_driver->run([at = each.engine_driver.get(), text = found->first] {
                at->add_keyspace(std::get<0>(text), std::get<1>(text), std::get<2>(text));
            });
        }
    }
    return found->second;
}

client::keyspace_names client::runtime::names_of(keyspace_number keyspace) const {
    if (is_of_parent()) {
        return {};  // as above
    }
    const std::scoped_lock lock(names_mutex_);
    const auto found =
        std::ranges::find(names_, keyspace, [](const auto& each) { return each.second; });
    return found == names_.end() ? keyspace_names{}
                                 : std::make_from_tuple<keyspace_names>(found->first);
}

}  // namespace reprise::net
