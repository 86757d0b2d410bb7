#include <reprise/base/base64.hpp>

#include <gtest/gtest.h>

namespace reprise::base::base64_test {

TEST(base64, follows_the_published_examples) {
    EXPECT_EQ(encode_base64(""), "");
    EXPECT_EQ(encode_base64("f"), "Zg==");
    EXPECT_EQ(encode_base64("fo"), "Zm8=");
    EXPECT_EQ(encode_base64("foo"), "Zm9v");
    EXPECT_EQ(encode_base64("foobar"), "Zm9vYmFy");
    EXPECT_EQ(decode_base64("Zm9vYg=="), "foob");
    EXPECT_EQ(decode_base64("Zm9vYmE="), "fooba");
    EXPECT_EQ(decode_base64(""), "");
}

TEST(base64, every_byte_survives_a_round_trip) {
    std::string bytes;
    for (int i = 0; i < 256; ++i) {
        bytes += static_cast<char>(i);
        EXPECT_EQ(decode_base64(encode_base64(bytes)), bytes);
    }
}

TEST(base64, rejects_text_that_is_not_strict_base64) {
    for (const char* bad :
         {"Zg", "Zg=", "Zg= ", "Zh==", "Z===", "====", "Zg==Zg==", "Zm9 ", "Zm9v\n", "Z\ng="}) {
        EXPECT_EQ(decode_base64(bad), std::nullopt) << bad;
    }
}

}  // namespace reprise::base::base64_test
