#pragma once

#include <expected>
#include <memory>
#include <optional>

#include <reprise/base/bytes.hpp>
#include <reprise/http/http_error.hpp>
#include <reprise/http/message.hpp>

namespace reprise::http {

/// The server's parser: splits a stream, fed in pieces of any size, into whole requests.
///
///     feed(bytes) -> next() until it returns nothing -> feed(bytes) -> ...
///
/// Pipelined requests are stored and returned in order. The parser does not answer `Expect:
/// 100-continue`; it waits for the body, which every client sends after a short delay. It checks
/// trailer fields and drops them. It stores at most one request within the limits plus the bytes
/// that were fed but not yet consumed.
class request_parser {
public:
    explicit request_parser(const parser_limits& limits = {});
    request_parser(request_parser&&) noexcept;
    request_parser& operator=(request_parser&&) noexcept;
    ~request_parser();

    /// Copies `bytes`. Has no effect after an error.
    void feed(base::byte_view bytes);

    /// Returns the next whole request, or nothing if more bytes are needed. After an error every
    /// call returns the same error.
    std::expected<std::optional<request>, http_errc> next();

    /// True between requests. If the stream ends elsewhere, it ends in the middle of a request.
    bool is_at_boundary() const noexcept;

private:
    class machine;
    std::unique_ptr<machine> machine_;
};

}  // namespace reprise::http
