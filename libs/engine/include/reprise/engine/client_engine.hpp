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
    std::size_t operations_parked = 0;   // waiting for a retry, a connection or a name
    std::size_t operations_ready = 0;    // waiting for credit or the next write
    std::size_t operations_on_wire = 0;  // sent, no answer yet
    std::size_t connections_open = 0;    // bootstrap done
    std::uint64_t retries = 0;           // all retries ever scheduled
    std::uint64_t orphans = 0;           // answers nobody waited for any more
    std::uint64_t configurations_applied = 0;
    std::uint64_t configurations_refused = 0;  // malformed, older, or of another bucket
};

// One whole client of one I/O thread: it decides everything and touches nothing. Not thread-safe;
// only what says "any thread" may be called from another one.
//
// A turn of the driver:
//
//     any of start / cancel / on_... (each with the time)
//       -> take_actions(list)         obey: connect, write (begin_write), close, resolve, ...
//       -> drain_completions()        user code runs here, and only here
//       -> arm one timer for next_due(), then call on_time
//
// Nothing calls back into the driver or the user except completions (from drain_completions and the
// destructor) and the strategies and the log sink given in the options. `now` never goes backwards.
class client_engine {
public:
    // Nothing happens before the first `start` or `open`.
    client_engine(engine_options options, credentials identity, randomness random, time_point now);
    // Completes what is still open with request_canceled, from inside. Buffers given by begin_write
    // die here: close the sockets first.
    ~client_engine();
    client_engine(const client_engine&) = delete;
    client_engine& operator=(const client_engine&) = delete;

    // --- the user's side ---

    // A handle for a collection, made once and used for each operation. Empty scope and collection
    // mean `_default`. An empty bucket is the cluster itself: only `noop` goes there.
    [[nodiscard]] keyspace_id keyspace(
        std::string_view bucket, std::string_view scope = {}, std::string_view collection = {});
    // Begins to connect to a bucket (empty: to the cluster) without waiting for an operation.
    void open(std::string_view bucket, time_point now);
    // Takes the operation. `done` is called exactly once, from drain_completions or the destructor,
    // never from inside `start`. The id is good for `cancel` until then.
    operation_id start(operation_request&& request, completion&& done, time_point now);
    // As `start`, for an HTTP service; the result's `http` is set. Its id is good for `cancel` and
    // `take_rows`.
    operation_id start_http(http_request&& request, completion&& done, time_point now);
    // Moves the rows that have come and were not taken yet into `out`, which is emptied first.
    // False if the operation has ended: rows left then are in its result. Once rows were taken the
    // operation is not tried again.
    bool take_rows(operation_id operation, row_batch& out, time_point now);
    // Ends the operation with request_canceled, marked ambiguous if a non-idempotent request was on
    // the wire. False if it had ended before.
    bool cancel(operation_id operation, time_point now);
    // Ends every operation with request_canceled, closes every connection; later operations end
    // with request_canceled, too. Idempotent.
    void close(time_point now);
    // Used for every authentication from now on. Connections that are open stay open; one that was
    // refused, or is being refused now, is tried again at once instead of after its pause (see
    // next_due); a node that did not prove that it knows the password keeps its pause. Terminal
    // states stay until a success clears them.
    void replace_credentials(credentials identity);
    // Calls the completions queued so far; returns how many. They may call the engine. Completions
    // that they cause are left for the next call: see has_completions.
    std::size_t drain_completions();
    [[nodiscard]] bool has_completions() const noexcept;

    // --- the driver's side: events. Unknown and finished connections are ignored. ---

    // Open, TLS handshake included. `peer` is the numeric address that the socket is connected to,
    // never a name; empty, as for what is not known, counts as another machine.
    void on_connected(connection_id connection, std::string_view peer, time_point now);
    void on_connect_failed(
        connection_id connection, connect_failure failure, std::string_view text, time_point now);
    // Bytes received, any split. The engine copies what it keeps.
    void on_bytes(connection_id connection, base::byte_view bytes, time_point now);
    // As above, but result values may share `owner`, within which `bytes` lie.
    void on_bytes(
        connection_id connection, const base::block_ref& owner, base::byte_view bytes,
        time_point now);
    // The operating system took the next `size` bytes of the outstanding write.
    void on_written(connection_id connection, std::size_t size, time_point now);
    // The connection is gone. `unwritten_size`: how many bytes at the end of the outstanding write
    // have surely not left this process (0 under TLS): requests wholly within count as not sent.
    void on_closed(
        connection_id connection, close_reason reason, std::size_t unwritten_size, time_point now);
    // Empty `found`: the name service had none or failed; the given seeds are used.
    void on_resolved(
        resolution_id resolution, std::span<const wire::bootstrap_address> found, time_point now);
    // The answer to a derive_key_action; empty: it could not be computed.
    void on_key_derived(derivation_id derivation, std::string key, time_point now);
    // Time passed: fires what is due. Call it when next_due has come; calling it more often is
    // harmless.
    void on_time(time_point now);
    // After the wake hook fired: takes the answers of strategies that came from other threads.
    void on_wake(time_point now);

    // --- the driver's side: what to do ---

    // Appends the actions decided since the last call to `out`.
    void take_actions(action_list& out);
    // The bytes to write now: the rest of the outstanding write or, without one, everything that
    // may be sent, encoded by this call. From here on they count as on the wire. They stay valid
    // and unchanged until on_written covered them or the connection ended. Empty: nothing to write.
    [[nodiscard]] base::byte_view begin_write(connection_id connection, time_point now);
    // When on_time must be called; nothing if there is nothing to wait for.
    [[nodiscard]] std::optional<time_point> next_due() const noexcept;
    // Called from any thread when an answer of a strategy arrived: make the engine's thread call
    // on_wake. Set it once, before the first operation; it may be called until the engine and every
    // deferred_answer are gone.
    void set_wake_hook(std::function<void()> hook);

    // --- looking in ---

    [[nodiscard]] engine_statistics statistics() const noexcept;
    // The configuration in use for a bucket (empty: global); null if there is none yet.
    [[nodiscard]] wire::cluster_configuration_ptr configuration(
        std::string_view bucket) const noexcept;
    // Every connection as it is now, key-value and HTTP, and every one that is missing.
    [[nodiscard]] engine_diagnostics diagnostics() const;

private:
    std::unique_ptr<engine_core> core_;
};

}  // namespace reprise::engine
