#include <string>

#include <gtest/gtest.h>

#include <reprise/http/encode.hpp>
#include <reprise/http/request_parser.hpp>
#include <reprise/http/response_parser.hpp>

namespace reprise::http::encode_test {

std::string text_of(const std::vector<std::byte>& bytes) {
    return std::string(base::as_text(bytes));
}

TEST(encode, encodes_a_request_that_the_parser_returns_unchanged) {
    const header_list headers{{"Accept", "application/json"}};
    std::vector<std::byte> out;
    ASSERT_TRUE(encode_request(
        out, {.method = "POST",
              .target = "/q?a=1",
              .host = "h:1",
              .headers = &headers,
              .body = base::as_bytes("{}"),
              .end = connection_end::close}));
    EXPECT_EQ(
        text_of(out),
        "POST /q?a=1 HTTP/1.1\r\nHost: h:1\r\nAccept: application/json\r\nContent-Length: 2\r\n"
        "Connection: close\r\n\r\n{}");
    request_parser parser;
    parser.feed(out);
    const auto parsed = parser.next();
    ASSERT_TRUE(parsed && *parsed);
    EXPECT_EQ((*parsed)->body, "{}");
    EXPECT_FALSE((*parsed)->is_kept_alive);
}

TEST(encode, writes_a_length_only_if_a_body_is_usual) {
    std::vector<std::byte> get;
    ASSERT_TRUE(encode_request(get, {.host = "h"}));
    EXPECT_EQ(text_of(get), "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    std::vector<std::byte> put;
    ASSERT_TRUE(encode_request(put, {.method = "PUT", .host = "h"}));
    EXPECT_EQ(text_of(put), "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
}

TEST(encode, encodes_a_chunked_response_that_the_parser_returns_unchanged) {
    std::vector<std::byte> out;
    ASSERT_TRUE(
        encode_response(out, {.body = base::as_bytes("first"), .framing = body_framing::chunked}));
    encode_chunk(out, base::as_bytes(std::string(300, 'x')));
    encode_chunk(out, {});
    encode_last_chunk(out);
    response_parser parser;
    parser.feed(out);
    EXPECT_EQ(parser.next(), response_event::head);
    std::string body;
    while (parser.next() == response_event::body) {
        body += base::as_text(parser.body());
    }
    EXPECT_EQ(body, "first" + std::string(300, 'x'));
    EXPECT_TRUE(parser.is_kept_alive());
}

TEST(encode, writes_no_body_where_none_is_allowed) {
    std::vector<std::byte> out;
    ASSERT_TRUE(encode_response(out, {.status = 204, .body = base::as_bytes("no")}));
    EXPECT_EQ(text_of(out), "HTTP/1.1 204 No Content\r\n\r\n");
}

TEST(encode, rejects_text_that_would_start_another_field_or_message) {
    std::vector<std::byte> out;
    const auto request_error = [&](const outgoing_request& request) {
        return encode_request(out, request).error();
    };
    EXPECT_EQ(request_error({.method = "GET /x"}), http_errc::method_invalid);
    EXPECT_EQ(request_error({.target = "/ HTTP/1.1\r\nA: b"}), http_errc::target_invalid);
    EXPECT_EQ(request_error({.target = ""}), http_errc::target_invalid);
    EXPECT_EQ(request_error({.host = "h\r\nA: b"}), http_errc::header_value_invalid);
    const header_list bad_name{{"A: b\r\nC", "d"}};
    const header_list bad_value{{"A", "b\r\nC: d"}};
    const header_list zero{{"A", std::string("b\0c", 3)}};
    const header_list reserved{{"content-length", "5"}};
    EXPECT_EQ(request_error({.headers = &bad_name}), http_errc::header_name_invalid);
    EXPECT_EQ(request_error({.headers = &bad_value}), http_errc::header_value_invalid);
    EXPECT_EQ(request_error({.headers = &zero}), http_errc::header_value_invalid);
    EXPECT_EQ(request_error({.headers = &reserved}), http_errc::header_reserved);
    EXPECT_EQ(
        encode_response(out, {.headers = &bad_value}).error(), http_errc::header_value_invalid);
    EXPECT_EQ(encode_response(out, {.status = 99}).error(), http_errc::status_invalid);
    EXPECT_TRUE(out.empty());
}

TEST(http_error, has_a_name_and_a_message_for_every_code) {
    for (int code = 1; code <= static_cast<int>(http_errc::status_invalid); ++code) {
        const std::error_code ec = static_cast<http_errc>(code);
        EXPECT_NE(to_string(static_cast<http_errc>(code)), "unknown") << code;
        EXPECT_NE(ec.message(), "unknown") << code;
    }
    EXPECT_EQ(to_string(http_errc{99}), "unknown");
}

}  // namespace reprise::http::encode_test
