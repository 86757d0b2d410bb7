#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <reprise/wire/framing_extras.hpp>

#include "frame_bytes.hpp"

namespace framing_extras_test {

using namespace reprise::wire;
using namespace frame_bytes;
using std::chrono::microseconds;
using std::chrono::milliseconds;

std::string hex_of(const request_frame_infos& infos) {
    std::vector<std::byte> bytes;
    reprise::base::byte_writer writer(bytes);
    EXPECT_TRUE(encode_request_frame_infos(writer, infos));
    return to_hex(bytes);
}

wire_errc request_error(std::string_view hex) {
    const auto bytes = from_hex(hex);
    const auto infos = decode_request_frame_infos(bytes);
    EXPECT_FALSE(infos.has_value()) << hex;
    return infos ? wire_errc{} : infos.error();
}

TEST(framing_extras, durability_encodes_to_known_bytes) {
    request_frame_infos infos;
    infos.durability = durability_requirement{durability_level::majority, {}};
    EXPECT_EQ(hex_of(infos), "11 01 ");
    infos.durability->timeout = milliseconds{2250};
    EXPECT_EQ(hex_of(infos), "13 01 08 ca ");
    infos.durability =
        durability_requirement{durability_level::persist_to_majority, milliseconds{9000}};
    EXPECT_EQ(hex_of(infos), "13 03 23 28 ");
    infos.preserve_ttl = true;
    EXPECT_EQ(hex_of(infos), "13 03 23 28 50 ");
}

TEST(framing_extras, every_request_info_survives_a_round_trip) {
    request_frame_infos infos;
    infos.barrier = true;
    infos.preserve_ttl = true;
    infos.durability = durability_requirement{
        durability_level::majority_and_persist_to_active, milliseconds{65534}};
    infos.dcp_stream_id = 0x1234;
    infos.run_as_user = "^a user whose name is longer than fifteen bytes";
    infos.extra_privilege = "SystemXattrRead";
    infos.run_as_token = 7;
    std::vector<std::byte> bytes;
    reprise::base::byte_writer writer(bytes);
    ASSERT_TRUE(encode_request_frame_infos(writer, infos));
    const auto decoded = must(decode_request_frame_infos(bytes));
    EXPECT_EQ(decoded, infos);
    EXPECT_FALSE(infos.empty());
    EXPECT_TRUE(request_frame_infos{}.empty());
    EXPECT_EQ(decode_request_frame_infos({}), request_frame_infos{});
}

TEST(framing_extras, ids_and_lengths_from_15_on_are_escaped) {
    std::vector<std::byte> bytes;
    reprise::base::byte_writer writer(bytes);
    const std::string payload(20, 'p');
    encode_frame_info(writer, {14, text(payload).first(14)});
    encode_frame_info(writer, {15, {}});
    encode_frame_info(writer, {270, text(payload).first(15)});
    encode_frame_info(writer, {3, text(payload)});
    ASSERT_TRUE(writer.ok());
    EXPECT_EQ(bytes[0], std::byte{0xee});
    EXPECT_EQ(to_hex(frame_bytes::byte_view(bytes).subspan(15, 2)), "f0 00 ");
    EXPECT_EQ(to_hex(frame_bytes::byte_view(bytes).subspan(17, 3)), "ff ff 00 ");
    EXPECT_EQ(to_hex(frame_bytes::byte_view(bytes).subspan(35, 2)), "3f 05 ");
    frame_info_reader reader(bytes);
    for (const auto& [id, size] :
         {std::pair<unsigned, std::size_t>{14, 14}, {15, 0}, {270, 15}, {3, 20}}) {
        const auto info = reader.next();
        ASSERT_TRUE(info && *info);
        EXPECT_EQ((*info)->id, id);
        EXPECT_EQ((*info)->payload.size(), size);
    }
    const auto end = reader.next();
    ASSERT_TRUE(end.has_value());
    EXPECT_FALSE(end->has_value());
}

TEST(framing_extras, ids_and_payloads_beyond_the_escape_put_the_writer_into_its_failed_state) {
    std::vector<std::byte> bytes;
    const std::string payload(271, 'p');
    reprise::base::byte_writer first(bytes);
    encode_frame_info(first, {271, {}});
    EXPECT_FALSE(first.ok());
    reprise::base::byte_writer second(bytes);
    encode_frame_info(second, {0, text(payload)});
    EXPECT_FALSE(second.ok());
    EXPECT_TRUE(bytes.empty());
}

TEST(framing_extras, random_infos_survive_a_round_trip) {
    std::mt19937_64 rng(11);
    const std::string payload(270, 'p');
    for (int i = 0; i < 5000; ++i) {
        const auto id = static_cast<std::uint16_t>(rng() % 271);
        const std::size_t size = rng() % 271;
        std::vector<std::byte> bytes;
        reprise::base::byte_writer writer(bytes);
        encode_frame_info(writer, {id, text(payload).first(size)});
        frame_info_reader reader(bytes);
        const auto info = reader.next();
        ASSERT_TRUE(info && *info);
        ASSERT_EQ((*info)->id, id);
        ASSERT_EQ((*info)->payload.size(), size);
        // Every shorter field is reported as truncated and never misread.
        const frame_bytes::byte_view shorter =
            frame_bytes::byte_view(bytes).first(bytes.size() - 1);
        frame_info_reader cut(shorter);
        if (bytes.size() > 1) {
            ASSERT_EQ(cut.next().error(), wire_errc::frame_info_truncated);
        }
    }
}

TEST(framing_extras, a_server_reports_what_is_wrong_in_a_request) {
    EXPECT_EQ(request_error("13 01 08"), wire_errc::frame_info_truncated);
    EXPECT_EQ(request_error("f0"), wire_errc::frame_info_truncated);
    EXPECT_EQ(request_error("01 00"), wire_errc::frame_info_size_invalid);
    EXPECT_EQ(request_error("51 00"), wire_errc::frame_info_size_invalid);
    EXPECT_EQ(request_error("12 01 00"), wire_errc::frame_info_size_invalid);
    EXPECT_EQ(request_error("10"), wire_errc::frame_info_size_invalid);
    EXPECT_EQ(request_error("40"), wire_errc::frame_info_size_invalid);
    EXPECT_EQ(request_error("21 00"), wire_errc::frame_info_size_invalid);
    EXPECT_EQ(request_error("11 00"), wire_errc::durability_level_invalid);
    EXPECT_EQ(request_error("11 04"), wire_errc::durability_level_invalid);
    EXPECT_EQ(request_error("13 01 00 00"), wire_errc::durability_timeout_invalid);
    EXPECT_EQ(request_error("13 01 ff ff"), wire_errc::durability_timeout_invalid);
    EXPECT_EQ(request_error("30"), wire_errc::frame_info_unknown);
    EXPECT_EQ(request_error("80"), wire_errc::frame_info_unknown);
    EXPECT_EQ(request_error("f0 ff"), wire_errc::frame_info_unknown);
    EXPECT_EQ(request_error("50 51 00"), wire_errc::frame_info_size_invalid);
}

TEST(framing_extras, the_first_of_repeated_frame_infos_counts) {
    const auto bytes = from_hex("50 13 02 03 e8 11 01 50");
    const auto infos = must(decode_request_frame_infos(bytes));
    EXPECT_TRUE(infos.preserve_ttl);
    ASSERT_TRUE(infos.durability);
    EXPECT_EQ(infos.durability->level, durability_level::majority_and_persist_to_active);
    EXPECT_EQ(infos.durability->timeout, std::chrono::milliseconds{1000});
}

TEST(framing_extras, a_client_cannot_send_what_a_server_would_reject) {
    const auto error_of = [](const request_frame_infos& infos) {
        std::vector<std::byte> bytes;
        reprise::base::byte_writer writer(bytes);
        const auto result = encode_request_frame_infos(writer, infos);
        EXPECT_TRUE(bytes.empty());
        return result ? wire_errc{} : result.error();
    };
    request_frame_infos infos;
    infos.barrier = true;
    infos.durability = durability_requirement{static_cast<durability_level>(0), {}};
    EXPECT_EQ(error_of(infos), wire_errc::durability_level_invalid);
    infos.durability = durability_requirement{durability_level::majority, milliseconds{0}};
    EXPECT_EQ(error_of(infos), wire_errc::durability_timeout_invalid);
    infos.durability->timeout = milliseconds{65535};
    EXPECT_EQ(error_of(infos), wire_errc::durability_timeout_invalid);
    const std::string user(254, 'u');
    infos.durability.reset();
    infos.run_as_user = user;
    EXPECT_EQ(error_of(infos), wire_errc::frame_info_size_invalid);
}

TEST(framing_extras, opcodes_without_durability_or_preserve_ttl_reject_them) {
    request_frame_infos infos;
    infos.durability = durability_requirement{};
    EXPECT_TRUE(check_frame_infos(opcode::set, infos));
    EXPECT_EQ(check_frame_infos(opcode::get, infos).error(), wire_errc::frame_info_not_allowed);
    infos = {};
    infos.preserve_ttl = true;
    EXPECT_TRUE(check_frame_infos(opcode::set, infos));
    EXPECT_EQ(check_frame_infos(opcode::add, infos).error(), wire_errc::preserve_ttl_not_supported);
}

TEST(framing_extras, wire_timeout_is_nine_tenths_and_never_an_illegal_value) {
    EXPECT_EQ(durability_wire_timeout(milliseconds{2500}), milliseconds{2250});
    EXPECT_EQ(durability_wire_timeout(milliseconds{10000}), milliseconds{9000});
    EXPECT_EQ(durability_wire_timeout(milliseconds{0}), milliseconds{1});
    EXPECT_EQ(durability_wire_timeout(milliseconds{-5}), milliseconds{1});
    EXPECT_EQ(durability_wire_timeout(milliseconds{72816}), milliseconds{65534});
    EXPECT_EQ(durability_wire_timeout(milliseconds::max()), milliseconds{65534});
}

TEST(framing_extras, server_duration_encodes_to_known_values) {
    const std::pair<std::int64_t, unsigned> known[] = {
        {0, 0},     {1, 1},       {10, 6},        {100, 21},      {500, 53},
        {1000, 79}, {10000, 296}, {100000, 1113}, {1000000, 4181}};
    for (const auto& [micros, code] : known) {
        EXPECT_EQ(encode_server_duration(microseconds{micros}), code) << micros;
    }
    EXPECT_EQ(encode_server_duration(microseconds{-1}), 0u);
    EXPECT_EQ(encode_server_duration(microseconds::max()), 65535u);
    EXPECT_EQ(decode_server_duration(1234), microseconds{119635});
    EXPECT_EQ(decode_server_duration(65535), microseconds{120125042});
    EXPECT_EQ(decode_server_duration(0), microseconds{0});
    for (unsigned code = 2; code <= 65535; ++code) {
        ASSERT_EQ(
            encode_server_duration(decode_server_duration(static_cast<std::uint16_t>(code))), code);
    }
}

TEST(framing_extras, known_response_infos_are_decoded_and_unknown_ones_skipped) {
    response_frame_infos infos;
    infos.server_duration = microseconds{119635};
    infos.read_units = 3;
    infos.write_units = 0xffff;
    infos.throttle_duration = microseconds{0};
    std::vector<std::byte> bytes;
    reprise::base::byte_writer writer(bytes);
    ASSERT_TRUE(encode_response_frame_infos(writer, infos));
    EXPECT_EQ(to_hex(bytes), "02 04 d2 12 00 03 22 ff ff 32 00 00 ");
    const auto decoded = must(decode_response_frame_infos(bytes));
    EXPECT_EQ(decoded, infos);

    const auto with_unknown =
        from_hex("91 aa 02 04 d2 ff 00 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f");
    const auto skipped = must(decode_response_frame_infos(with_unknown));
    EXPECT_EQ(skipped.server_duration, microseconds{119635});
    EXPECT_FALSE(skipped.read_units);
    EXPECT_EQ(
        decode_response_frame_infos(from_hex("01 04")).error(), wire_errc::frame_info_size_invalid);
    EXPECT_EQ(
        decode_response_frame_infos(from_hex("02 04")).error(), wire_errc::frame_info_truncated);
}

}  // namespace framing_extras_test
