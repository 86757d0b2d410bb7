#pragma once

#include <cstdint>
#include <expected>
#include <memory>

#include <reprise/base/bytes.hpp>
#include <reprise/http/http_error.hpp>
#include <reprise/http/message.hpp>

namespace reprise::http {

/// Result of response_parser::next.
enum class response_event : std::uint8_t {
    need_more,  ///< everything fed so far is consumed
    head,       ///< status and fields are available: head()
    body,       ///< a part of the body is available: body()
    complete    ///< the response has ended; call restart() before the next one
};

/// The kind of request that the response answers. A response to HEAD has no body, whatever its
/// fields are.
enum class response_kind : std::uint8_t { with_body, to_head };

/// The client's parser: delivers a response in pieces as they arrive and stores no body.
///
///     feed(bytes) -> next(): head, body..., complete | need_more -> feed(bytes) -> ...
///     end of stream -> finish(): complete, or an error
///     complete -> restart() -> the next response of the connection
///
/// Skips informational responses (1xx except 101). A body ends with its length, with its last chunk
/// or with the connection. Trailer fields are checked and dropped.
class response_parser {
public:
    /// Uses only the header limit.
    explicit response_parser(
        const parser_limits& limits = {}, response_kind kind = response_kind::with_body);
    response_parser(response_parser&&) noexcept;
    response_parser& operator=(response_parser&&) noexcept;
    ~response_parser();

    /// `bytes` must stay valid and unchanged until `next()` returns need_more, complete or an
    /// error. The previous piece must have been consumed that way. Bytes after a complete response
    /// are kept.
    void feed(base::byte_view bytes);

    /// Advances one step. After `complete` it returns `complete` again, or unexpected_data if bytes
    /// follow. After an error every call returns the same error: close the connection.
    std::expected<response_event, http_errc> next();

    /// Reports that the peer closed. Returns `complete` if the body ends with the connection or the
    /// response had already ended, and fails with no_message or message_truncated otherwise.
    std::expected<response_event, http_errc> finish();

    /// Valid from the event `head` until `restart`.
    const response_head& head() const noexcept;
    /// Valid after the event `body` until the next call, and not empty then.
    base::byte_view body() const noexcept;
    /// Whether another request may be sent on this connection. Valid after `complete`.
    bool is_kept_alive() const noexcept;

    /// Drops the complete response and waits for the next one.
    void restart(response_kind kind = response_kind::with_body);

private:
    class machine;
    std::unique_ptr<machine> machine_;
};

}  // namespace reprise::http
