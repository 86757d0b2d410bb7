#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <reprise/wire/frame.hpp>

#include "frame_bytes.hpp"

namespace frame_test {

using namespace reprise::wire;
using namespace frame_bytes;

TEST(frame, plain_magics_have_a_16_bit_key_length) {
    const auto bytes =
        from_hex("80 00 01 02 05 00 03 d1 00 00 01 07 00 00 00 2a 01 02 03 04 05 06 07 08");
    const auto header = must(decode_header(bytes, {}));
    EXPECT_EQ(header.magic, magic::request);
    EXPECT_EQ(header.framing_extras_size, 0u);
    EXPECT_EQ(header.key_size, 0x0102u);
    EXPECT_EQ(header.extras_size, 5u);
    EXPECT_EQ(header.vbucket_or_status, 0x03d1u);
    EXPECT_EQ(header.body_size, 0x107u);
    EXPECT_EQ(header.opaque, 0x2au);
    EXPECT_EQ(header.cas, 0x0102030405060708u);
}

TEST(frame, alternative_magics_split_those_bytes_in_two) {
    const auto bytes =
        from_hex("18 00 03 02 04 01 00 00 00 00 00 0e 00 00 00 2a 00 00 00 00 00 00 00 00");
    const auto header = must(decode_header(bytes, {}));
    EXPECT_EQ(header.framing_extras_size, 3u);
    EXPECT_EQ(header.key_size, 2u);
    EXPECT_EQ(header.value_offset(), 9u);
}

TEST(frame, header_survives_a_round_trip_for_every_magic) {
    for (const magic value :
         {magic::alt_request, magic::alt_response, magic::request, magic::response,
          magic::server_request, magic::server_response}) {
        frame_header header;
        header.magic = value;
        header.op = opcode::set;
        header.framing_extras_size = has_framing_extras(value) ? 7 : 0;
        header.extras_size = 8;
        header.key_size = has_framing_extras(value) ? 200 : 40000;
        header.datatype = datatype::json;
        header.vbucket_or_status = 0xabcd;
        header.body_size = 50000;
        header.opaque = 0xdeadbeef;
        header.cas = 0x1122334455667788;
        std::array<std::byte, header_size> bytes;
        EXPECT_EQ(encode_header(bytes.data(), header), bytes.data() + header_size);
        const auto decoded = must(decode_header(bytes, {}));
        std::array<std::byte, header_size> again;
        encode_header(again.data(), decoded);
        EXPECT_EQ(to_hex(again), to_hex(bytes));
    }
}

TEST(frame, an_unknown_magic_is_an_error_whatever_follows) {
    std::vector<std::byte> bytes(header_size);
    for (unsigned byte = 0; byte < 256; ++byte) {
        bytes[0] = static_cast<std::byte>(byte);
        const bool is_known = magic_from_byte(static_cast<std::uint8_t>(byte)).has_value();
        const auto header = decode_header(bytes, {});
        ASSERT_EQ(header.has_value(), is_known) << byte;
        if (!is_known) {
            ASSERT_EQ(header.error(), wire_errc::unknown_magic);
        }
    }
}

TEST(frame, a_magic_of_the_other_direction_is_an_error) {
    std::vector<std::byte> bytes(header_size);
    frame_limits to_client;
    to_client.direction = frame_direction::to_client;
    frame_limits to_server;
    to_server.direction = frame_direction::to_server;
    for (const unsigned byte : {0x80u, 0x08u, 0x83u}) {
        bytes[0] = static_cast<std::byte>(byte);
        EXPECT_TRUE(decode_header(bytes, to_server));
        EXPECT_EQ(decode_header(bytes, to_client).error(), wire_errc::unexpected_magic);
    }
    for (const unsigned byte : {0x81u, 0x18u, 0x82u}) {
        bytes[0] = static_cast<std::byte>(byte);
        EXPECT_TRUE(decode_header(bytes, to_client));
        EXPECT_EQ(decode_header(bytes, to_server).error(), wire_errc::unexpected_magic);
    }
}

TEST(frame, parts_longer_than_the_body_are_an_error) {
    // The body has 5 bytes, but extras and key have 4 and 2.
    const auto lying =
        from_hex("80 00 00 02 04 00 00 00 00 00 00 05 00 00 00 00 00 00 00 00 00 00 00 00");
    EXPECT_EQ(decode_header(lying, {}).error(), wire_errc::lengths_exceed_body);
    const auto exact =
        from_hex("80 00 00 01 04 00 00 00 00 00 00 05 00 00 00 00 00 00 00 00 00 00 00 00");
    EXPECT_TRUE(decode_header(exact, {}));
}

TEST(frame, a_body_above_the_limit_is_an_error_and_the_default_allows_20_mib_values) {
    frame_limits limits;
    limits.body_size_max_bytes = 100;
    const auto at_limit =
        from_hex("80 00 00 00 00 00 00 00 00 00 00 64 00 00 00 00 00 00 00 00 00 00 00 00");
    const auto above =
        from_hex("80 00 00 00 00 00 00 00 00 00 00 65 00 00 00 00 00 00 00 00 00 00 00 00");
    EXPECT_TRUE(decode_header(at_limit, limits));
    EXPECT_EQ(decode_header(above, limits).error(), wire_errc::frame_too_large);
    EXPECT_GT(frame_limits{}.body_size_max_bytes, 20u * 1024 * 1024 + 255 + 255 + 65535);
    const auto huge =
        from_hex("81 00 00 00 00 00 00 00 ff ff ff ff 00 00 00 00 00 00 00 00 00 00 00 00");
    EXPECT_EQ(decode_header(huge, {}).error(), wire_errc::frame_too_large);
}

TEST(frame, a_view_splits_the_body_into_its_four_parts) {
    const auto bytes = from_hex(
        "18 00 03 02 04 01 00 07 00 00 00 0c 00 00 00 2a 00 00 00 00 00 00 00 09"
        "02 04 d2 02 00 00 06 6b 6b 7b 7d 20");
    const frame_view frame = frame_of(bytes);
    EXPECT_EQ(to_hex(frame.framing_extras()), "02 04 d2 ");
    EXPECT_EQ(to_hex(frame.extras()), "02 00 00 06 ");
    EXPECT_EQ(to_hex(frame.key()), "6b 6b ");
    EXPECT_EQ(to_hex(frame.value()), "7b 7d 20 ");
    EXPECT_EQ(frame.status(), status::not_my_vbucket);
    EXPECT_EQ(frame.cas(), 9u);
    EXPECT_TRUE(frame.is_response());
    EXPECT_FALSE(frame.is_request());
    EXPECT_FALSE(frame.is_server_push());
    // No byte was copied.
    EXPECT_EQ(frame.body().data(), bytes.data() + header_size);
}

TEST(frame, encode_writes_a_whole_frame_or_nothing) {
    frame_parts parts;
    parts.key = text("key");
    parts.value = text("value");
    std::array<std::byte, header_size + 7> memory{};
    reprise::base::byte_writer writer{reprise::base::mutable_byte_view(memory)};
    EXPECT_EQ(encode_frame(writer, parts).error(), wire_errc::output_full);
    EXPECT_EQ(writer.written(), 0u);
    EXPECT_TRUE(writer.ok());
    parts.value = text("valu");
    EXPECT_TRUE(encode_frame(writer, parts));
    EXPECT_EQ(writer.room(), 0u);
}

TEST(frame, parts_that_do_not_fit_their_length_fields_are_rejected) {
    std::vector<std::byte> out;
    reprise::base::byte_writer writer(out);
    const std::string long_text(70000, 'x');
    const auto error_of = [&writer](const frame_parts& parts) {
        const auto result = encode_frame(writer, parts);
        return result ? wire_errc{} : result.error();
    };
    frame_parts parts;
    parts.extras = text(long_text).first(256);
    EXPECT_EQ(error_of(parts), wire_errc::lengths_exceed_body);
    parts = {};
    parts.key = text(long_text).first(65536);
    EXPECT_EQ(error_of(parts), wire_errc::lengths_exceed_body);
    parts = {};
    parts.magic = magic::alt_request;
    parts.key = text(long_text).first(256);
    EXPECT_EQ(error_of(parts), wire_errc::lengths_exceed_body);
    parts = {};
    parts.framing_extras = text("x");
    EXPECT_EQ(error_of(parts), wire_errc::lengths_exceed_body);
    EXPECT_TRUE(out.empty());
    parts = {};
    parts.key = text(long_text).first(65535);
    EXPECT_TRUE(encode_frame(writer, parts));
}

}  // namespace frame_test
