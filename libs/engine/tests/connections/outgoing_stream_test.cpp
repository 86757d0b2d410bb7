#include "connections/outgoing_stream.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace reprise::engine::testing::outgoing_stream_tests {

// A value in a block of its own, which reports whether anything else holds it.
struct large_value {
    explicit large_value(std::string_view text) : block(base::block_ref::make(text.size())) {
        std::ranges::copy(base::as_bytes(text), block.bytes().begin());
    }
    [[nodiscard]] base::slice slice() const { return base::slice::cut(block, block.bytes()); }

    base::block_ref block;
};

std::string text_of(base::byte_views parts) {
    return std::string(base::as_text(base::join(parts)));
}

const std::string first_text(100, 'a');
const std::string second_text(60, 'b');

// "head", the first value, "mid", the second value, "tail".
void fill(outgoing_stream& stream, const large_value& first, const large_value& second) {
    base::byte_writer writer = stream.begin();
    writer.write_text("head");
    stream.on_appended(writer);
    stream.append_value(first.slice());
    writer.write_text("mid");
    stream.on_appended(writer);
    stream.append_value(second.slice());
    writer.write_text("tail");
    stream.on_appended(writer);
}

TEST(outgoing_stream, small_bytes_are_one_part) {
    outgoing_stream stream;
    EXPECT_TRUE(stream.outstanding().empty());
    base::byte_writer writer = stream.begin();
    writer.write_text("one");
    writer.write_text("two");
    stream.on_appended(writer);
    ASSERT_EQ(stream.outstanding().size(), 1U);
    EXPECT_EQ(text_of(stream.outstanding()), "onetwo");
    EXPECT_EQ(stream.offset_of_next(), 6U);
}

TEST(outgoing_stream, a_large_value_is_handed_out_where_it_is) {
    outgoing_stream stream;
    const large_value first(first_text);
    const large_value second(second_text);
    fill(stream, first, second);
    const auto parts = stream.outstanding();
    ASSERT_EQ(parts.size(), 5U);
    EXPECT_EQ(text_of(parts), "head" + first_text + "mid" + second_text + "tail");
    EXPECT_EQ(parts[1].data(), first.block.bytes().data());
    EXPECT_EQ(parts[3].data(), second.block.bytes().data());
}

TEST(outgoing_stream, a_write_continues_at_every_byte) {
    const large_value first(first_text);
    const large_value second(second_text);
    const std::string all = "head" + first_text + "mid" + second_text + "tail";
    for (std::size_t written = 0; written <= all.size(); ++written) {
        outgoing_stream stream;
        fill(stream, first, second);
        ASSERT_TRUE(stream.on_written(written));
        EXPECT_EQ(text_of(stream.outstanding()), all.substr(written));
        EXPECT_EQ(stream.is_written(), written == all.size());
        EXPECT_EQ(stream.sent_end(all.size()), written);
        EXPECT_EQ(stream.sent_end(0), all.size());
        EXPECT_FALSE(stream.on_written(all.size() - written + 1)) << "more bytes than there were";
    }
}

TEST(outgoing_stream, values_are_held_until_the_write_has_ended) {
    outgoing_stream stream;
    const large_value first(first_text);
    const large_value second(second_text);
    fill(stream, first, second);
    ASSERT_TRUE(stream.on_written(stream.size() - 1));
    EXPECT_FALSE(first.block.is_unique());
    ASSERT_TRUE(stream.on_written(1));
    EXPECT_TRUE(first.block.is_unique());
    EXPECT_TRUE(second.block.is_unique());
    base::byte_writer writer = stream.begin();
    writer.write_text("next");
    stream.on_appended(writer);
    EXPECT_EQ(text_of(stream.outstanding()), "next");
    EXPECT_EQ(stream.offset_of_next(), 4 + 100 + 3 + 60 + 4 + 4U);
}

}  // namespace reprise::engine::testing::outgoing_stream_tests
