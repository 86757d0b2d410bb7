#pragma once

#include <expected>
#include <memory>
#include <optional>

#include <reprise/base/bytes.hpp>
#include <reprise/http/http_error.hpp>
#include <reprise/http/message.hpp>

namespace reprise::http {

// The server's reader: cuts a stream, fed in pieces of any size, into whole requests.
//
//     feed(bytes) -> next() until it gives nothing -> feed(bytes) -> ...
//
// Requests sent back to back are kept and given one after the other. `Expect: 100-continue` is not
// answered: the body is simply awaited, which every client does after a short pause. Trailer fields
// are checked and dropped. Holds at most one request within the limits plus what was fed and not
// yet asked for.
class request_parser {
public:
    explicit request_parser(const parser_limits& limits = {});
    request_parser(request_parser&&) noexcept;
    request_parser& operator=(request_parser&&) noexcept;
    ~request_parser();

    // Takes a copy of `bytes`. Ignored after an error.
    void feed(base::byte_view bytes);

    // The next whole request; nothing when more bytes are needed. After an error every further
    // call gives the same error.
    std::expected<std::optional<request>, http_errc> next();

    // True between requests: an end of stream here is clean, elsewhere it cut a request.
    bool is_at_boundary() const noexcept;

private:
    class machine;
    std::unique_ptr<machine> machine_;
};

}  // namespace reprise::http
