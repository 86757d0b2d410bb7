#include <reprise/wire/magic.hpp>

#include <vector>

#include <gtest/gtest.h>

namespace magic_test {

using namespace reprise::wire;

TEST(magic, only_six_bytes_are_magics) {
    std::vector<unsigned> found;
    for (unsigned byte = 0; byte < 256; ++byte) {
        if (magic_from_byte(static_cast<std::uint8_t>(byte))) {
            found.push_back(byte);
            EXPECT_NE(to_string(static_cast<magic>(byte)), "unknown");
        }
    }
    EXPECT_EQ(found, (std::vector<unsigned>{0x08, 0x18, 0x80, 0x81, 0x82, 0x83}));
}

TEST(magic, magic_determines_direction_and_meaning_of_the_shared_fields) {
    EXPECT_TRUE(has_framing_extras(magic::alt_request));
    EXPECT_TRUE(has_framing_extras(magic::alt_response));
    EXPECT_FALSE(has_framing_extras(magic::server_request));
    EXPECT_TRUE(is_sent_by_server(magic::server_request));
    EXPECT_FALSE(is_sent_by_server(magic::server_response));
}

}  // namespace magic_test
