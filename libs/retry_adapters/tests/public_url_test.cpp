#include <gtest/gtest.h>

#include <reprise/retry/adapters/public_url.hpp>

namespace reprise::adapters {

TEST(public_url, drops_user_password_query_and_fragment) {
    EXPECT_EQ(
        public_url("https://bob:secret@shop.example:8443/orders?key=42#top"),
        "https://shop.example:8443/orders");
    EXPECT_EQ(public_url("http://token@host"), "http://host");
    EXPECT_EQ(public_url("http://host?token=1"), "http://host");
    EXPECT_EQ(public_url("http://host#a?b@c"), "http://host");
    EXPECT_EQ(public_url("http://a@b:c@host/x"), "http://host/x");
}

// All of these are URLs for libcurl, and a log line is not the place for a password.
TEST(public_url, drops_the_user_after_any_number_of_slashes) {
    EXPECT_EQ(public_url("https:///bob:secret@shop.example/x"), "https:///shop.example/x");
    EXPECT_EQ(public_url("https:/bob:secret@shop.example/x"), "https:/shop.example/x");
    EXPECT_EQ(public_url("//bob:secret@shop.example/x"), "//shop.example/x");
    EXPECT_EQ(public_url("/bob:secret@shop.example/x"), "/shop.example/x");
    EXPECT_EQ(public_url("bob:secret@shop.example/a://b"), "shop.example/a://b");
    EXPECT_EQ(public_url("https://"), "https://");
}

// Found by the fuzzer: a port may be empty, and the path may be the URL of a host behind a proxy.
TEST(public_url, drops_every_user_that_stands_before_a_host) {
    EXPECT_EQ(public_url("bob@shop.example:/x"), "shop.example:/x");
    EXPECT_EQ(public_url("https:5/a/http://bob:secret@shop"), "https:5/a/http://shop");
    EXPECT_EQ(
        public_url("https://proxy.example/http://bob:secret@shop.example/x"),
        "https://proxy.example/http://shop.example/x");
    EXPECT_EQ(public_url("//@/bob:secret@host"), "///host");
}

// Proxies and frameworks merge double slashes in paths.
TEST(public_url, drops_the_user_of_a_url_in_the_path_that_has_one_slash) {
    EXPECT_EQ(
        public_url("https://proxy.example/http:/bob:secret@shop.example/x"),
        "https://proxy.example/http:/shop.example/x");
    EXPECT_EQ(public_url("proxy.example/https:/bob:secret@shop"), "proxy.example/https:/shop");
}

// The transfer fails with a malformed URL, and the line in the log showed the password.
TEST(public_url, shows_nothing_of_a_password_that_is_not_percent_encoded) {
    EXPECT_EQ(public_url("https://bob:pa/ss@shop.example/x"), "https://");
    EXPECT_EQ(public_url("https://bob:pa?ss@shop.example/x"), "https://");
    EXPECT_EQ(public_url("https://bob:pa#ss@shop.example/x"), "https://");
    EXPECT_EQ(public_url("bob:pa/ss@shop.example"), "");
    EXPECT_EQ(
        public_url("https://proxy.example/http://bob:pa/ss@shop.example"),
        "https://proxy.example/http://");
}

// "ss" was taken for the host.
TEST(public_url, shows_nothing_of_a_password_with_the_sign_that_ends_it) {
    EXPECT_EQ(public_url("https://bob:p@ss/word@shop.example/x"), "https://");
    EXPECT_EQ(public_url("https://bob:p@ss?word@shop.example/x"), "https://");
    EXPECT_EQ(public_url("https://bob:p@ss#word@shop.example/x"), "https://");
    EXPECT_EQ(public_url("bob:p@ss/word@shop.example"), "");
    EXPECT_EQ(
        public_url("https://proxy.example/http:/bob:p@ss/word@shop.example"),
        "https://proxy.example/http:/");
}

TEST(public_url, keeps_everything_else) {
    EXPECT_EQ(public_url("https://git@shop.example/@b/c"), "https://shop.example/@b/c");
    EXPECT_EQ(public_url("https://shop.example:80/a?b@c"), "https://shop.example:80/a");
    EXPECT_EQ(public_url("https://shop.example/a@b/c"), "https://shop.example/a@b/c");
    EXPECT_EQ(public_url("shop.example/orders"), "shop.example/orders");
    EXPECT_EQ(public_url("bob@shop.example/orders"), "shop.example/orders");
    EXPECT_EQ(public_url("http://[::1]/x"), "http://[::1]/x");
    EXPECT_EQ(public_url("http://bob@[::1]:8080/a:b"), "http://[::1]:8080/a:b");
    EXPECT_EQ(public_url("file:///c:/x"), "file:///c:/x");
    EXPECT_EQ(public_url(""), "");
}

}  // namespace reprise::adapters
