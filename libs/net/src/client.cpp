#include <reprise/net/client.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/system/system_error.hpp>

#include <reprise/wire/vbucket.hpp>

#include "client_loops.hpp"
#include "driver.hpp"
#include "process_mark.hpp"

namespace reprise::net {

namespace asio = boost::asio;
using engine::operation_kind;

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
        engine::engine_options&& options, const asio::any_io_executor* given);
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
    [[nodiscard]] driver& driver_for(operation_kind kind, std::string_view key) const noexcept {
        return loop_count == 1 || kind == operation_kind::noop ? *first : at(loop_of(key));
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
    // Whether the operation tells if the bucket can be used, which every loop must confirm.
    [[nodiscard]] bool is_for_all(
        keyspace_number where, operation_kind kind, std::string_view key) const {
        return loop_count != 1 && is_readiness_check(kind, key) && !names_of(where).bucket.empty();
    }
    void start_on_all(
        keyspace_number where, const engine::operation_request& request, engine::completion&& done,
        ticket cancel_with) const;
    // The loop of the operation if a blocked caller may run it: one that has a thread of ours.
    [[nodiscard]] own_loop* lendable_loop(
        keyspace_number where, operation_kind kind, std::string_view key) const {
        if (threads.empty() || is_for_all(where, kind, key)) {
            return nullptr;
        }
        return (*loops)[kind == operation_kind::noop ? 0 : loop_of(key)].own.get();
    }

private:
    [[nodiscard]] std::expected<void, setup_error> start_threads();

    using names = std::tuple<std::string, std::string, std::string>;
    mutable std::mutex names_mutex_;
    std::map<names, keyspace_number> names_;
};

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
            const std::scoped_lock lock(each.own->driving);
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
    if (is_caller_driven()) {
        const std::scoped_lock lock(loop.own->driving);
        look(*loop.engine_driver);
        return refusal::none;
    }
    waiter<bool> done;
    const bool is_accepted = loop.engine_driver->run([&] {
        look(*loop.engine_driver);
        done.set(true);
    });
    if (!is_accepted) {
        return refusal::context_gone;
    }
    (void)done.wait();
    return refusal::none;
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
    if (runtime_->is_for_all(where, call.kind, call.key)) [[unlikely]] {
        engine::operation_request request({}, call);
        runtime_->start_on_all(where, request, std::move(done), cancel_with);
        return refusal::none;
    }
    driver& to = runtime_->driver_for(call.kind, call.key);
    return to.start(where, std::move(call), std::move(done), cancel_with);
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
    const std::scoped_lock lock(loop->driving);
    run_while(
        *loop,
        [&] {
            loop->engine_driver->start_here(where, std::forward<Source>(source), std::move(done));
        },
        [&] { return !result.is_set(); });
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
    const auto start_it = [&] { begin([&ended] { ended.set(true); }); };
    if (runtime_->is_caller_driven()) {
        const auto loop = runtime_->loops->front().own;
        const std::scoped_lock lock(loop->driving);
        run_while(*loop, start_it, [&] { return !ended.is_set(); });
    } else {
        start_it();
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
    // The loops tell each other.
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
    const std::scoped_lock lock(loop->driving);
    const auto until = std::chrono::steady_clock::now() + time;
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

bool client::is_loop_thread() const noexcept {
    return runtime_->is_loop_thread();
}

}  // namespace reprise::net
