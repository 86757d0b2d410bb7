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

TEST(public_url, keeps_everything_else) {
    EXPECT_EQ(public_url("https://shop.example/a@b/c"), "https://shop.example/a@b/c");
    EXPECT_EQ(public_url("shop.example/orders"), "shop.example/orders");
    EXPECT_EQ(public_url("bob@shop.example/orders"), "shop.example/orders");
    EXPECT_EQ(public_url(""), "");
}

}  // namespace reprise::adapters
