#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <reprise/base/bytes.hpp>
#include <reprise/sandbox/cluster.hpp>
#include <reprise/sandbox/ids.hpp>
#include <reprise/wire/cluster_node.hpp>

namespace reprise::http {
enum class http_errc;
}

namespace reprise::sandbox {

/// The status that a server answers to bytes that are not a valid request before it closes: 400,
/// 413, 431, 501 or 505.
int http_status_of(http::http_errc error) noexcept;

/// How a connection to a service port was made.
struct service_accept_options {
    node_id node{};
    wire::service service = wire::service::query;
    /// The user named by a verified client certificate.
    std::string certificate_user{};
    /// Largest body of one request. Bytes.
    std::size_t body_size_max_bytes = std::size_t{1024} * 1024;
};

/// The server side of one HTTP connection, without a socket: bytes in, bytes out. handle_service
/// answers the requests one at a time, and its rules may disturb them.
///
///     on_bytes(now, received, out) -> write `out` -> on_bytes(...) -> ...
///                                     on_time(now, out) when next_due() is reached, after
///                                     `out` is written while has_more(), and for streams
///                                     after every change of the cluster
///
/// After every call, write what was appended to `out`, then check `is_closing()`. If it is true,
/// close the connection once those bytes are written and call nothing but the destructor. Use it on
/// the cluster's thread and destroy it before the cluster.
class service_connection {
public:
    service_connection(cluster& owner, service_accept_options options);
    service_connection(service_connection&&) noexcept;
    service_connection& operator=(service_connection&&) noexcept;
    ~service_connection();

    /// Takes bytes from the peer, split at any point. Bytes that are not HTTP are answered with 4xx
    /// and close the connection. Bytes that arrive while an answer is being sent wait; their size
    /// is bounded, see has_more.
    void on_bytes(time_point now, base::byte_view bytes, std::vector<std::byte>& out);

    /// Sends what is due: a delayed answer, the next piece of a streamed body, a changed
    /// configuration. Calling it too early or too often is harmless; each call sends at most one
    /// piece.
    void on_time(time_point now, std::vector<std::byte>& out);

    /// When to call on_time next; empty: no time is set.
    std::optional<time_point> next_due() const noexcept;

    /// True while there is more to send at once: write `out`, call on_time, and read nothing from
    /// the peer until this returns false.
    bool has_more() const noexcept;

    /// True while the answer is a stream of configurations: call on_time after every change of the
    /// cluster. Nothing that the peer sends ends the stream.
    bool is_streaming() const noexcept;

    /// True once the conversation is over: because of a rule, at the peer's request, or because its
    /// bytes are not HTTP.
    bool is_closing() const noexcept;

private:
    class machine;
    std::unique_ptr<machine> machine_;
};

}  // namespace reprise::sandbox
