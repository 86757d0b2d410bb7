#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/base/bytes.hpp>
#include <reprise/base/slice.hpp>
#include <reprise/engine/completion.hpp>
#include <reprise/engine/diagnostics.hpp>
#include <reprise/engine/driver_action.hpp>
#include <reprise/engine/engine_options.hpp>
#include <reprise/engine/http_operation.hpp>
#include <reprise/engine/ids.hpp>
#include <reprise/engine/operation_request.hpp>
#include <reprise/engine/randomness.hpp>
#include <reprise/wire/cluster_configuration.hpp>

namespace reprise::engine {

class engine_core;

// Counters for tests, diagnostics and a live view.
struct engine_statistics {
    std::size_t operations_open = 0;     // started and not yet completed
    std::size_t operations_parked = 0;   // waiting for a retry, a connection or a collection id
    std::size_t operations_ready = 0;    // waiting for credit or the next write
    std::size_t operations_on_wire = 0;  // sent, no answer yet
    std::size_t connections_open = 0;    // bootstrap done
    std::uint64_t retries = 0;           // all retries ever scheduled
    std::uint64_t orphans = 0;           // answers that no operation waited for any more
    std::uint64_t configurations_applied = 0;
    std::uint64_t configurations_refused = 0;  // malformed, older, or of another bucket

    // Adds the counters of another loop of the same client.
    void add_loop(const engine_statistics& other) noexcept {
        operations_open += other.operations_open;
        operations_parked = other.operations_parked;  // each loop counts those of all
        operations_ready += other.operations_ready;
        operations_on_wire += other.operations_on_wire;
        connections_open += other.connections_open;
        retries += other.retries;
        orphans += other.orphans;
        configurations_applied += other.configurations_applied;
        configurations_refused += other.configurations_refused;
    }
};

// A complete client for one I/O thread. It makes all decisions and does no I/O. Not thread-safe:
// call only functions marked "any thread" from other threads.
//
// One iteration of the driver:
//
//     any of start / cancel / on_... (each with the time)
//       -> take_actions(list)         do them: connect, write (begin_write), close, resolve, ...
//       -> drain_completions()        user code runs here, and only here
//       -> arm one timer for next_due(), then call on_time
//
// The engine calls only completions (from drain_completions and the destructor) and the strategies
// and the log sink of the options. It never calls the driver. `now` must never go backwards.
class client_engine {
public:
    // Does nothing before the first `start` or `open`.
    client_engine(engine_options options, credentials identity, randomness random, time_point now);
    // Another loop of the same client, for another thread. The loops share the options,
    // credentials, limits, budgets, circuit breakers, terminal states and configurations, and
    // notify each other of changes: the wake hook of a loop fires when another one has posted a
    // notification. Each has its own connections, timers and operations. Create all of them,
    // `io_threads` in number, before the first one is used.
    struct another_loop {
        const client_engine& first;
    };
    client_engine(another_loop of, randomness random, time_point now);
    // Completes open operations with request_canceled. Buffers returned by begin_write become
    // invalid, so close the sockets first.
    ~client_engine();
    client_engine(const client_engine&) = delete;
    client_engine& operator=(const client_engine&) = delete;

    // --- the user's side ---

    // Returns a handle for a collection. Create it once and use it for each operation. An empty
    // scope or collection means `_default`. An empty bucket means the cluster itself, which only
    // accepts `noop`.
    [[nodiscard]] keyspace_id keyspace(
        std::string_view bucket, std::string_view scope = {}, std::string_view collection = {});
    // Starts to connect to a bucket (or to the cluster if the name is empty) before any operation
    // needs it.
    void open(std::string_view bucket, time_point now);
    // Starts an operation. `done` is called exactly once, from drain_completions or the destructor,
    // and never from inside `start`. Until then you can pass the id to `cancel`.
    operation_id start(operation_request&& request, completion&& done, time_point now);
    // The same for a call, whose request is built where it stays. Copies the key and the value.
    operation_id start(keyspace_id where, document_call&& call, completion&& done, time_point now);
    // Like `start`, for an HTTP service. The result has `http` set. Pass the id to `cancel` and
    // `take_rows`.
    operation_id start_http(http_request&& request, completion&& done, time_point now);
    // Clears `out` and moves the rows into it that arrived since the last call. Returns false if
    // the operation has ended; the remaining rows are then in its result. Once rows were taken, an
    // HTTP operation is not retried; a range scan continues after them.
    bool take_rows(operation_id operation, row_batch& out, time_point now);
    // Ends the operation with request_canceled. It is marked ambiguous if a non-idempotent request
    // was on the wire. Returns false if the operation had already ended.
    bool cancel(operation_id operation, time_point now);
    // Ends every operation with request_canceled and closes every connection. Later operations fail
    // with request_canceled, too. Idempotent.
    void close(time_point now);
    // Uses these credentials for every authentication from now on. Open connections stay open. A
    // connection that was or is being refused is retried at once instead of after its delay (see
    // next_due). A node that did not prove that it knows the password keeps its delay. Terminal
    // states remain until a success clears them.
    void replace_credentials(credentials identity);
    // Runs the completions queued so far and returns their number. They may call the engine.
    // Completions that they cause run in the next call: see has_completions.
    std::size_t drain_completions();
    [[nodiscard]] bool has_completions() const noexcept;

    // --- the driver's side: events. Events of unknown and finished connections are ignored. ---

    // The connection is open and the TLS handshake is done. `peer` is the numeric address that the
    // socket is connected to, never a name. An empty address counts as another machine.
    void on_connected(connection_id connection, std::string_view peer, time_point now);
    void on_connect_failed(
        connection_id connection, connect_failure failure, std::string_view text, time_point now);
    // Bytes were received, split anywhere. The engine copies what it keeps.
    void on_bytes(connection_id connection, base::byte_view bytes, time_point now);
    // As above, but result values may share `owner`, which contains `bytes`.
    void on_bytes(
        connection_id connection, const base::block_ref& owner, base::byte_view bytes,
        time_point now);
    // Where the next bytes of a large answer may be received, which saves copying them there. Pass
    // them to on_bytes as they are, from the beginning of the place. It is valid until then, or
    // until the connection has ended, as long as its block is kept. Usually empty.
    [[nodiscard]] read_place place_to_read(connection_id connection) const noexcept;
    // The operating system accepted the next `size` bytes of the outstanding write.
    void on_written(connection_id connection, std::size_t size, time_point now);
    // The connection has ended. `unwritten_size` is the number of bytes at the end of the
    // outstanding write that have certainly not left the process (0 under TLS). Requests entirely
    // within them count as not sent.
    void on_closed(
        connection_id connection, close_reason reason, std::size_t unwritten_size, time_point now);
    // If `found` is empty, the name service had no records or failed. The engine then uses the
    // given seeds.
    void on_resolved(
        resolution_id resolution, std::span<const wire::bootstrap_address> found, time_point now);
    // The result of a derive_key_action. Empty if the key could not be computed.
    void on_key_derived(derivation_id derivation, std::string key, time_point now);
    // Fires everything that is due. Call it at next_due; additional calls are harmless.
    void on_time(time_point now);
    // Takes what arrived from other threads: answers of strategies, and notifications of the
    // client's other loops. Call it after the wake hook fired.
    void on_wake(time_point now);

    // --- the driver's side: what to do ---

    // Appends the actions decided since the last call to `out`.
    void take_actions(action_list& out);
    // Whether there are actions to take or completions to run.
    [[nodiscard]] bool has_work() const noexcept;
    // Returns the bytes to write now: the rest of the outstanding write or, if there is none,
    // everything that may be sent, which this call encodes. From then on these requests count as on
    // the wire. The bytes stay valid and unchanged until on_written has covered them or the
    // connection has ended; the list of their places is valid until the next call. Empty if there
    // is nothing to write. A driver may write fewer bytes than these.
    [[nodiscard]] base::byte_views begin_write(connection_id connection, time_point now);
    // When on_time must be called. Empty if the engine waits for nothing.
    [[nodiscard]] std::optional<time_point> next_due() const noexcept;
    // True if on_time need not be called before `time`. A driver that calls it then anyway need not
    // ask for next_due.
    [[nodiscard]] bool waits_until(time_point time) const noexcept;
    // Sets a hook that is called from any thread when there is something for on_wake. It must make
    // the engine's thread call on_wake. Set it once, before the first operation; it may be called
    // until the engine and every deferred_answer are gone.
    void set_wake_hook(std::function<void()> hook);

    // --- inspection ---

    [[nodiscard]] engine_statistics statistics() const noexcept;
    // Operations that were started and have not completed.
    [[nodiscard]] std::size_t open_count() const noexcept;
    // The configuration in use for a bucket (or for the cluster if the name is empty). Null if
    // there is none yet. The reference is valid until the next call.
    [[nodiscard]] const wire::cluster_configuration_ptr& configuration(
        std::string_view bucket) const noexcept;
    // The nodes that offer each service: for key-value those that the bucket (or the cluster, if
    // the name is empty) is connected to, for HTTP those of the newest configuration. Empty before
    // the first configuration.
    [[nodiscard]] std::vector<service_address> service_addresses(std::string_view bucket) const;
    // The current state of every connection, key-value and HTTP, and of every missing one.
    [[nodiscard]] engine_diagnostics diagnostics() const;

private:
    std::unique_ptr<engine_core> core_;
};

}  // namespace reprise::engine
