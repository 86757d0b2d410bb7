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

// What a server answers to bytes that are no request, before it closes: 400, 413, 431, 501 or 505.
int http_status_of(http::http_errc error) noexcept;

// How a connection to a service port came in.
struct service_accept_options {
    node_id node{};
    wire::service service = wire::service::query;
    // The user named by a verified client certificate.
    std::string certificate_user{};
    // Body of one request. Bytes.
    std::size_t body_size_max_bytes = std::size_t{1024} * 1024;
};

// The server's side of one HTTP connection, without the connection: bytes in, bytes out. Requests
// are answered one after the other, by handle_service, and disturbed as its rules say.
//
//     on_bytes(now, received, out) -> write `out` -> on_bytes(...) -> ...
//                                     on_time(now, out) when next_due() has come, while has_more()
//                                     and `out` was written, and for streams after every change
//
// After every call the caller writes what was appended to `out`, then looks at `is_closing()`: if
// true it closes once those bytes are written and calls nothing but the destructor. Driven by the
// cluster's thread; destroy it before the cluster.
class service_connection {
public:
    service_connection(cluster& owner, service_accept_options options);
    service_connection(service_connection&&) noexcept;
    service_connection& operator=(service_connection&&) noexcept;
    ~service_connection();

    // Takes what the peer sent, cut anywhere. Bytes that are no HTTP are answered 4xx and close.
    // What comes behind an answer that is still being sent waits, bounded: see has_more.
    void on_bytes(time_point now, base::byte_view bytes, std::vector<std::byte>& out);

    // Sends what is due: a delayed answer, the next piece of a streamed body, a configuration that
    // changed. Calling it too early or too often does no harm, but sends no more than one piece.
    void on_time(time_point now, std::vector<std::byte>& out);

    // When on_time wants to be called next; empty: not for a time.
    std::optional<time_point> next_due() const noexcept;

    // True while there is more to send at once: write `out`, call on_time, and do not read more
    // from the peer meanwhile.
    bool has_more() const noexcept;

    // True while the answer is a stream of configurations: call on_time after every change of the
    // cluster. Nothing the peer says changes it.
    bool is_streaming() const noexcept;

    // The conversation is over: by a rule, by the peer's wish, or because its bytes are no HTTP.
    bool is_closing() const noexcept;

private:
    class machine;
    std::unique_ptr<machine> machine_;
};

}  // namespace reprise::sandbox
