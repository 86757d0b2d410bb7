#include "connections/connection_problem.hpp"

#include <gtest/gtest.h>

#include <set>

namespace reprise::engine {

TEST(connection_problem, describes_every_cause_differently) {
    std::set<std::string> texts;
    std::size_t count = 0;
    for (int code = 0; code <= static_cast<int>(connect_failure::other); ++code) {
        texts.insert(connect_problem(static_cast<connect_failure>(code), "host", ""));
        ++count;
    }
    EXPECT_EQ(texts.size(), count);
    EXPECT_EQ(connect_problem(connect_failure::refused, "127.0.0.1", ""), "connection refused");
    EXPECT_EQ(
        connect_problem(connect_failure::name_not_found, "nosuch.invalid", "not found"),
        "cannot resolve nosuch.invalid (not found)");
    EXPECT_EQ(
        connect_problem(connect_failure::no_descriptors, "127.0.0.1", ""),
        "out of file descriptors: too many open files");
    EXPECT_EQ(
        connect_problem(connect_failure::tls_untrusted, "host", "self-signed certificate"),
        "the certificate is not trusted (self-signed certificate)");
}

TEST(connection_problem, recognises_other_servers_by_their_first_bytes) {
    const auto said = [](std::string_view bytes) {
        return stranger_problem(base::as_bytes(bytes));
    };
    EXPECT_TRUE(is_stranger(base::as_bytes(std::string_view("HTTP/1.1 400"))));
    EXPECT_TRUE(is_stranger(base::as_bytes(std::string_view("\x80"))));
    EXPECT_FALSE(is_stranger(base::as_bytes(std::string_view("\x81"))));
    EXPECT_FALSE(is_stranger({}));
    EXPECT_EQ(said("\x15\x03\x03"), "this is a TLS port: use couchbases://");
    EXPECT_NE(said("HTTP/1.1 400 Bad Request").find("not a Couchbase server"), std::string::npos);
    EXPECT_EQ(
        said("SSH-2.0-OpenSSH_9.2\r\n"),
        "not a Couchbase server: its answer is \"SSH-2.0-OpenSSH_9.2\\r\\n\"");
}

TEST(connection_problem, explains_what_a_close_without_any_answer_may_mean) {
    EXPECT_EQ(
        closed_problem(close_reason::end_of_stream, false, false),
        "closed by the peer before it answered: not a Couchbase server, or this is a TLS port");
    EXPECT_EQ(
        closed_problem(close_reason::reset, false, true),
        "reset by the peer before it answered: not a Couchbase server");
    EXPECT_EQ(
        closed_problem(close_reason::reset, true, false), "reset by the peer during the login");
}

TEST(connection_problem, escapes_and_cuts_text_from_peers) {
    EXPECT_EQ(shown("a\x1b[2Jb\n"), "a\\x1b[2Jb\\n");
    EXPECT_EQ(shown("\xc2\x9b"), "\\u009b");
    EXPECT_EQ(
        shown(std::string(1000, 'x')),
        std::string(foreign_text_size_max, 'x') + "... (744 more bytes)");
}

}  // namespace reprise::engine
