#include <reprise/base/hex.hpp>

#include <array>

#include <gtest/gtest.h>

namespace reprise::base::hex_test {

TEST(hex, pads_with_zeros_and_truncates_to_the_requested_digits) {
    EXPECT_EQ(to_hex(0x1fU, 4), "001f");
    EXPECT_EQ(to_hex(0x12345U, 2), "45");
    EXPECT_EQ(to_hex(UINT64_MAX, 18), "00ffffffffffffffff");
    EXPECT_EQ(to_hex(0xabcU, 3, hex_case::upper), "ABC");
    EXPECT_EQ(to_hex(7U, 0), "");
}

TEST(hex, shortest_form_has_no_leading_zeros) {
    EXPECT_EQ(to_shortest_hex(0), "0");
    EXPECT_EQ(to_shortest_hex(0xf), "f");
    EXPECT_EQ(to_shortest_hex(0x10), "10");
    EXPECT_EQ(to_shortest_hex(UINT64_MAX), "ffffffffffffffff");
}

TEST(hex, writes_two_digits_for_each_byte) {
    const std::array<std::byte, 3> bytes{std::byte{0}, std::byte{0xa5}, std::byte{0xff}};
    EXPECT_EQ(to_hex(bytes), "00a5ff");
}

TEST(hex, parses_every_digit_it_writes) {
    for (unsigned value = 0; value < 16; ++value) {
        EXPECT_EQ(parse_hex_digit(to_hex_digit(value)), value);
        EXPECT_EQ(parse_hex_digit(to_hex_digit(value, hex_case::upper)), value);
    }
}

TEST(hex, parses_digits_of_either_case_and_nothing_else) {
    EXPECT_EQ(parse_hex("1F"), 0x1fU);
    EXPECT_EQ(parse_hex("ffffffffffffffff"), UINT64_MAX);
    EXPECT_EQ(parse_hex("000000000000000001"), 1U);
    for (const char* bad : {"", "-1", "+1", " 1", "1 ", "0x1", "g", "1ffffffffffffffff"}) {
        EXPECT_EQ(parse_hex(bad), std::nullopt) << bad;
    }
}

}  // namespace reprise::base::hex_test
