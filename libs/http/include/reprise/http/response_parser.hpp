#pragma once

#include <cstdint>
#include <expected>
#include <memory>

#include <reprise/base/bytes.hpp>
#include <reprise/http/http_error.hpp>
#include <reprise/http/message.hpp>

namespace reprise::http {

// What the reader found; see response_parser::next.
enum class response_event : std::uint8_t {
    need_more,  // everything fed was used up
    head,       // status and fields are known: head()
    body,       // a piece of the body: body()
    complete    // the response is over; restart() before the next one
};

// Which request the response answers: one to HEAD has no body whatever its fields say.
enum class response_kind : std::uint8_t { with_body, to_head };

// The client's reader: gives one response in pieces as they come, and keeps no body.
//
//     feed(bytes) -> next(): head, body..., complete | need_more -> feed(bytes) -> ...
//     end of stream -> finish(): complete, or what was cut
//     complete -> restart() -> the next response of the connection
//
// Informational responses (1xx but 101) are skipped. A body is delimited by its length, by chunks
// or by the end of the connection. Trailer fields are checked and dropped.
class response_parser {
public:
    // Only the header limit is used.
    explicit response_parser(
        const parser_limits& limits = {}, response_kind kind = response_kind::with_body);
    response_parser(response_parser&&) noexcept;
    response_parser& operator=(response_parser&&) noexcept;
    ~response_parser();

    // `bytes` must stay valid and unchanged until `next()` has returned need_more, complete or an
    // error. The previous piece must have been used up that way; what follows a complete response
    // is kept.
    void feed(base::byte_view bytes);

    // One step. After `complete` it gives `complete` again, or unexpected_data if bytes follow.
    // After an error every further call gives the same error: close the connection.
    std::expected<response_event, http_errc> next();

    // The peer closed. `complete` if the body was one that ends so (or the response was over);
    // otherwise no_message or message_truncated.
    std::expected<response_event, http_errc> finish();

    // Valid from the event `head` to `restart`.
    const response_head& head() const noexcept;
    // Valid after the event `body` until the next call; never empty then.
    base::byte_view body() const noexcept;
    // After `complete`: another request may be sent on this connection.
    bool is_kept_alive() const noexcept;

    // Forgets the response that is complete and waits for the next one.
    void restart(response_kind kind = response_kind::with_body);

private:
    class machine;
    std::unique_ptr<machine> machine_;
};

}  // namespace reprise::http
