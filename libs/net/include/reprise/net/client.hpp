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
#include <reprise/net/client_options.hpp>

namespace boost::asio {
class any_io_executor;
}

namespace reprise::net {

class driver;

// Why a client could not be made.
enum class setup_errc : std::uint8_t {
    option_invalid = 1,
    certificate_unreadable,  // a file or PEM text that cannot be used
    name_service,            // the name servers given make no sense
    no_resources,            // the system gave no thread or no file descriptor
};

struct setup_error {
    setup_errc code = setup_errc::option_invalid;
    std::string text;  // for people
};

// Why an operation was not even taken. It has no effect and its completion is not called.
enum class refusal : std::uint8_t {
    none,
    queue_full,        // submission_count_max operations wait for the loop
    blocking_in_loop,  // a blocking call from a thread that would have to finish it
    not_driven,        // `drive` in a mode where somebody else runs the loop
    of_parent_process  // this process was forked from the client's
};

// One connection as the engine and its socket see it.
struct connection_report {
    engine::endpoint_diagnostics endpoint{};
    std::string local{};                 // "address:port"; empty unless it is open
    std::optional<duration> idle_for{};  // since it was used last; absent: it never was
};

struct client_report {
    std::uint64_t client = 0;  // the number that servers know it by
    std::vector<connection_report> connections{};
};

// A (bucket, scope, collection) this client was told about.
using keyspace_number = std::uint32_t;
// Names an operation for `cancel`; 0: it cannot be canceled.
using ticket = std::uint64_t;

// One engine with everything it needs: a loop, sockets, TLS, names, time. All members may be called
// from any thread, also from completions, except where noted.
//
//     make -> keyspace -> start/call ... -> close (optional) -> destructor
//
// Completions run on the loop's thread, one at a time. Those still open when the client is
// destroyed are called with request_canceled: before the destructor returns if the client has its
// own thread or is driven by callers; on your executor, or when its context is destroyed,
// otherwise. The client may be destroyed from inside a completion.
//
// In a process forked from the one that made it a client is dead: what can refuse does so with
// of_parent_process, everything else, the destructor included, does nothing. Nothing that belongs
// to the parent is touched: threads, locks, the poll set that both processes share.
class client {
public:
    [[nodiscard]] static std::expected<std::unique_ptr<client>, setup_error> make(
        client_options options);
    // On the caller's executor, through a strand. `threads` is ignored.
    [[nodiscard]] static std::expected<std::unique_ptr<client>, setup_error> make(
        client_options options, const boost::asio::any_io_executor& executor);
    ~client();
    client(const client&) = delete;
    client& operator=(const client&) = delete;

    // Empty scope and collection mean `_default`. Equal names give equal numbers.
    [[nodiscard]] keyspace_number keyspace(
        std::string_view bucket, std::string_view scope = {}, std::string_view collection = {});
    // Begins to connect; empty: to the cluster.
    void open(std::string_view bucket);

    // Takes the operation; request.keyspace is set from `where`. `done` is called once, later,
    // never from inside, unless it was refused.
    [[nodiscard]] refusal start(
        keyspace_number where, engine::operation_request&& request, engine::completion&& done,
        ticket cancel_with = 0);
    // As `start`, and waits for the result.
    [[nodiscard]] std::expected<engine::operation_result, refusal> call(
        keyspace_number where, engine::operation_request&& request);
    // As `start`, for an HTTP service. request.on_rows is called on the loop. `name` serves
    // `cancel` and take_rows, so it must be a ticket of its own for an operation whose rows are
    // taken; 0: it can be neither canceled nor read.
    [[nodiscard]] refusal start_http(
        engine::http_request&& request, engine::completion&& done, ticket name = 0);
    // Calls `receive` on the loop, later, with the rows that wait; absent: the operation has ended
    // or has not begun, and rows that were left are in its result. Rows that were taken make room
    // for more, and the operation is not tried again. The memory of `spare` is used again.
    using row_receiver = std::move_only_function<void(std::optional<engine::row_batch> rows)>;
    [[nodiscard]] refusal take_rows(
        ticket operation, row_receiver receive, engine::row_batch spare = {});
    // Runs `task` on the loop, later, in the order of the starts; it must not hold the client.
    [[nodiscard]] refusal post(std::move_only_function<void()> task);
    // Calls `begin` and waits until what it was given is called, from any thread, once.
    [[nodiscard]] refusal await(
        const std::function<void(std::move_only_function<void()> done)>& begin);
    // A number never given before; put it into `start`, then `cancel` may come at any time.
    [[nodiscard]] ticket reserve_ticket() noexcept;
    // Ends all operations started with this number.
    void cancel(ticket operations) noexcept;
    // For every authentication from now on; connections that are open stay open.
    [[nodiscard]] refusal replace_credentials(engine::credentials identity);
    // Ends all operations and closes all connections, in the background.
    void close();
    // caller_drives only: runs the loop for this long, or until it has nothing more to do.
    [[nodiscard]] refusal drive(duration time);

    // Runs `look` on the loop's thread and waits for it.
    [[nodiscard]] refusal inspect(const std::function<void(const engine::client_engine&)>& look);

    // All connections as they are now; no I/O. Waits as `inspect` does.
    [[nodiscard]] std::expected<client_report, refusal> describe();

    // True if a blocking call from this thread would wait for itself.
    [[nodiscard]] bool is_loop_thread() const noexcept;

private:
    class runtime;
    explicit client(std::unique_ptr<runtime> loop) noexcept;
    static std::expected<std::unique_ptr<client>, setup_error> make_with(
        client_options&& options, const boost::asio::any_io_executor* executor);
    std::unique_ptr<runtime> runtime_;
};

// For deadlines that span several operations.
[[nodiscard]] time_point steady_now() noexcept;
// From the system's random source, for names that no other process gives.
[[nodiscard]] std::uint64_t random_bits();
// Seconds since 1970, for expiry times.
[[nodiscard]] std::chrono::sys_seconds wall_clock_now() noexcept;

}  // namespace reprise::net
