#include <reprise/base/percent_encoding.hpp>

#include <gtest/gtest.h>

namespace reprise::base::percent_encoding_test {

TEST(percent_encoding, decodes_what_it_encodes) {
    std::string bytes;
    for (int i = 0; i < 256; ++i) {
        bytes += static_cast<char>(i);
    }
    EXPECT_EQ(percent_decode(percent_encode(bytes)), bytes);
    EXPECT_EQ(percent_encode("a b/%"), "a%20b%2F%25");
    EXPECT_EQ(percent_decode("a+b%2fC"), "a+b/C");
}

TEST(percent_encoding, keeps_the_requested_characters) {
    EXPECT_EQ(percent_encode("/tmp/a b", "/"), "/tmp/a%20b");
}

TEST(percent_encoding, rejects_an_invalid_escape) {
    for (const char* text : {"%", "%4", "%4g", "abc%", "%%%"}) {
        EXPECT_EQ(percent_decode(text), std::nullopt) << text;
    }
}

TEST(percent_encoding, lenient_decoding_leaves_an_invalid_escape_unchanged) {
    for (const char* text : {"%", "%4", "%4g", "abc%", "%%%"}) {
        EXPECT_EQ(percent_decode_leniently(text), text);
    }
    EXPECT_EQ(percent_decode_leniently("%%41%4"), "%A%4");
}

}  // namespace reprise::base::percent_encoding_test
