#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/engine/client_engine.hpp>
#include <reprise/engine/engine_options.hpp>

namespace boost::asio {
class any_io_executor;
}

namespace reprise::net {

class driver;

/// Why a client could not be created.
enum class setup_errc : std::uint8_t {
    option_invalid = 1,
    certificate_unreadable,  ///< a file or PEM text cannot be used
    name_service,            ///< the given name servers are invalid
    no_resources,            ///< the system has no thread or file descriptor left
};

struct setup_error {
    setup_errc code = setup_errc::option_invalid;
    std::string text;  ///< a readable explanation
};

/// Why an operation was not accepted. It has no effect, and its completion is not called.
enum class refusal : std::uint8_t {
    none,
    queue_full,         ///< submission_count_max operations are waiting for the loop
    blocking_in_loop,   ///< a blocking call on a thread that would have to complete it
    not_driven,         ///< `drive` was called, but the callers do not run the loop
    of_parent_process,  ///< this process is a fork of the client's process
    context_gone        ///< the context of the caller's executor was destroyed
};

/// One connection as its engine and its socket report it.
struct connection_report {
    engine::endpoint_diagnostics endpoint{};
    std::string local{};                 ///< "address:port"; empty unless the connection is open
    std::optional<duration> idle_for{};  ///< time since its last use; empty if it was never used
};

struct client_report {
    std::uint64_t client = 0;  ///< the id that servers log for this client
    std::vector<connection_report> connections{};
};

/// Identifies a (bucket, scope, collection) that `keyspace` has registered.
using keyspace_number = std::uint32_t;
/// Identifies an operation for `cancel`. An operation with ticket 0 cannot be canceled.
using ticket = std::uint64_t;
/// One of the client's loops, from 0.
using loop_number = std::size_t;

/// An engine for each of its loops with everything they need: sockets, TLS, name resolution and
/// time. All members may be called from any thread, and from completions, except where noted.
///
/// engine_options::io_threads is the number of loops, each with its own thread. An operation runs
/// on one loop, which its key determines; HTTP services and operations without a key are on loop 0.
///
///     make -> keyspace -> start/call ... -> close (optional) -> destructor
///
/// Completions run on their loop's thread, one at a time on each loop. Destroying the client
/// completes open operations with request_canceled. If the client has its own thread or its callers
/// drive it, that happens before the destructor returns. Otherwise it happens on your executor, or
/// when its context is destroyed. A completion may destroy the client.
///
/// The context of your executor may be destroyed first, once no thread runs it any more. That
/// completes open operations, on the thread that destroys it; the client then refuses everything
/// with context_gone.
///
/// A client is dead in a process forked from the one that created it. Members that return a refusal
/// return of_parent_process; all others, including the destructor, do nothing. They touch nothing
/// that belongs to the parent: threads, locks, and the poll set that both processes share.
class client {
public:
    [[nodiscard]] static std::expected<std::unique_ptr<client>, setup_error> make(
        engine::engine_options options);
    /// Runs on the caller's executor, one handler at a time, as one loop. Ignores `threads`.
    [[nodiscard]] static std::expected<std::unique_ptr<client>, setup_error> make(
        engine::engine_options options, const boost::asio::any_io_executor& executor);
    ~client();
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    /// Registers a keyspace. An empty scope or collection means `_default`. Equal names return
    /// equal numbers.
    [[nodiscard]] keyspace_number keyspace(
        std::string_view bucket, std::string_view scope = {}, std::string_view collection = {});
    /// The names of a keyspace, with `_default` where they were empty.
    struct keyspace_names {
        std::string bucket{};
        std::string scope{};
        std::string collection{};
    };
    [[nodiscard]] keyspace_names names_of(keyspace_number keyspace) const;
    /// Starts to connect to the bucket, or to the cluster if `bucket` is empty.
    void open(std::string_view bucket);

    /// Submits the operation and sets request.keyspace from `where`. A `noop` on a bucket without a
    /// node's name asks whether the bucket can be used: every loop asks, and the first failure is
    /// the result. Calls `done` once, later and
    /// never from inside this call. Does not call it if it returns a refusal.
    [[nodiscard]] refusal start(
        keyspace_number where, engine::operation_request&& request, engine::completion&& done,
        ticket cancel_with = 0);
    /// The same. Copies the call's key and value before it returns.
    [[nodiscard]] refusal start(
        keyspace_number where, engine::document_call&& call, engine::completion&& done,
        ticket cancel_with = 0);
    /// Like `start`, on this loop, for a call that consists of several operations.
    [[nodiscard]] refusal start_on(
        loop_number loop, keyspace_number where, engine::operation_request&& request,
        engine::completion&& done, ticket cancel_with);
    /// The loop of all operations with this key.
    [[nodiscard]] loop_number loop_of(std::string_view key) const noexcept;
    /// A loop for a call that has no key: another one each time.
    [[nodiscard]] loop_number choose_loop() noexcept;
    /// Like `start`, but waits for the result.
    [[nodiscard]] std::expected<engine::operation_result, refusal> call(
        keyspace_number where, engine::operation_request&& request);
    [[nodiscard]] std::expected<engine::operation_result, refusal> call(
        keyspace_number where, engine::document_call&& call);
    /// Like `start`, for an HTTP service. Calls request.on_rows on the loop. `name` identifies the
    /// operation for `cancel` and take_rows, so an operation whose rows are taken needs its own
    /// ticket. With 0 it can be neither canceled nor read.
    [[nodiscard]] refusal start_http(
        engine::http_request&& request, engine::completion&& done, ticket name = 0);
    /// Calls `receive` on the loop, later, with the rows that are waiting. It receives nothing if
    /// the operation has ended or has not started; the remaining rows are then in its result.
    /// Taking rows makes room for more and rules out a retry of the operation. The memory of
    /// `spare` is reused.
    using row_receiver = std::move_only_function<void(std::optional<engine::row_batch> rows)>;
    [[nodiscard]] refusal take_rows(
        ticket operation, row_receiver receive, engine::row_batch spare = {}, loop_number loop = 0);
    /// Runs `task` on the loop, later and in the order of the starts. It must not own the client.
    [[nodiscard]] refusal post(std::move_only_function<void()> task, loop_number loop = 0);
    /// Calls `begin` with a function and waits until that function is called, which may happen once
    /// and on any thread.
    [[nodiscard]] refusal await(
        const std::function<void(std::move_only_function<void()> done)>& begin);
    /// Returns a number that was never used before. Pass it to `start`; you may then call `cancel`
    /// at any time.
    [[nodiscard]] ticket reserve_ticket() noexcept;
    /// Cancels all operations started with this ticket.
    void cancel(ticket operations) noexcept;
    /// Applies to every later authentication. Open connections stay open.
    [[nodiscard]] refusal replace_credentials(engine::credentials identity);
    /// Cancels all operations and closes all connections, in the background.
    void close();
    /// Runs the loop for this long, or until it has no work left. Only for caller_drives.
    [[nodiscard]] refusal drive(duration time);

    /// Runs `look` on loop 0 and waits for it. On the thread of a loop, looks at that loop at once.
    [[nodiscard]] refusal inspect(const std::function<void(const engine::client_engine&)>& look);
    /// The figures of all loops together. Waits for every loop; with several of them it is refused
    /// on their threads (blocking_in_loop).
    [[nodiscard]] std::expected<engine::engine_statistics, refusal> statistics();
    /// Reports the current state of all connections without I/O. Waits like `statistics`.
    [[nodiscard]] std::expected<client_report, refusal> describe();
    /// Both without waiting. `done` is called once, on a loop or by what ends the client. It is not
    /// called if the start is refused.
    template <class Figures>
    using figures_receiver = std::move_only_function<void(Figures&&)>;
    [[nodiscard]] refusal start_statistics(figures_receiver<engine::engine_statistics> done);
    [[nodiscard]] refusal start_describe(figures_receiver<client_report> done);

    /// False if it runs on an executor of the program, which may not be running.
    [[nodiscard]] bool has_own_loop() const noexcept;
    /// Whether a blocking call from this thread would wait for itself.
    [[nodiscard]] bool is_loop_thread() const noexcept;

private:
    class runtime;
    template <class Source>
    [[nodiscard]] std::expected<engine::operation_result, refusal> wait_for(
        keyspace_number where, Source&& source);
    explicit client(std::unique_ptr<runtime> loop) noexcept;
    static std::expected<std::unique_ptr<client>, setup_error> make_with(
        engine::engine_options&& options, const boost::asio::any_io_executor* executor);
    std::unique_ptr<runtime> runtime_;
};

/// The current time, for deadlines that span several operations.
[[nodiscard]] time_point steady_now() noexcept;
/// Returns bits from the system's random source, for names that no other process uses.
[[nodiscard]] std::uint64_t random_bits();
/// Seconds since 1970, for expiry times.
[[nodiscard]] std::chrono::sys_seconds wall_clock_now() noexcept;

}  // namespace reprise::net
