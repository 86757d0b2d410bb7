#include <reprise/wire/compression.hpp>

#include <gtest/gtest.h>

#include <string>

#include <reprise/base/bytes.hpp>

namespace reprise::wire::compression_test {

std::string inflated(const std::vector<std::byte>& block, std::size_t limit) {
    const auto value = inflate(block, limit);
    return value ? std::string(base::as_text(*value)) : std::string(to_string(value.error()));
}

TEST(compression, a_block_inflates_to_what_was_compressed) {
    const std::string text(1000, 'x');
    const auto block = compress(base::as_bytes(text));
    EXPECT_LT(block.size(), 100U);
    EXPECT_EQ(inflated(block, 1000), text);
    EXPECT_EQ(inflated(compress({}), 0), "");
}

TEST(compression, the_hand_made_block_of_the_protocol_notes_inflates) {
    using namespace std::string_view_literals;
    const auto value = inflate(base::as_bytes("\x05\x10Hello"sv), 5);
    ASSERT_TRUE(value.has_value());
    EXPECT_EQ(base::as_text(*value), "Hello");
}

TEST(compression, the_announced_size_is_checked_before_inflating) {
    const auto block = compress(base::as_bytes(std::string(1000, 'x')));
    EXPECT_EQ(inflate(block, 999).error(), compression_errc::inflated_too_large);
    using namespace std::string_view_literals;
    EXPECT_EQ(
        inflate(base::as_bytes("\xff\xff\xff\xff\x0f\x00"sv), 1000).error(),
        compression_errc::inflated_too_large);
    // Announces 2 GiB that never arrive: the limit allows the size, but the content does not match.
    EXPECT_EQ(
        inflate(base::as_bytes("\x80\x80\x80\x80\x08\x00"sv), SIZE_MAX).error(),
        compression_errc::not_snappy);
}

TEST(compression, bytes_that_are_not_a_block_are_rejected) {
    using namespace std::string_view_literals;
    for (const std::string_view bad :
         {""sv, "\x05\x10Hell"sv, "\x04\x10Hello"sv, "\xff"sv, "\x05\x11\x10Hello"sv}) {
        EXPECT_EQ(inflate(base::as_bytes(bad), 100).error(), compression_errc::not_snappy);
    }
}

TEST(compression, small_and_incompressible_values_are_sent_uncompressed) {
    EXPECT_FALSE(compress_if_smaller(base::as_bytes(std::string(31, 'x'))).has_value());
    EXPECT_TRUE(compress_if_smaller(base::as_bytes(std::string(32, 'x'))).has_value());
    std::string noise;
    for (unsigned index = 0; index < 256; ++index) {
        noise += static_cast<char>((index * 197 + 13) % 251);
    }
    EXPECT_FALSE(compress_if_smaller(base::as_bytes(noise)).has_value());
    EXPECT_FALSE(compress_if_smaller({}, {.size_min_bytes = 0}).has_value());
}

TEST(compression, the_ratio_must_be_strictly_below_the_limit) {
    const std::string text(100, 'x');
    const auto size = static_cast<double>(compress(base::as_bytes(text)).size());
    EXPECT_FALSE(compress_if_smaller(base::as_bytes(text), {.ratio_max = size / 100}).has_value());
    EXPECT_TRUE(
        compress_if_smaller(base::as_bytes(text), {.ratio_max = (size + 0.5) / 100}).has_value());
}

}  // namespace reprise::wire::compression_test
