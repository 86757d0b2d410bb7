#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <reprise/http/request_parser.hpp>

namespace reprise::http::request_parser_test {

using result = std::expected<std::vector<request>, http_errc>;

// Returns everything in `text`, fed in pieces of `piece_size` (0 means all at once).
result parse(std::string_view text, std::size_t piece_size = 0, const parser_limits& limits = {}) {
    request_parser parser(limits);
    std::vector<request> out;
    while (!text.empty()) {
        const std::string_view piece = text.substr(0, piece_size == 0 ? text.size() : piece_size);
        text.remove_prefix(piece.size());
        parser.feed(base::as_bytes(piece));
        for (;;) {
            auto next = parser.next();
            if (!next) {
                return std::unexpected(next.error());
            }
            if (!*next) {
                break;
            }
            out.push_back(**std::move(next));
        }
    }
    return out;
}

http_errc error_of(std::string_view text, const parser_limits& limits = {}) {
    const result at_once = parse(text, 0, limits);
    const result bytewise = parse(text, 1, limits);
    EXPECT_FALSE(at_once.has_value()) << text;
    EXPECT_FALSE(bytewise.has_value()) << text;
    if (at_once || bytewise) {
        return http_errc{};
    }
    EXPECT_EQ(to_string(at_once.error()), to_string(bytewise.error())) << text;
    return at_once.error();
}

constexpr std::string_view two_requests =
    "POST /a?b=1 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
    "PUT /c HTTP/1.1\r\nHOST:  y \r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    "3\r\nabc\r\n4;note=1\r\ndefg\r\n0\r\nTrailer: t\r\n\r\n";

void expect_two_requests(const result& parsed) {
    ASSERT_TRUE(parsed.has_value()) << to_string(parsed.error());
    ASSERT_EQ(parsed->size(), 2u);
    EXPECT_EQ((*parsed)[0].method, "POST");
    EXPECT_EQ((*parsed)[0].target, "/a?b=1");
    EXPECT_EQ((*parsed)[0].body, "hello");
    EXPECT_TRUE((*parsed)[0].is_kept_alive);
    EXPECT_EQ((*parsed)[1].method, "PUT");
    EXPECT_EQ((*parsed)[1].body, "abcdefg");
    EXPECT_FALSE((*parsed)[1].is_kept_alive);
    EXPECT_EQ(find_header((*parsed)[1].headers, "host"), "y");
    EXPECT_FALSE(find_header((*parsed)[1].headers, "trailer"));
}

TEST(request_parser, returns_pipelined_requests_for_every_piece_size) {
    for (std::size_t size = 0; size < two_requests.size(); ++size) {
        SCOPED_TRACE(size);
        expect_two_requests(parse(two_requests, size));
    }
}

TEST(request_parser, returns_the_same_for_every_split_point) {
    for (std::size_t cut = 1; cut < two_requests.size(); ++cut) {
        SCOPED_TRACE(cut);
        request_parser parser;
        result out{std::vector<request>{}};
        for (const std::string_view piece :
             {two_requests.substr(0, cut), two_requests.substr(cut)}) {
            parser.feed(base::as_bytes(piece));
            for (auto next = parser.next(); next && *next; next = parser.next()) {
                out->push_back(**std::move(next));
            }
        }
        expect_two_requests(out);
        EXPECT_TRUE(parser.is_at_boundary());
    }
}

TEST(request_parser, distinguishes_a_boundary_from_the_middle_of_a_request) {
    request_parser parser;
    EXPECT_TRUE(parser.is_at_boundary());
    parser.feed(base::as_bytes("GET / HT"));
    ASSERT_TRUE(parser.next().has_value());
    EXPECT_FALSE(parser.is_at_boundary());
    parser.feed(base::as_bytes("TP/1.1\r\n\r\n"));
    EXPECT_TRUE(parser.next().value().has_value());
    EXPECT_TRUE(parser.is_at_boundary());
}

TEST(request_parser, version_and_field_determine_whether_the_connection_is_kept) {
    EXPECT_TRUE(parse("GET / HTTP/1.1\r\n\r\n")->front().is_kept_alive);
    EXPECT_FALSE(parse("GET / HTTP/1.0\r\n\r\n")->front().is_kept_alive);
    EXPECT_EQ(parse("GET / HTTP/1.0\r\n\r\n")->front().minor_version, 0);
    EXPECT_TRUE(parse("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")->front().is_kept_alive);
    EXPECT_FALSE(parse("GET / HTTP/1.1\r\nConnection: Close\r\n\r\n")->front().is_kept_alive);
}

TEST(request_parser, waits_for_the_body_of_a_request_that_expects_100_continue) {
    const result parsed =
        parse("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nok", 3);
    ASSERT_TRUE(parsed.has_value());
    ASSERT_EQ(parsed->size(), 1u);
    EXPECT_EQ(parsed->front().body, "ok");
}

TEST(request_parser, reports_what_is_wrong_with_a_request) {
    EXPECT_EQ(error_of("\x80\x1f garbage\r\n\r\n"), http_errc::start_line_invalid);
    EXPECT_EQ(error_of("GET  HTTP/1.1\r\n\r\n"), http_errc::start_line_invalid);
    EXPECT_EQ(error_of("GET / HTTP/2.0\r\n\r\n"), http_errc::version_unsupported);
    EXPECT_EQ(error_of("GET / HTTP/1.1\r\nno colon\r\n\r\n"), http_errc::header_invalid);
    EXPECT_EQ(error_of("GET / HTTP/1.1\r\na: \x01\r\n\r\n"), http_errc::header_invalid);
    EXPECT_EQ(
        error_of("GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n"),
        http_errc::content_length_invalid);
    EXPECT_EQ(
        error_of("GET / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
        http_errc::content_length_invalid);
    EXPECT_EQ(
        error_of("GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n"),
        http_errc::content_length_invalid);
}

TEST(request_parser, rejects_every_way_to_send_two_lengths) {
    // Requests are smuggled past a proxy when two parsers split the stream at different places.
    EXPECT_EQ(
        error_of("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n"),
        http_errc::content_length_invalid);
    EXPECT_EQ(
        error_of("POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"),
        http_errc::transfer_encoding_unsupported);
    EXPECT_EQ(
        error_of("POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n"),
        http_errc::transfer_encoding_unsupported);
    EXPECT_EQ(
        error_of("POST / HTTP/1.1\r\nTransfer-Encoding: chunked, gzip\r\n\r\n"),
        http_errc::transfer_encoding_unsupported);
}

TEST(request_parser, reports_a_malformed_chunk) {
    const std::string head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    EXPECT_EQ(error_of(head + "xyz\r\n"), http_errc::chunk_invalid);
    EXPECT_EQ(error_of(head + "3\r\nabcd\r\n0\r\n\r\n"), http_errc::chunk_invalid);
    EXPECT_EQ(error_of(head + "11111111111111111\r\n"), http_errc::chunk_invalid);
    EXPECT_EQ(error_of(head + "0\r\nbad trailer\r\n\r\n"), http_errc::chunk_invalid);
}

TEST(request_parser, rejects_bodies_above_the_limit_before_they_arrive) {
    const parser_limits limits{.body_size_max_bytes = 4};
    EXPECT_EQ(
        error_of("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n", limits),
        http_errc::body_too_large);
    EXPECT_EQ(
        error_of("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\n", limits),
        http_errc::body_too_large);
    EXPECT_EQ(
        parse("POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nabcd", 0, limits)->front().body, "abcd");
}

TEST(request_parser, limits_the_header_however_it_is_split) {
    const parser_limits limits{.header_size_max_bytes = 200};
    EXPECT_EQ(
        error_of("GET /" + std::string(300, 'a') + " HTTP/1.1\r\n\r\n", limits),
        http_errc::header_too_large);
    // Each field arrives alone and whole, so no single piece is ever too long.
    request_parser parser(limits);
    parser.feed(base::as_bytes("GET / HTTP/1.1\r\n"));
    http_errc error{};
    for (int i = 0; i < 50 && error == http_errc{}; ++i) {
        parser.feed(base::as_bytes("name: value\r\n"));
        if (const auto next = parser.next(); !next) {
            error = next.error();
        }
    }
    EXPECT_EQ(error, http_errc::header_too_large);
}

TEST(request_parser, limits_chunk_extensions_and_trailers) {
    const parser_limits limits{.header_size_max_bytes = 100};
    const std::string head = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
    EXPECT_EQ(
        parse(head + "1;a=" + std::string(300, 'b'), 7, limits).error(),
        http_errc::header_too_large);
    EXPECT_EQ(
        parse(head + "0\r\na: " + std::string(300, 'b'), 7, limits).error(),
        http_errc::header_too_large);
}

TEST(request_parser, stays_failed) {
    request_parser parser;
    parser.feed(base::as_bytes("\r\x01"));
    const auto first = parser.next();
    ASSERT_FALSE(first.has_value());
    parser.feed(base::as_bytes("GET / HTTP/1.1\r\n\r\n"));
    const auto second = parser.next();
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(first.error(), second.error());
}

}  // namespace reprise::http::request_parser_test
