#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <gtest/gtest.h>
#include <reprise/base/assert.hpp>
#include <reprise/base/bounded_list.hpp>
#include <reprise/base/byte_reader.hpp>
#include <reprise/base/byte_writer.hpp>
#include <reprise/base/bytes.hpp>
#include <reprise/base/strong_id.hpp>

namespace bytes_test {

using reprise::base::byte_reader;
using reprise::base::byte_writer;
using reprise::base::mutable_byte_view;

std::vector<std::byte> bytes_of(std::initializer_list<unsigned> numbers) {
    std::vector<std::byte> bytes;
    for (const unsigned number : numbers) {
        bytes.push_back(static_cast<std::byte>(number));
    }
    return bytes;
}

TEST(bytes, only_a_part_of_the_same_memory_lies_within_it) {
    const std::string text = "0123456789";
    const std::string other = text;
    using reprise::base::as_bytes;
    using reprise::base::lies_within;
    const reprise::base::byte_view whole = as_bytes(text).subspan(2, 5);
    EXPECT_TRUE(lies_within(whole, whole));
    EXPECT_TRUE(lies_within(whole.subspan(1, 2), whole));
    EXPECT_TRUE(lies_within(whole.last(0), whole));
    EXPECT_FALSE(lies_within(as_bytes(text).subspan(1, 3), whole)) << "starts before it";
    EXPECT_FALSE(lies_within(as_bytes(text).subspan(5, 3), whole)) << "ends after it";
    EXPECT_FALSE(lies_within(as_bytes(text), whole));
    EXPECT_FALSE(lies_within(as_bytes(other).subspan(2, 5), whole)) << "the same bytes elsewhere";
}

TEST(bytes, few_bytes_are_copied_exactly_whatever_their_number) {
    std::array<std::byte, 80> source{};
    for (std::size_t at = 0; at < source.size(); ++at) {
        source[at] = static_cast<std::byte>(at + 1);
    }
    for (std::size_t size = 0; size <= 64; ++size) {
        std::array<std::byte, 80> target{};
        reprise::base::copy_few(target.data() + 1, std::span<const std::byte>(source).first(size));
        for (std::size_t at = 0; at < target.size(); ++at) {
            const bool is_copied = at >= 1 && at <= size;
            ASSERT_EQ(target[at], is_copied ? source[at - 1] : std::byte{0}) << size << " " << at;
        }
    }
    reprise::base::copy_few(nullptr, {});
}

TEST(bytes, text_and_bytes_are_views_of_the_same_memory) {
    const std::string_view text("a\0b", 3);
    const auto view = reprise::base::as_bytes(text);
    EXPECT_EQ(view.size(), 3u);
    EXPECT_EQ(view[1], std::byte{0});
    EXPECT_EQ(reprise::base::as_text(view), text);
    EXPECT_TRUE(reprise::base::equal({}, reprise::base::as_bytes("")));
    EXPECT_FALSE(reprise::base::equal(view, reprise::base::as_bytes("ab")));
}

TEST(byte_reader, reads_big_endian_numbers_and_views) {
    const auto bytes = bytes_of(
        {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,
         0xaa, 0xbb, 0xcc});
    byte_reader reader(bytes);
    EXPECT_EQ(reader.read_u8(), 0x01u);
    EXPECT_EQ(reader.read_u16(), 0x0203u);
    EXPECT_EQ(reader.read_u32(), 0x04050607u);
    EXPECT_EQ(reader.read_i64(), -2);
    EXPECT_EQ(reader.position(), 15u);
    const auto part = reader.read_bytes(2);
    EXPECT_EQ(part.data(), bytes.data() + 15);
    EXPECT_FALSE(reader.is_complete());
    EXPECT_EQ(reader.read_bytes(1).size(), 1u);
    EXPECT_TRUE(reader.is_complete());
}

TEST(byte_reader, failure_is_sticky_and_returns_zeros) {
    const auto bytes = bytes_of({0x11, 0x22, 0x33});
    byte_reader reader(bytes);
    EXPECT_EQ(reader.read_u32(), 0u);
    EXPECT_FALSE(reader.ok());
    EXPECT_EQ(reader.position(), 0u);
    EXPECT_EQ(reader.read_u8(), 0u);
    EXPECT_TRUE(reader.read_bytes(1).empty());
    EXPECT_FALSE(reader.is_complete());
}

TEST(byte_reader, a_size_near_the_maximum_does_not_wrap) {
    const auto bytes = bytes_of({1, 2, 3});
    byte_reader reader(bytes);
    reader.skip(1);
    EXPECT_TRUE(reader.read_bytes(SIZE_MAX).empty());
    EXPECT_FALSE(reader.ok());
}

TEST(byte_writer, appends_to_the_content_of_a_vector) {
    auto out = bytes_of({0x99});
    byte_writer writer(out);
    writer.write_u8(0x01);
    writer.write_u16(0x0203);
    writer.write_u32(0x04050607);
    writer.write_u64(static_cast<std::uint64_t>(-2));
    writer.write_text("hi");
    EXPECT_TRUE(writer.ok());
    EXPECT_EQ(writer.written(), 17u);
    EXPECT_EQ(
        out, bytes_of(
                 {0x99, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0xff, 0xff, 0xff, 0xff, 0xff,
                  0xff, 0xff, 0xfe, 'h', 'i'}));
    EXPECT_EQ(writer.bytes().data(), out.data() + 1);
}

TEST(byte_writer, what_does_not_fit_is_not_written_and_failure_is_sticky) {
    std::array<std::byte, 3> memory{};
    byte_writer writer{mutable_byte_view(memory)};
    writer.write_u16(0x0102);
    EXPECT_EQ(writer.room(), 1u);
    writer.write_u16(0x0304);
    EXPECT_FALSE(writer.ok());
    EXPECT_EQ(writer.room(), 0u);
    writer.write_u8(0x05);
    EXPECT_EQ(writer.written(), 2u);
    EXPECT_EQ(memory[2], std::byte{0});
    EXPECT_EQ(writer.extend(0), nullptr);
}

TEST(byte_writer, vector_limit_includes_the_previous_content) {
    auto out = bytes_of({1, 2, 3});
    byte_writer writer(out, 4);
    writer.write_bytes(bytes_of({7}));
    EXPECT_TRUE(writer.ok());
    writer.write_bytes(bytes_of({8}));
    EXPECT_FALSE(writer.ok());
    EXPECT_EQ(out, bytes_of({1, 2, 3, 7}));

    byte_writer full(out, 2);
    full.write_u8(1);
    EXPECT_FALSE(full.ok());
    EXPECT_EQ(out.size(), 4u);
}

TEST(byte_writer, rewind_drops_half_a_message_and_clears_the_failure) {
    std::vector<std::byte> out;
    byte_writer writer(out);
    writer.write_u16(0x0102);
    const std::size_t mark = writer.written();
    writer.write_u32(5);
    writer.fail();
    writer.rewind(mark);
    EXPECT_TRUE(writer.ok());
    EXPECT_EQ(out, bytes_of({1, 2}));
}

TEST(byte_writer, a_buffer_is_used_again_without_being_shortened) {
    auto bytes = bytes_of({0xaa, 0, 0});
    for (int round = 0; round < 3; ++round) {
        byte_writer writer(bytes, 1, byte_writer::reuse_tag{});
        const std::size_t size_before = bytes.size();
        for (std::uint32_t number = 0; number < 500; ++number) {
            writer.write_u32(number);
            if (number % 100 == 0) {
                writer.write_bytes(bytes_of({1, 2, 3}));
            }
        }
        EXPECT_EQ(writer.total_size(), 1U + 500 * 4 + 5 * 3);
        EXPECT_EQ(writer.written(), 500U * 4 + 5 * 3);
        EXPECT_EQ(writer.bytes().size(), writer.written());
        writer.write_bytes(std::vector<std::byte>(10'000, std::byte{7}));
        const std::size_t size_most = bytes.size();
        writer.rewind(500 * 4 + 5 * 3);
        writer.write_u8(0xbb);
        EXPECT_EQ(writer.total_size(), 1U + 500 * 4 + 5 * 3 + 1);
        EXPECT_EQ(bytes[writer.total_size() - 1], std::byte{0xbb});
        EXPECT_EQ(bytes.size(), size_most);
        EXPECT_GE(size_most, size_before);
    }
    EXPECT_EQ(bytes.front(), std::byte{0xaa});
    byte_reader reader(bytes);
    reader.skip(1);
    for (std::uint32_t number = 0; number < 500; ++number) {
        ASSERT_EQ(reader.read_u32(), number);
        reader.skip(number % 100 == 0 ? 3 : 0);
    }
}

TEST(byte_reader, numbers_of_known_size_are_loaded_without_a_reader) {
    const auto bytes = bytes_of({0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08});
    using reprise::base::load_big_endian;
    using reprise::base::load_little_endian;
    EXPECT_EQ(load_big_endian<std::uint16_t>(bytes.data()), 0x0102);
    EXPECT_EQ(load_big_endian<std::uint64_t>(bytes.data()), 0x0102030405060708U);
    EXPECT_EQ(load_little_endian<std::uint32_t>(bytes.data() + 1), 0x05040302U);
}

TEST(bounded_list, rejects_values_beyond_its_limit) {
    reprise::base::bounded_list<int, 2> list;
    EXPECT_TRUE(list.push_back(1));
    EXPECT_TRUE(list.push_back(2));
    EXPECT_FALSE(list.push_back(3));
    EXPECT_EQ(list.size(), 2u);
    EXPECT_EQ(list.view().back(), 2);
    list.clear();
    EXPECT_TRUE(list.empty());
    EXPECT_EQ(list.begin(), list.end());
}

TEST(bounded_list_death, index_past_the_end_is_a_programming_error) {
    reprise::base::bounded_list<int, 2> list{1};
    EXPECT_DEATH((void)list[1], "index < count_");
}

TEST(strong_id, is_ordered_and_hashable_and_a_distinct_type) {
    using apple_id = reprise::base::strong_id<struct apple_tag, std::uint32_t>;
    using pear_id = reprise::base::strong_id<struct pear_tag, std::uint32_t>;
    static_assert(!std::is_convertible_v<apple_id, pear_id>);
    static_assert(!std::is_convertible_v<std::uint32_t, apple_id>);
    static_assert(sizeof(apple_id) == sizeof(std::uint32_t));
    EXPECT_LT(apple_id{1}, apple_id{2});
    EXPECT_EQ(apple_id{}, apple_id{0});
    const std::unordered_set<apple_id> set{apple_id{7}};
    EXPECT_TRUE(set.contains(apple_id{7}));
    EXPECT_FALSE(set.contains(apple_id{8}));
}

TEST(assertion_death, prints_the_expression_and_aborts) {
    const int apples = 1;
    REPRISE_ASSERT(apples == 1);
    EXPECT_DEATH(REPRISE_ASSERT(apples == 2), "assertion failed: apples == 2");
}

}  // namespace bytes_test
