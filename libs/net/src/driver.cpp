#include "driver.hpp"

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include <boost/asio/execution/outstanding_work.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>

#include "connection.hpp"
#include "system_entropy.hpp"
#include "tls_context.hpp"

namespace reprise::net {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

// Rounds of one iteration before other handlers of the executor get a chance to run. Completions
// could otherwise start operations that complete immediately, forever.
constexpr int rounds_max = 64;

// Whether this thread runs the executor's own context.
bool is_running_here(const asio::any_io_executor& executor) noexcept {
    if (const auto* io = executor.target<asio::io_context::executor_type>()) {
        return io->running_in_this_thread();
    }
    if (const auto* pool = executor.target<asio::thread_pool::executor_type>()) {
        return pool->running_in_this_thread();
    }
    if (const auto* strand = executor.target<asio::strand<asio::io_context::executor_type>>()) {
        return strand->get_inner_executor().running_in_this_thread();
    }
    if (const auto* strand = executor.target<asio::strand<asio::thread_pool::executor_type>>()) {
        return strand->get_inner_executor().running_in_this_thread();
    }
    if (const auto* strand = executor.target<asio::strand<asio::any_io_executor>>()) {
        return strand->running_in_this_thread() || is_running_here(strand->get_inner_executor());
    }
    return false;
}

}  // namespace

std::expected<std::shared_ptr<driver>, setup_error> driver::make(
    const asio::any_io_executor& executor, engine::engine_options options, context_owner owner,
    const driver* first) {
    // Created only if it is used, and once for all loops, because reading the system's certificates
    // takes milliseconds.
    auto tls = first == nullptr ? nullptr : first->connections_.shared_tls();
    if (options.transport == wire::transport::tls && tls == nullptr) {
        auto made = make_tls_context(options.tls);
        if (!made) {
            return std::unexpected(std::move(made.error()));
        }
        tls = std::make_shared<asio::ssl::context>(std::move(*made));
    }
    // Sockets and timers keep the context running. An executor that does so itself has another
    // type, which is_running_here would not recognise.
    const auto turns =
        serial_executor::on(asio::prefer(executor, asio::execution::outstanding_work.untracked));
    auto resolver = name_resolver::make(turns, options);
    if (!resolver) {
        return std::unexpected(std::move(resolver.error()));
    }
    std::shared_ptr<driver> made(
        new driver(turns, std::move(options), std::move(tls), std::move(*resolver), owner, first));
    if (owner == context_owner::caller) {
        context_watch::add(executor, made);
    }
    // A strategy's deferred answer may outlive the client, and so may the hook.
    made->engine_->set_wake_hook([weak = made->weak_from_this()] {
        if (const auto self = weak.lock()) {
            self->run([at = self.get()] { at->engine_->on_wake(at->now_); });
        }
    });
    return made;
}

driver::driver(
    const serial_executor& executor, engine::engine_options&& options,
    std::shared_ptr<asio::ssl::context> tls, std::unique_ptr<name_resolver> resolver,
    context_owner owner, const driver* first)
    : gate_(owner),
      executor_(executor),
      options_(std::move(options)),
      connections_(*this, options_, std::move(tls), std::move(resolver)),
      timer_(executor),
      places_(
          first == nullptr ? std::make_shared<submission_places>(options_.submission_count_max)
                           : first->places_),
      queue_(places_) {
    key_worker_.emplace(executor);
    read_clock();
    auto identity = engine::take_credentials(options_);
    engine::randomness random{random_bits(), system_entropy};
    engine_ = first == nullptr ? std::make_unique<engine::client_engine>(
                                     options_, std::move(identity), std::move(random), now_)
                               : std::make_unique<engine::client_engine>(
                                     engine::client_engine::another_loop{first->engine()},
                                     std::move(random), now_);
}

driver::~driver() {
    cancel_all();
    connections_.clear();  // sockets first: the engine owns what they write
    engine_.reset();
}

void driver::cancel_all() {
    read_clock();
    running_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    take_submissions();
    engine_->close(now_);
    while (engine_->has_completions()) {
        engine_->drain_completions();
    }
    running_thread_.store(std::thread::id{}, std::memory_order_relaxed);
}

// The caller's executor must not outlive its context: the last copy of a strand uses services.
void driver::on_context_gone() noexcept {
    const auto self = shared_from_this();
    gate_.close();
    cancel_all();
    connections_.forget_context();
    key_worker_.reset();
    timer_.reset();
    executor_.forget_context();
}

bool driver::is_run_by_this_thread() const {
    const auto entered = gate_.enter();
    return entered && is_running_here(executor_.inner());
}

// Timers go first: what peers send must not delay what is due.
void driver::begin_event() {
    read_clock();
    if (armed_for_ <= now_) {
        engine_->on_time(now_);
    }
}

void driver::wake_loop() {
    auto self = weak_from_this().lock();
    if (self == nullptr) {
        return;  // the driver is being destroyed, so no loop needs to wake up
    }
    auto wake = [self = std::move(self)] {
        self->read_clock();
        self->run_engine();
    };
    const auto post = [&] { asio::post(executor_, stored_handler(wake_memory_, std::move(wake))); };
    if (shift_ != nullptr) {
        shift_->call_then(post);
    } else {
        post();
    }
}

refusal driver::start(
    keyspace_number where, engine::operation_request&& request, engine::completion&& done,
    ticket cancel_with) {
    // The registration of a new collection may still be in the queue. Then the operation must
    // follow it.
    if (can_start_now(where)) {
        start_now(where, std::move(request), std::move(done), cancel_with);
        return refusal::none;
    }
    return submit(operation_submission{where, cancel_with, std::move(request), std::move(done)});
}

refusal driver::start_otherwise(
    keyspace_number where, engine::document_call&& call, engine::completion&& done,
    ticket cancel_with) {
    if (!can_start_now(where)) {
        engine::operation_request request({}, call);
        request.copy_text(call);
        return submit(
            operation_submission{where, cancel_with, std::move(request), std::move(done)});
    }
    cancelable_.begin(cancel_with, std::move(done), [&](engine::completion&& kept) {
        return engine_->start(keyspaces_[where], std::move(call), std::move(kept), now_);
    });
    return refusal::none;
}

refusal driver::start_http(http_submission&& operation) {
    if (is_running()) {
        start_now(std::move(operation));
        return refusal::none;
    }
    return submit(std::make_unique<http_submission>(std::move(operation)));
}

refusal driver::submit(submission&& next) {
    // The loop may complete the operation at once, and its completion release the last handle.
    const auto held = weak_from_this().lock();
    const auto entered = gate_.enter();
    if (!entered) {
        return refusal::context_gone;
    }
    switch (queue_.push(std::move(next))) {
        case submission_queue::outcome::full:
            return refusal::queue_full;
        case submission_queue::outcome::taken_first:
            wake_loop();
            break;
        case submission_queue::outcome::taken:
            break;
    }
    return refusal::none;
}

bool driver::run(task_submission&& task) {
    const auto entered = gate_.enter();
    if (!entered) {
        return false;
    }
    if (queue_.push(std::move(task)) == submission_queue::outcome::taken_first) {
        wake_loop();
    }
    return true;
}

void driver::add_keyspace(
    std::string_view bucket, std::string_view scope, std::string_view collection) {
    keyspaces_.push_back(engine_->keyspace(bucket, scope, collection));
}

void driver::cancel(ticket operations) {
    cancelable_.visit(operations, [this](engine::operation_id each) {
        static_cast<void>(engine_->cancel(each, now_));  // its completion runs later
    });
}

std::optional<engine::row_batch> driver::take_rows(ticket operation, engine::row_batch&& spare) {
    const auto found = cancelable_.find(operation);
    engine::row_batch rows = std::move(spare);
    if (!found || !engine_->take_rows(*found, rows, now_)) {
        return std::nullopt;
    }
    return rows;
}

client_report driver::describe() const {
    auto seen = engine_->diagnostics();
    const time_point now = steady_now();
    client_report made;
    made.client = seen.client;
    made.connections.reserve(seen.endpoints.size());
    for (engine::endpoint_diagnostics& each : seen.endpoints) {
        connection_report report;
        report.local = connections_.local_address(each.connection);
        if (each.active_last) {
            report.idle_for = std::max(now - *each.active_last, duration::zero());
        }
        report.endpoint = std::move(each);
        made.connections.push_back(std::move(report));
    }
    return made;
}

void driver::close() {
    engine_->close(now_);
}

void driver::stop() {
    close();
    is_stopping_ = true;
    connections_.resolver().stop();
}

void driver::take_submissions() {
    if (queue_.empty()) {
        return;
    }
    if (is_lent_) {
        has_missed_queue_ = true;
        return;
    }
    queue_.take(taken_);
    for (auto& next : taken_) {
        if (auto* operation = std::get_if<operation_submission>(&next)) {
            start_now(
                operation->where, std::move(operation->request), std::move(operation->done),
                operation->cancel_with);
        } else if (auto* http = std::get_if<std::unique_ptr<http_submission>>(&next)) {
            start_now(std::move(**http));
        } else {
            std::get<task_submission>(next)();
        }
    }
    taken_.clear();
}

void driver::start_now(
    keyspace_number where, engine::operation_request&& request, engine::completion&& done,
    ticket cancel_with) {
    request.keyspace = keyspaces_[where];
    if (cancel_with == 0) {
        engine_->start(std::move(request), std::move(done), now_);
        return;
    }
    cancelable_.begin(cancel_with, std::move(done), [&](engine::completion&& kept) {
        return engine_->start(std::move(request), std::move(kept), now_);
    });
}

void driver::start_now(http_submission&& operation) {
    if (operation.name == 0) {
        engine_->start_http(std::move(operation.request), std::move(operation.done), now_);
        return;
    }
    cancelable_.begin(operation.name, std::move(operation.done), [&](engine::completion&& done) {
        return engine_->start_http(std::move(operation.request), std::move(done), now_);
    });
}

void driver::run_engine() {
    running_thread_.store(std::this_thread::get_id(), std::memory_order_relaxed);
    int rounds = 0;
    for (bool is_busy = true; is_busy && rounds < rounds_max; ++rounds) {
        take_submissions();
        engine_->take_actions(actions_);
        if (!actions_.empty()) {
            for (auto& action : actions_) {
                perform(action);
            }
            actions_.clear();
        }
        engine_->drain_completions();
        is_busy = engine_->has_work() || (!is_lent_ && !queue_.empty());
    }
    running_thread_.store(std::thread::id{}, std::memory_order_relaxed);
    if (rounds == rounds_max) {
        wake_loop();
    }
    if (is_stopping_ || !engine_->waits_until(armed_for_)) {
        arm_timer();
    }
}

void driver::perform(engine::driver_action& action) {
    if (const auto* write = std::get_if<engine::write_action>(&action)) [[likely]] {
        if (connection* at = connections_.find(write->connection)) {
            write->is_request_start ? at->flush_when_read() : at->flush();
        }
        return;
    }
    if (auto* connect = std::get_if<engine::connect_action>(&action)) {
        connections_.open(std::move(*connect));
        return;
    }
    if (const auto* resolve = std::get_if<engine::resolve_srv_action>(&action)) {
        resolve_srv(*resolve);
        return;
    }
    if (auto* derive = std::get_if<engine::derive_key_action>(&action)) {
        start_derivation(std::move(*derive));
        return;
    }
    if (const auto* read = std::get_if<engine::read_action>(&action)) {
        if (connection* at = connections_.find(read->connection)) {
            at->set_reading(!read->is_paused, read->size_max_bytes);
        }
    } else if (const auto* close = std::get_if<engine::close_action>(&action)) {
        if (connection* at = connections_.find(close->connection)) {
            at->close();
        }
    }
}

void driver::resolve_srv(const engine::resolve_srv_action& action) {
    connections_.resolver().find_srv(
        action.name, [weak = weak_from_this(),
                      question = action.resolution](std::vector<wire::bootstrap_address> found) {
            const auto self = weak.lock();
            if (self == nullptr) {
                return;
            }
            self->run([at = self.get(), question, found = std::move(found)] {
                at->engine_->on_resolved(question, found, at->now_);
            });
        });
}

void driver::start_derivation(engine::derive_key_action&& action) {
    key_worker_->derive(
        std::move(action.wanted),
        [weak = weak_from_this(), derivation = action.derivation](std::string key) {
            const auto self = weak.lock();
            if (self == nullptr) {
                return;
            }
            self->read_clock();
            self->engine_->on_key_derived(derivation, std::move(key), self->now_);
            self->run_engine();
        });
}

void driver::arm_timer() {
    const time_point due = is_stopping_
                               ? reprise::driver::no_deadline
                               : engine_->next_due().value_or(reprise::driver::no_deadline);
    if (due == reprise::driver::no_deadline) {
        if (std::exchange(armed_for_, reprise::driver::no_deadline) !=
            reprise::driver::no_deadline) {
            timer_->cancel();
        }
        return;
    }
    // A timer that fires early finds nothing due, which costs less than moving it each time that an
    // operation ends.
    if (due >= armed_for_) {
        return;
    }
    armed_for_ = due;
    timer_->expires_at(due);
    timer_->async_wait([weak = weak_from_this()](const error_code& ec) {
        const auto self = weak.lock();
        if (ec || self == nullptr) {
            return;
        }
        self->armed_for_ = reprise::driver::no_deadline;
        self->read_clock();
        self->engine_->on_time(self->now_);
        self->run_engine();
    });
}

std::uint64_t random_bits() {
    std::uint64_t bits = 0;
    static_cast<void>(system_entropy(std::as_writable_bytes(std::span(&bits, 1))));
    return bits;
}

time_point steady_now() noexcept {
    return std::chrono::steady_clock::now();
}

std::chrono::sys_seconds wall_clock_now() noexcept {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace reprise::net
