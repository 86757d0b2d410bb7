#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include <reprise/base/bytes.hpp>
#include <reprise/sandbox/ids.hpp>

namespace reprise::sandbox {

class cluster;
namespace detail {
class session;
}

// The server's side of one key-value connection, without the connection: bytes in, bytes out.
//
//     cluster.accept(...) -> on_bytes(now, received, out) -> write `out` -> on_bytes(...) -> ...
//                            on_time(now, out) when next_due() has come, after a wake-up of this
//                            connection (cluster::take_wakeups), and while has_backlog()
//
// After every call the caller writes what was appended to `out`, then looks at `is_closing()`: if
// true it closes once those bytes are written and calls nothing but the destructor. All calls for
// all connections of a cluster come from one thread, or are otherwise kept apart by the caller.
// Destroy it when the peer is gone, and before the cluster.
class connection {
public:
    explicit connection(std::unique_ptr<detail::session> session) noexcept;
    connection(connection&&) noexcept;
    connection& operator=(connection&&) noexcept;
    ~connection();

    connection_id id() const noexcept;
    node_id node() const noexcept;

    // Takes what the peer sent, cut anywhere, and answers every whole request in order. `bytes` are
    // not needed after the call. Never throws on input; bytes that are no frames make it close.
    // Ignored once closing.
    void on_bytes(time_point now, base::byte_view bytes, std::vector<std::byte>& out);

    // Sends what is due: delayed answers, announced configurations, and requests that waited for
    // the peer to read (see has_backlog). Calling it too early or too often does no harm.
    void on_time(time_point now, std::vector<std::byte>& out);

    // When on_time wants to be called next; empty: not before the next wake-up or bytes.
    std::optional<time_point> next_due() const noexcept;

    // True while requests are held back because `out` has grown past output_pause_bytes: write it,
    // call on_time, and do not read more from the peer meanwhile.
    bool has_backlog() const noexcept;

    // The conversation is over: by quit, by a malformed frame, by a fault rule, because the node
    // went down, or because the peer let answers or requests pile up beyond the bounds.
    bool is_closing() const noexcept;
    // Beside is_closing: the node was killed. A front resets instead of closing in good order.
    bool is_aborted() const noexcept;

    // An `out` of this size or more stops the processing of further requests. Bytes.
    static constexpr std::size_t output_pause_bytes = std::size_t{32} * 1024 * 1024;
    // Requests held back, or answers delayed by faults, beyond this close the connection. Bytes.
    static constexpr std::size_t held_size_max_bytes = std::size_t{64} * 1024 * 1024;

private:
    std::unique_ptr<detail::session> session_;
};

}  // namespace reprise::sandbox
