#include <vector>

#include <gtest/gtest.h>
#include <reprise/wire/observe_messages.hpp>

#include "frame_bytes.hpp"

namespace observe_messages_test {

using namespace reprise::wire;
using namespace frame_bytes;

constexpr key_form prefixed = key_form::collection_prefixed;

TEST(observe_messages, observe_golden_both_ways) {
    const auto request_bytes = from_hex(
        "80 92 00 00 00 00 00 00 00 00 00 08 00 00 00 33 00 00 00 00 00 00 00 00"
        "00 73 00 04 00 66 6f 6f");
    const document_key key{default_collection, "foo", prefixed};
    observe_request request;
    ASSERT_TRUE(request.keys.push_back({vbucket_id{115}, key}));
    request_header header;
    header.opaque = 0x33;
    EXPECT_EQ(to_hex(encoded(request, header)), to_hex(request_bytes));
    const auto decoded = must(observe_request::decode(frame_of(request_bytes), prefixed));
    ASSERT_EQ(decoded.keys.size(), 1u);
    EXPECT_EQ(decoded.keys[0].vbucket, vbucket_id{115});
    EXPECT_EQ(decoded.keys[0].key.key, "foo");

    const auto answer_bytes = from_hex(
        "81 92 00 00 00 00 00 00 00 00 00 11 00 00 00 33 00 00 00 00 00 00 00 00"
        "00 73 00 04 00 66 6f 6f 01 15 f6 a1 b2 c3 d4 00 01");
    observe_response response;
    ASSERT_TRUE(response.results.push_back(
        {vbucket_id{115}, key, observe_state::persisted, 0x15f6a1b2c3d40001}));
    response_header answer;
    answer.op = opcode::observe;
    answer.opaque = 0x33;
    EXPECT_EQ(to_hex(encoded(response, answer)), to_hex(answer_bytes));
    const auto results = observe_response::decode(frame_of(answer_bytes), prefixed);
    ASSERT_TRUE(results);
    ASSERT_EQ(results->results.size(), 1u);
    EXPECT_EQ(results->results[0].state, observe_state::persisted);
    EXPECT_EQ(results->results[0].cas, 0x15f6a1b2c3d40001u);
}

TEST(observe_messages, observe_seqno_golden_both_ways) {
    const auto request_bytes = from_hex(
        "80 91 00 00 00 00 00 73 00 00 00 08 00 00 00 34"
        "00 00 00 00 00 00 00 00 00 00 a1 b2 c3 d4 e5 f6");
    request_header header;
    header.opaque = 0x34;
    header.vbucket = vbucket_id{115};
    EXPECT_EQ(
        to_hex(encoded(observe_seqno_request{0x0000a1b2c3d4e5f6}, header)), to_hex(request_bytes));
    EXPECT_EQ(
        observe_seqno_request::decode(frame_of(request_bytes))->vbucket_uuid, 0x0000a1b2c3d4e5f6u);

    response_header answer;
    answer.op = opcode::observe_seqno;
    answer.opaque = 0x34;
    observe_seqno_response response{vbucket_id{115}, 0xa1b2c3d4e5f6, 5, 9, {}};
    const auto plain = from_hex(
        "81 91 00 00 00 00 00 00 00 00 00 1b 00 00 00 34 00 00 00 00 00 00 00 00"
        "00 00 73 00 00 a1 b2 c3 d4 e5 f6 00 00 00 00 00 00 00 05 00 00 00 00 00 00 00 09");
    EXPECT_EQ(to_hex(encoded(response, answer)), to_hex(plain));
    EXPECT_EQ(observe_seqno_response::decode(frame_of(plain))->failed_over, std::nullopt);
    response.failed_over = seqno_failover{0x1111, 7};
    const auto failover = from_hex(
        "81 91 00 00 00 00 00 00 00 00 00 2b 00 00 00 34 00 00 00 00 00 00 00 00"
        "01 00 73 00 00 a1 b2 c3 d4 e5 f6 00 00 00 00 00 00 00 05 00 00 00 00 00 00 00 09"
        "00 00 00 00 00 00 11 11 00 00 00 00 00 00 00 07");
    EXPECT_EQ(to_hex(encoded(response, answer)), to_hex(failover));
    const auto decoded = must(observe_seqno_response::decode(frame_of(failover)));
    EXPECT_EQ(decoded.failed_over, response.failed_over);
    EXPECT_EQ(decoded.persisted_seqno, 5u);
    EXPECT_EQ(decoded.current_seqno, 9u);
}

TEST(observe_messages, seqno_answers_of_other_formats_or_sizes_are_rejected) {
    const auto format_2 = from_hex(
        "81 91 00 00 00 00 00 00 00 00 00 1b 00 00 00 34 00 00 00 00 00 00 00 00"
        "02 00 73 00 00 a1 b2 c3 d4 e5 f6 00 00 00 00 00 00 00 05 00 00 00 00 00 00 00 09");
    EXPECT_EQ(
        observe_seqno_response::decode(frame_of(format_2)).error(), wire_errc::value_size_invalid);
    // Announces a failover but ends after the plain part.
    auto short_failover = format_2;
    short_failover[header_size] = std::byte{0x01};
    EXPECT_EQ(
        observe_seqno_response::decode(frame_of(short_failover)).error(),
        wire_errc::value_size_invalid);
}

TEST(observe_messages, lists_are_bounded_and_truncation_is_reported) {
    EXPECT_EQ(encode_error(observe_request{}, request_header{}), wire_errc::spec_count_invalid);
    const auto empty =
        from_hex("80 92 00 00 00 00 00 00 00 00 00 00 00 00 00 33 00 00 00 00 00 00 00 00");
    EXPECT_EQ(
        observe_request::decode(frame_of(empty), prefixed).error(), wire_errc::spec_count_invalid);
    std::vector<std::byte> bytes =
        from_hex("80 92 00 00 00 00 00 00 00 00 00 66 00 00 00 33 00 00 00 00 00 00 00 00");
    for (int i = 0; i < 17; ++i) {
        const auto entry = from_hex("00 73 00 02 00 66");
        bytes.insert(bytes.end(), entry.begin(), entry.end());
    }
    EXPECT_EQ(
        observe_request::decode(frame_of(bytes), prefixed).error(), wire_errc::spec_count_invalid);
    const auto lying = from_hex(
        "80 92 00 00 00 00 00 00 00 00 00 06 00 00 00 33 00 00 00 00 00 00 00 00"
        "00 73 00 03 00 66");
    EXPECT_EQ(
        observe_request::decode(frame_of(lying), prefixed).error(), wire_errc::spec_truncated);
}

}  // namespace observe_messages_test
