#include <reprise/net/client.hpp>

#include <algorithm>
#include <functional>
#include <utility>

#include <boost/system/system_error.hpp>

#include "client_loops.hpp"
#include "client_runtime.hpp"
#include "driver.hpp"

namespace reprise::net {

namespace asio = boost::asio;

client::client(std::unique_ptr<runtime> loop) noexcept : runtime_(std::move(loop)) {}

client::~client() {
    if (runtime_->is_of_parent()) {
        // Closing would change the poll set that is shared with the parent, and joining would wait
        // for a thread that does not exist here.
        static_cast<void>(runtime_.release());
        return;
    }
    runtime_->end();
}

// A loop needs file descriptors. Its constructor throws if there are none.
std::expected<std::unique_ptr<client>, setup_error> client::make_with(
    engine::engine_options&& options, const asio::any_io_executor* executor) {
    try {
        auto loop = std::make_unique<runtime>();
        if (auto begun = loop->begin(std::move(options), executor); !begun) {
            loop->end();
            return std::unexpected(std::move(begun.error()));
        }
        return std::unique_ptr<client>(new client(std::move(loop)));
    } catch (const boost::system::system_error& error) {
        return std::unexpected(setup_error{setup_errc::no_resources, error.what()});
    }
}

std::expected<std::unique_ptr<client>, setup_error> client::make(engine::engine_options options) {
    return make_with(std::move(options), nullptr);
}

std::expected<std::unique_ptr<client>, setup_error> client::make(
    engine::engine_options options, const asio::any_io_executor& executor) {
    return make_with(std::move(options), &executor);
}

keyspace_number client::keyspace(
    std::string_view bucket, std::string_view scope, std::string_view collection) {
    return runtime_->keyspace(bucket, scope, collection);
}

client::keyspace_names client::names_of(keyspace_number keyspace) const {
    return runtime_->names_of(keyspace);
}

void client::open(std::string_view bucket) {
    if (runtime_->is_of_parent()) {
        return;
    }
    for (const client_loop& each : *runtime_->loops) {
        each.engine_driver->run([at = each.engine_driver.get(), name = std::string(bucket)] {
            at->engine().open(name, at->now());
        });
        if (bucket.empty()) {
            return;  // only loop 0 asks the cluster itself
        }
    }
}

refusal client::start(
    keyspace_number where, engine::operation_request&& request, engine::completion&& done,
    ticket cancel_with) {
    if (runtime_->is_of_parent()) {
        return refusal::of_parent_process;
    }
    if (runtime_->is_for_all(where, request.kind, request.key.text())) [[unlikely]] {
        runtime_->start_on_all(where, request, std::move(done), cancel_with);
        return refusal::none;
    }
    driver& to = runtime_->driver_for(request.kind, request.key.text());
    return to.start(where, std::move(request), std::move(done), cancel_with);
}

refusal client::start(
    keyspace_number where, engine::document_call&& call, engine::completion&& done,
    ticket cancel_with) {
    if (runtime_->is_of_parent()) {
        return refusal::of_parent_process;
    }
    if (runtime_->loop_count != 1) [[unlikely]] {
        return runtime_->start_on_loops(where, std::move(call), std::move(done), cancel_with);
    }
    return runtime_->first->start(where, std::move(call), std::move(done), cancel_with);
}

refusal client::start_on(
    loop_number loop, keyspace_number where, engine::operation_request&& request,
    engine::completion&& done, ticket cancel_with) {
    if (runtime_->is_of_parent()) {
        return refusal::of_parent_process;
    }
    return runtime_->at(loop).start(where, std::move(request), std::move(done), cancel_with);
}

loop_number client::loop_of(std::string_view key) const noexcept {
    return runtime_->loop_of(key);
}

loop_number client::choose_loop() noexcept {
    return runtime_->next_loop.fetch_add(1, std::memory_order_relaxed) % runtime_->loop_count;
}

refusal client::start_http(engine::http_request&& request, engine::completion&& done, ticket name) {
    if (runtime_->is_of_parent()) {
        return refusal::of_parent_process;
    }
    return runtime_->first->start_http({name, std::move(request), std::move(done)});
}

refusal client::take_rows(
    ticket operation, row_receiver receive, engine::row_batch spare, loop_number loop) {
    auto take = [at = &runtime_->at(loop), operation, receive = std::move(receive),
                 spare = std::move(spare)]() mutable {
        receive(at->take_rows(operation, std::move(spare)));
    };
    return post(std::move(take), loop);
}

// `source` is what the request is, or is built from.
template <class Source>
std::expected<engine::operation_result, refusal> client::wait_for(
    keyspace_number where, Source&& source) {
    if (const refusal refused = runtime_->blocking_refusal(); refused != refusal::none) {
        return std::unexpected(refused);
    }
    waiter<engine::operation_result> result;
    engine::completion done = [&result](engine::operation_result&& value) {
        result.set(std::move(value));
    };
    if (!runtime_->is_caller_driven()) {
        own_loop* const lent = runtime_->lendable_loop(where, source.kind, key_of(source));
        const auto try_start = [&] {
            return lent->engine_driver->try_start_lent(
                where, std::forward<Source>(source), std::move(done));
        };
        if (lent != nullptr && try_run_lent(*lent, try_start, result)) {
            return result.wait();
        }
        const refusal refused = start(where, std::forward<Source>(source), std::move(done));
        if (refused != refusal::none) {
            return std::unexpected(refused);
        }
        return result.wait();
    }
    const auto loop = runtime_->loops->front().own;
    const refusal refused = drive_until_set(
        *loop, result,
        [&] {
            loop->engine_driver->start_here(where, std::forward<Source>(source), std::move(done));
        },
        [&] {
            done = [&result, turn = &loop->turn](engine::operation_result&& value) {
                result.set(std::move(value));
                turn->announce();
            };
            return start(where, std::forward<Source>(source), std::move(done));
        });
    if (refused != refusal::none) {
        return std::unexpected(refused);
    }
    return result.wait();
}

std::expected<engine::operation_result, refusal> client::call(
    keyspace_number where, engine::operation_request&& request) {
    return wait_for(where, std::move(request));
}

std::expected<engine::operation_result, refusal> client::call(
    keyspace_number where, engine::document_call&& call) {
    return wait_for(where, std::move(call));
}

refusal client::post(std::move_only_function<void()> task, loop_number loop) {
    if (runtime_->is_of_parent()) {
        return refusal::of_parent_process;
    }
    return runtime_->at(loop).run(std::move(task)) ? refusal::none : refusal::context_gone;
}

refusal client::await(const std::function<void(std::move_only_function<void()> done)>& begin) {
    if (const refusal refused = runtime_->blocking_refusal(); refused != refusal::none) {
        return refused;
    }
    waiter<bool> ended;
    const auto loop = runtime_->loops->front().own;
    const auto start_it = [&] {
        begin([&ended, own = loop.get()] {
            ended.set(true);
            if (own != nullptr) {
                own->turn.announce();
            }
        });
        return refusal::none;
    };
    if (runtime_->is_caller_driven()) {
        static_cast<void>(drive_until_set(*loop, ended, start_it, start_it));
    } else {
        static_cast<void>(start_it());
    }
    (void)ended.wait();
    return refusal::none;
}

ticket client::reserve_ticket() noexcept {
    return runtime_->ticket_last.fetch_add(1, std::memory_order_relaxed) + 1;
}

void client::cancel(ticket operations) noexcept {
    if (runtime_->is_of_parent()) {
        return;
    }
    const auto held = runtime_->loops;
    for (const client_loop& each : *held) {
        each.engine_driver->run(
            [at = each.engine_driver.get(), operations] { at->cancel(operations); });
    }
}

refusal client::replace_credentials(engine::credentials identity) {
    if (runtime_->is_of_parent()) {
        return refusal::of_parent_process;
    }
    // The loops notify each other.
    const bool is_accepted =
        runtime_->first->run([at = runtime_->first, identity = std::move(identity)]() mutable {
            at->engine().replace_credentials(std::move(identity));
        });
    return is_accepted ? refusal::none : refusal::context_gone;
}

void client::close() {
    if (runtime_->is_of_parent()) {
        return;
    }
    const auto held = runtime_->loops;
    for (const client_loop& each : *held) {
        each.engine_driver->run([at = each.engine_driver.get()] { at->close(); });
    }
}

refusal client::drive(duration time) {
    if (!runtime_->is_caller_driven()) {
        return refusal::not_driven;
    }
    if (const refusal refused = runtime_->blocking_refusal(); refused != refusal::none) {
        return refused;
    }
    const auto loop = runtime_->loops->front().own;
    const auto until = reprise::driver::add_saturated(std::chrono::steady_clock::now(), time);
    if (!loop->turn.begin_until(until)) {
        return refusal::none;  // another caller ran it all the time
    }
    const turn_end at_end(loop->turn);
    loop->runner.store(std::this_thread::get_id(), std::memory_order_relaxed);
    loop->context.restart();
    while (loop->context.run_one_until(until) > 0) {
    }
    loop->runner.store(std::thread::id{}, std::memory_order_relaxed);
    return refusal::none;
}

refusal client::inspect(const std::function<void(const engine::client_engine&)>& look) {
    if (runtime_->is_of_parent()) {
        return refusal::of_parent_process;
    }
    const auto held = runtime_->loops;
    const auto here =
        std::ranges::find_if(*held, [](const client_loop& each) { return each.is_run_here(); });
    if (here != held->end()) {
        // On another thread of a pool the strand may be busy. Only inside an iteration is it ours.
        if (!here->own && !here->engine_driver->is_running()) {
            return refusal::blocking_in_loop;
        }
        look(here->engine_driver->engine());
        return refusal::none;
    }
    return runtime_->wait_for_look(held->front(), [&](const driver& seen) { look(seen.engine()); });
}

std::expected<engine::engine_statistics, refusal> client::statistics() {
    return runtime_->figures<engine::engine_statistics>();
}

std::expected<client_report, refusal> client::describe() {
    return runtime_->figures<client_report>();
}

refusal client::start_statistics(figures_receiver<engine::engine_statistics> done) {
    return runtime_->start_figures(std::move(done));
}

refusal client::start_describe(figures_receiver<client_report> done) {
    return runtime_->start_figures(std::move(done));
}

bool client::has_own_loop() const noexcept {
    return runtime_->first_own() != nullptr;
}

bool client::is_loop_thread() const noexcept {
    return runtime_->is_loop_thread();
}

}  // namespace reprise::net
