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

/// The server side of one key-value connection, without a socket: bytes in, bytes out.
///
///     cluster.accept(...) -> on_bytes(now, received, out) -> write `out` -> on_bytes(...) -> ...
///                            on_time(now, out) when next_due() is reached, after a wake-up of this
///                            connection (cluster::take_wakeups), and, once `out` is written,
///                            while has_backlog() or has_delayed_push()
///
/// After every call, write what was appended to `out`, then check `is_closing()`. If it is true,
/// close the connection once those bytes are written and call nothing but the destructor. Calls to
/// the connections of one cluster must not overlap. Destroy the connection when the peer is gone,
/// and before the cluster.
class connection {
public:
    explicit connection(std::unique_ptr<detail::session> session) noexcept;
    connection(connection&&) noexcept;
    connection& operator=(connection&&) noexcept;
    ~connection();

    connection_id id() const noexcept;

    /// Takes bytes from the peer, split at any point, and answers every complete request in order.
    /// `bytes` may be discarded after the call. Never throws on input; bytes that are not valid
    /// frames make the connection close. Does nothing once the connection is closing.
    void on_bytes(time_point now, base::byte_view bytes, std::vector<std::byte>& out);

    /// Sends what is due: delayed answers, announced configurations, and requests that waited for
    /// the peer to read (see has_backlog). Calling it too early or too often is harmless.
    void on_time(time_point now, std::vector<std::byte>& out);

    /// When to call on_time next; empty: not before the next wake-up or the next bytes.
    std::optional<time_point> next_due() const noexcept;

    /// True while requests are held back because `out` has grown past output_pause_bytes. Write
    /// `out`, call on_time, and read nothing from the peer until this returns false.
    bool has_backlog() const noexcept;
    /// True while an announced configuration is held back because `out` has grown past
    /// push_pause_bytes. Write `out` and call on_time, which sends the newest one.
    bool has_delayed_push() const noexcept;

    /// True once the conversation is over: because of quit, a malformed frame, a fault rule, a node
    /// that went down, or a peer that let answers or requests pile up beyond the limits.
    bool is_closing() const noexcept;
    /// True, in addition to is_closing, if the node was killed: reset the connection instead of
    /// closing it gracefully.
    bool is_aborted() const noexcept;

    /// Once `out` reaches this size, no further requests are processed. Bytes.
    static constexpr std::size_t output_pause_bytes = std::size_t{32} * 1024 * 1024;
    /// Once `out` reaches this size, configurations are not announced. Bytes.
    static constexpr std::size_t push_pause_bytes = std::size_t{64} * 1024;
    /// The connection closes when held-back requests or delayed answers exceed this size. Bytes.
    static constexpr std::size_t held_size_max_bytes = std::size_t{64} * 1024 * 1024;

private:
    std::unique_ptr<detail::session> session_;
};

}  // namespace reprise::sandbox
