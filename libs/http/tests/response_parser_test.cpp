#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include <reprise/http/response_parser.hpp>

namespace reprise::http::response_parser_test {

// One response as its events report it.
struct outcome {
    response_head head;
    std::string body;
    bool is_complete = false;
    bool is_kept_alive = false;
    http_errc error{};
};

// Feeds `text` in pieces, each destroyed after use, and then optionally the end of the stream.
outcome read(
    std::string_view text, std::size_t piece_size, bool at_end = false,
    response_kind kind = response_kind::with_body, const parser_limits& limits = {}) {
    response_parser parser(limits, kind);
    outcome out;
    const auto take = [&](std::expected<response_event, http_errc> event) {
        if (!event) {
            out.error = event.error();
        } else if (*event == response_event::head) {
            out.head = parser.head();
        } else if (*event == response_event::body) {
            out.body += base::as_text(parser.body());
        } else if (*event == response_event::complete) {
            out.is_complete = true;
            out.is_kept_alive = parser.is_kept_alive();
        }
        return event && (*event == response_event::head || *event == response_event::body);
    };
    while (!text.empty() && out.error == http_errc{}) {
        const std::string piece(text.substr(0, piece_size));
        text.remove_prefix(piece.size());
        parser.feed(base::as_bytes(piece));
        while (take(parser.next())) {
        }
    }
    if (at_end && out.error == http_errc{}) {
        take(parser.finish());
    }
    return out;
}

TEST(response_parser, returns_a_body_of_known_length_for_every_piece_size) {
    constexpr std::string_view text =
        "HTTP/1.1 404 Not Here\r\nContent-Length: 10\r\nX-A: b\r\n\r\n0123456789";
    for (std::size_t size = 1; size <= text.size(); ++size) {
        SCOPED_TRACE(size);
        const outcome out = read(text, size);
        EXPECT_TRUE(out.is_complete);
        EXPECT_TRUE(out.is_kept_alive);
        EXPECT_EQ(out.head.status, 404);
        EXPECT_EQ(out.head.reason, "Not Here");
        EXPECT_EQ(out.head.content_length, 10u);
        EXPECT_EQ(find_header(out.head.headers, "x-a"), "b");
        EXPECT_EQ(out.body, "0123456789");
    }
}

TEST(response_parser, returns_a_chunked_body_for_every_piece_size) {
    constexpr std::string_view text =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        "4\r\nrows\r\nA;x=\"y\"\r\n0123456789\r\n0\r\nT: u\r\n\r\n";
    for (std::size_t size = 1; size <= text.size(); ++size) {
        SCOPED_TRACE(size);
        const outcome out = read(text, size);
        EXPECT_TRUE(out.is_complete);
        EXPECT_TRUE(out.is_kept_alive);
        EXPECT_FALSE(out.head.content_length);
        EXPECT_EQ(out.body, "rows0123456789");
    }
}

TEST(response_parser, a_body_without_length_ends_with_the_connection) {
    constexpr std::string_view text = "HTTP/1.1 200 OK\r\n\r\nabc";
    for (std::size_t size = 1; size <= text.size(); ++size) {
        SCOPED_TRACE(size);
        EXPECT_FALSE(read(text, size).is_complete);
        const outcome out = read(text, size, true);
        EXPECT_TRUE(out.is_complete);
        EXPECT_FALSE(out.is_kept_alive);
        EXPECT_EQ(out.body, "abc");
    }
}

TEST(response_parser, skips_informational_responses) {
    constexpr std::string_view text =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n"
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    for (std::size_t size = 1; size <= text.size(); ++size) {
        SCOPED_TRACE(size);
        const outcome out = read(text, size);
        EXPECT_EQ(out.head.status, 200);
        EXPECT_EQ(out.head.headers.size(), 1u);
        EXPECT_EQ(out.body, "ok");
        EXPECT_TRUE(out.is_complete);
    }
}

TEST(response_parser, rejects_endless_informational_responses) {
    std::string text;
    for (int i = 0; i < 20; ++i) {
        text += "HTTP/1.1 100 Continue\r\n\r\n";
    }
    EXPECT_EQ(read(text, 10).error, http_errc::too_many_informational);
}

TEST(response_parser, treats_switching_protocols_as_the_end_of_http) {
    const outcome out = read("HTTP/1.1 101 Switching Protocols\r\n\r\n", 100);
    EXPECT_EQ(out.head.status, 101);
    EXPECT_TRUE(out.is_complete);
    EXPECT_FALSE(out.is_kept_alive);
}

TEST(response_parser, expects_no_body_after_head_204_and_304) {
    EXPECT_TRUE(
        read("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", 5, false, response_kind::to_head)
            .is_complete);
    EXPECT_TRUE(read("HTTP/1.1 204 No Content\r\n\r\n", 5).is_complete);
    EXPECT_TRUE(read("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", 5).is_complete);
}

TEST(response_parser, does_not_limit_the_body) {
    const std::string body(20u << 20, 'x');
    const std::string text =
        "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
    EXPECT_EQ(read(text, 65536).body.size(), body.size());
}

TEST(response_parser, parses_consecutive_responses) {
    response_parser parser;
    const std::string text =
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n";
    parser.feed(base::as_bytes(text));
    EXPECT_EQ(parser.next(), response_event::head);
    EXPECT_EQ(parser.next(), response_event::body);
    EXPECT_EQ(parser.next(), response_event::complete);
    parser.restart();
    EXPECT_EQ(parser.next(), response_event::head);
    EXPECT_EQ(parser.head().status, 500);
    EXPECT_EQ(parser.next(), response_event::complete);
    EXPECT_EQ(parser.finish(), response_event::complete);
}

TEST(response_parser, reports_unexpected_bytes) {
    response_parser parser;
    parser.feed(base::as_bytes("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nextra"));
    EXPECT_EQ(parser.next(), response_event::head);
    EXPECT_EQ(parser.next(), response_event::complete);
    EXPECT_TRUE(parser.is_kept_alive());
    EXPECT_EQ(parser.next(), std::unexpected(http_errc::unexpected_data));
    EXPECT_FALSE(parser.is_kept_alive());
}

TEST(response_parser, distinguishes_a_truncated_message_from_an_idle_connection_that_closes) {
    EXPECT_EQ(read("", 1, true).error, http_errc::no_message);
    EXPECT_EQ(read("HTTP/1.1 2", 99, true).error, http_errc::message_truncated);
    EXPECT_EQ(read("HTTP/1.1 100 Continue\r\n\r\n", 99, true).error, http_errc::message_truncated);
    EXPECT_EQ(
        read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", 99, true).error,
        http_errc::message_truncated);
    EXPECT_EQ(
        read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", 99, true).error,
        http_errc::message_truncated);
}

TEST(response_parser, reports_what_is_wrong_with_a_response) {
    EXPECT_EQ(read("SSH-2.0-OpenSSH\r\n", 99).error, http_errc::version_unsupported);
    EXPECT_EQ(read("HTTP/1.1 2x0 OK\r\n\r\n", 99).error, http_errc::start_line_invalid);
    EXPECT_EQ(read("HTTP/1.1 200 OK\r\nbad\r\n\r\n", 99).error, http_errc::header_invalid);
    EXPECT_EQ(
        read("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", 99).error,
        http_errc::transfer_encoding_unsupported);
    EXPECT_EQ(
        read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 99).error,
        http_errc::chunk_invalid);
    const parser_limits limits{.header_size_max_bytes = 64};
    const std::string text = "HTTP/1.1 200 OK\r\nA: " + std::string(100, 'b') + "\r\n\r\n";
    EXPECT_EQ(
        read(text, 8, false, response_kind::with_body, limits).error, http_errc::header_too_large);
}

}  // namespace reprise::http::response_parser_test
