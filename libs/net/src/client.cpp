#include <reprise/net/client.hpp>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/strand.hpp>
#include <boost/system/system_error.hpp>

#include "driver.hpp"
#include "process_mark.hpp"

namespace reprise::net {

namespace asio = boost::asio;

namespace {

// What a blocked caller waits for. set() notifies after it releases the lock, because the waiter
// would otherwise block on the lock again at once. set() may therefore still be running when the
// waiter wakes up. As this object is on the waiter's stack, wait() does not return before set() is
// done.
template <class Value>
class waiter {
public:
    void set(Value&& value) {
        {
            const std::scoped_lock lock(mutex_);
            value_ = std::move(value);
        }
        ready_.notify_one();
        is_released_.store(true, std::memory_order_release);
    }
    [[nodiscard]] Value wait() {
        {
            std::unique_lock lock(mutex_);
            ready_.wait(lock, [this] { return value_.has_value(); });
        }
        while (!is_released_.load(std::memory_order_acquire)) {
            std::this_thread::yield();
        }
        return std::move(*value_);
    }
    // Only for the thread that also runs the loop.
    [[nodiscard]] bool is_set() const noexcept { return value_.has_value(); }

private:
    std::mutex mutex_;
    std::condition_variable ready_;
    std::optional<Value> value_;
    std::atomic<bool> is_released_{false};
};

// A loop of our own. The thread or call that runs it shares ownership, because the client may be
// destroyed inside.
struct own_loop {
    asio::io_context context{1};
    asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
    std::shared_ptr<driver> engine_driver;  // after the context, so that it is destroyed first
    // caller_drives: held by the caller that runs the loop.
    std::mutex driving;
    std::atomic<std::thread::id> runner{};

    [[nodiscard]] bool is_run_here() const noexcept {
        return runner.load(std::memory_order_relaxed) == std::this_thread::get_id();
    }
};

// A strand of the caller's executor. That of an io_context is of its own type, which
// any_io_executor holds without an allocation for each copy.
asio::any_io_executor make_strand_of(const asio::any_io_executor& given) {
    if (const auto* loop = given.target<asio::io_context::executor_type>()) {
        return asio::make_strand(*loop);
    }
    return asio::make_strand(given);
}

// Calls `begin`, then runs the loop as its only driver while `is_wanted` and the loop has work.
template <class Begin, class Condition>
void run_while(own_loop& loop, const Begin& begin, const Condition& is_wanted) {
    loop.runner.store(std::this_thread::get_id(), std::memory_order_relaxed);
    loop.context.restart();
    begin();
    while (is_wanted() && loop.context.run_one() > 0) {
    }
    loop.runner.store(std::thread::id{}, std::memory_order_relaxed);
}

}  // namespace

class client::runtime {
public:
    std::shared_ptr<driver> engine_driver;
    std::shared_ptr<own_loop> loop;  // null if the client runs on the caller's executor
    std::optional<std::thread> thread;
    std::stop_source closing;
    const std::uint32_t made_in = process_mark();

    [[nodiscard]] std::expected<void, setup_error> begin(
        engine::engine_options&& options, const asio::any_io_executor* given);
    void end() noexcept;
    [[nodiscard]] bool is_caller_driven() const noexcept { return loop && !thread; }
    [[nodiscard]] bool is_loop_thread() const noexcept;
    [[nodiscard]] bool is_of_parent() const noexcept { return made_in != process_mark(); }
    // Why this thread cannot wait for the loop, if so.
    [[nodiscard]] refusal blocking_refusal() const noexcept;
    [[nodiscard]] keyspace_number keyspace(
        std::string_view bucket, std::string_view scope, std::string_view collection);
    [[nodiscard]] keyspace_names names_of(keyspace_number keyspace) const;

private:
    using names = std::tuple<std::string, std::string, std::string>;
    mutable std::mutex names_mutex_;
    std::map<names, keyspace_number> names_;
};

std::expected<void, setup_error> client::runtime::begin(
    engine::engine_options&& options, const asio::any_io_executor* given) {
    const couchbase::thread_mode mode = options.threads;
    if (given == nullptr) {
        loop = std::make_shared<own_loop>();
    }
    auto made = loop ? driver::make(loop->context.get_executor(), std::move(options))
                     : driver::make(make_strand_of(*given), std::move(options), *given);
    if (!made) {
        return std::unexpected(std::move(made.error()));
    }
    engine_driver = std::move(*made);
    if (!loop) {
        return {};
    }
    loop->engine_driver = engine_driver;
    if (mode == couchbase::thread_mode::caller_drives) {
        return {};
    }
    try {
        thread.emplace([running = loop] {
            running->runner.store(std::this_thread::get_id(), std::memory_order_relaxed);
            running->context.run();
        });
    } catch (const std::system_error& error) {
        return std::unexpected(setup_error{setup_errc::no_resources, error.what()});
    }
    return {};
}

void client::runtime::end() noexcept {
    if (!engine_driver) {
        return;
    }
    const bool is_inside = is_loop_thread();
    engine_driver->run([at = engine_driver.get()] { at->stop(); });
    if (!loop) {
        return;
    }
    loop->work.reset();
    if (thread) {
        if (is_inside) {
            thread->detach();  // it ends when the loop runs out of work
        } else {
            thread->join();
        }
    } else if (!is_inside) {
        const std::scoped_lock lock(loop->driving);
        run_while(*loop, [] {}, [] { return true; });
    }
    if (!is_inside) {
        engine_driver.reset();
        loop->engine_driver.reset();
    }
}

bool client::runtime::is_loop_thread() const noexcept {
    if (engine_driver->is_running()) {
        return true;
    }
    return loop ? loop->is_run_here() : engine_driver->is_run_by_this_thread();
}

refusal client::runtime::blocking_refusal() const noexcept {
    if (is_of_parent()) {
        return refusal::of_parent_process;
    }
    if (is_loop_thread()) {
        return refusal::blocking_in_loop;
    }
    return engine_driver->is_context_gone() ? refusal::context_gone : refusal::none;
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
        // Holds the lock, so that the loop assigns the same numbers in the same order.
        engine_driver->run([at = engine_driver.get(), text = found->first] {
            at->add_keyspace(std::get<0>(text), std::get<1>(text), std::get<2>(text));
        });
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
    runtime_->engine_driver->run(
        [at = runtime_->engine_driver.get(), name = std::string(bucket)] { at->open(name); });
}

refusal client::start(
    keyspace_number where, engine::operation_request&& request, engine::completion&& done,
    ticket cancel_with) {
    if (runtime_->is_of_parent()) {
        return refusal::of_parent_process;
    }
    return runtime_->engine_driver->start(where, std::move(request), std::move(done), cancel_with);
}

refusal client::start(
    keyspace_number where, engine::document_call&& call, engine::completion&& done,
    ticket cancel_with) {
    if (runtime_->is_of_parent()) {
        return refusal::of_parent_process;
    }
    return runtime_->engine_driver->start(where, std::move(call), std::move(done), cancel_with);
}

refusal client::start_http(engine::http_request&& request, engine::completion&& done, ticket name) {
    if (runtime_->is_of_parent()) {
        return refusal::of_parent_process;
    }
    return runtime_->engine_driver->start_http({name, std::move(request), std::move(done)});
}

refusal client::take_rows(ticket operation, row_receiver receive, engine::row_batch spare) {
    return post([at = runtime_->engine_driver.get(), operation, receive = std::move(receive),
                 spare = std::move(spare)]() mutable {
        receive(at->take_rows(operation, std::move(spare)));
    });
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
        const refusal refused = start(where, std::forward<Source>(source), std::move(done));
        if (refused != refusal::none) {
            return std::unexpected(refused);
        }
        return result.wait();
    }
    const auto loop = runtime_->loop;
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

refusal client::post(std::move_only_function<void()> task) {
    if (runtime_->is_of_parent()) {
        return refusal::of_parent_process;
    }
    return runtime_->engine_driver->run(std::move(task)) ? refusal::none : refusal::context_gone;
}

refusal client::await(const std::function<void(std::move_only_function<void()> done)>& begin) {
    if (const refusal refused = runtime_->blocking_refusal(); refused != refusal::none) {
        return refused;
    }
    waiter<bool> ended;
    const auto start_it = [&] { begin([&ended] { ended.set(true); }); };
    if (runtime_->is_caller_driven()) {
        const auto loop = runtime_->loop;
        const std::scoped_lock lock(loop->driving);
        run_while(*loop, start_it, [&] { return !ended.is_set(); });
    } else {
        start_it();
    }
    (void)ended.wait();
    return refusal::none;
}

ticket client::reserve_ticket() noexcept {
    return runtime_->engine_driver->reserve_ticket();
}

void client::cancel(ticket operations) noexcept {
    if (runtime_->is_of_parent()) {
        return;
    }
    runtime_->engine_driver->run(
        [at = runtime_->engine_driver.get(), operations] { at->cancel(operations); });
}

refusal client::replace_credentials(engine::credentials identity) {
    if (runtime_->is_of_parent()) {
        return refusal::of_parent_process;
    }
    const bool is_accepted = runtime_->engine_driver->run(
        [at = runtime_->engine_driver.get(), identity = std::move(identity)]() mutable {
            at->replace_credentials(std::move(identity));
        });
    return is_accepted ? refusal::none : refusal::context_gone;
}

void client::close() {
    if (runtime_->is_of_parent()) {
        return;
    }
    runtime_->closing.request_stop();  // first, because a completion may destroy this client
    runtime_->engine_driver->run([at = runtime_->engine_driver.get()] { at->close(); });
}

std::stop_token client::closed() const noexcept {
    return runtime_->closing.get_token();
}

refusal client::drive(duration time) {
    if (!runtime_->is_caller_driven()) {
        return refusal::not_driven;
    }
    if (const refusal refused = runtime_->blocking_refusal(); refused != refusal::none) {
        return refused;
    }
    const auto loop = runtime_->loop;
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
    const auto& engine = runtime_->engine_driver->engine();
    if (runtime_->is_loop_thread()) {
        // On another thread of a pool the strand may be busy. Only inside an iteration is it ours.
        if (runtime_->loop || runtime_->engine_driver->is_running()) {
            look(engine);
            return refusal::none;
        }
        return refusal::blocking_in_loop;
    }
    if (runtime_->is_caller_driven()) {
        const std::scoped_lock lock(runtime_->loop->driving);
        look(engine);
        return refusal::none;
    }
    waiter<bool> done;
    const bool is_accepted = runtime_->engine_driver->run([&] {
        look(engine);
        done.set(true);
    });
    if (!is_accepted) {
        return refusal::context_gone;
    }
    (void)done.wait();
    return refusal::none;
}

std::expected<client_report, refusal> client::describe() {
    client_report seen;
    const refusal refused =
        inspect([&](const engine::client_engine&) { seen = runtime_->engine_driver->describe(); });
    if (refused != refusal::none) {
        return std::unexpected(refused);
    }
    return seen;
}

bool client::is_loop_thread() const noexcept {
    return runtime_->is_loop_thread();
}

}  // namespace reprise::net
