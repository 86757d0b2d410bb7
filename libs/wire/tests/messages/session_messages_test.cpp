#include <string>

#include <gtest/gtest.h>
#include <reprise/wire/session_messages.hpp>

#include "frame_bytes.hpp"

namespace session_messages_test {

using namespace reprise::wire;
using namespace frame_bytes;
using reprise::base::as_text;

request_header with_opaque(std::uint32_t opaque) {
    request_header header;
    header.opaque = opaque;
    return header;
}

response_header answer_of(opcode op, std::uint32_t opaque) {
    response_header header;
    header.op = op;
    header.opaque = opaque;
    return header;
}

const hello_feature_set six_features{hello_feature::tcp_no_delay,  hello_feature::mutation_seqno,
                                     hello_feature::xattr,         hello_feature::xerror,
                                     hello_feature::select_bucket, hello_feature::json};

TEST(session_messages, hello_golden_with_connection_identity) {
    const auto golden = from_hex(
        "80 1f 00 38 00 00 00 00 00 00 00 44 00 00 00 01"
        "00 00 00 00 00 00 00 00 7b 22 61 22 3a 22 64 65"
        "6d 6f 2f 31 2e 30 22 2c 22 69 22 3a 22 36 36 33"
        "38 38 43 46 35 42 46 43 46 37 35 32 32 2f 31 38"
        "43 43 38 37 39 31 35 37 39 42 35 36 37 43 22 7d"
        "00 03 00 04 00 06 00 07 00 08 00 0b");
    const agent_identity identity{"demo/1.0", 0x66388CF5BFCF7522, 0x18CC8791579B567C};
    const std::string agent = make_agent_key(identity);
    EXPECT_EQ(to_hex(encoded(hello_request{agent, six_features}, with_opaque(1))), to_hex(golden));
    const auto decoded = must(hello_request::decode(frame_of(golden)));
    EXPECT_EQ(decoded.features, six_features);
    const auto parsed = must(parse_agent_key(decoded.agent));
    EXPECT_EQ(parsed.agent, "demo/1.0");
    EXPECT_EQ(parsed.client_id, identity.client_id);
    EXPECT_EQ(parsed.connection_id, identity.connection_id);

    const auto answer = from_hex(
        "81 1f 00 00 00 00 00 00 00 00 00 0c 00 00 00 01 00 00 00 00 00 00 00 00"
        "00 03 00 04 00 06 00 07 00 08 00 0b");
    EXPECT_EQ(
        to_hex(encoded(hello_response{six_features}, answer_of(opcode::hello, 1))), to_hex(answer));
    EXPECT_EQ(hello_response::decode(frame_of(answer))->features, six_features);
}

TEST(session_messages, hello_ignores_unknown_codes_and_rejects_a_list_of_odd_size) {
    const auto unknown = from_hex(
        "80 1f 00 01 00 00 00 00 00 00 00 07 00 00 00 01 00 00 00 00 00 00 00 00"
        "61 00 07 ff ff 00 40");
    EXPECT_EQ(
        hello_request::decode(frame_of(unknown))->features,
        hello_feature_set{hello_feature::xerror});
    const auto odd = from_hex(
        "80 1f 00 01 00 00 00 00 00 00 00 04 00 00 00 01 00 00 00 00 00 00 00 00"
        "61 00 07 00");
    EXPECT_EQ(hello_request::decode(frame_of(odd)).error(), wire_errc::value_size_invalid);
    const auto nothing = encoded(hello_response{}, answer_of(opcode::hello, 1));
    EXPECT_TRUE(hello_response::decode(frame_of(nothing))->features.empty());
}

TEST(session_messages, agent_is_escaped_and_truncated_to_200_bytes_between_characters) {
    EXPECT_EQ(make_agent_key({"say \"hi\"", {}, {}}), "{\"a\":\"say \\\"hi\\\"\"}");
    EXPECT_EQ(make_agent_key({"x", 1, {}}), "{\"a\":\"x\"}");
    // 199 bytes and then a character of two bytes, which would end at 201.
    const std::string long_agent = std::string(199, 'a') + "\xc3\xa9" + "tail";
    const auto parsed = must(parse_agent_key(make_agent_key({long_agent, 1, 2})));
    EXPECT_EQ(parsed.agent, std::string(199, 'a'));
    EXPECT_EQ(parsed.connection_id, 2u);
}

TEST(session_messages, an_agent_key_that_is_not_the_json_it_claims_to_be_is_rejected) {
    EXPECT_EQ(parse_agent_key("plain agent/1.0")->agent, "plain agent/1.0");
    EXPECT_EQ(parse_agent_key("")->agent, "");
    EXPECT_TRUE(parse_agent_key("{}"));
    EXPECT_TRUE(parse_agent_key("{\"a\":\"x\",\"other\":1}"));
    for (const char* bad :
         {"{", "{\"a\":1}", "{\"i\":\"short\"}", "{\"i\":7}",
          "{\"i\":\"0123456789abcdef-0123456789abcdef\"}",
          "{\"i\":\"0123456789abcdeg/0123456789abcdef\"}",
          "{\"i\":\"-123456789abcdef/0123456789abcdef\"}"}) {
        const auto parsed = parse_agent_key(bad);
        ASSERT_FALSE(parsed.has_value()) << bad;
        EXPECT_EQ(parsed.error(), wire_errc::agent_invalid);
    }
    EXPECT_FALSE(parse_agent_key("{\"a\":\"" + std::string(201, 'a') + "\"}"));
}

TEST(session_messages, sasl_auth_golden_and_its_answers) {
    const auto golden = from_hex(
        "80 21 00 05 00 00 00 00 00 00 00 12 00 00 00 03"
        "00 00 00 00 00 00 00 00 50 4c 41 49 4e 00 61 6c"
        "69 63 65 00 73 33 63 72 65 74");
    const std::string data("\0alice\0s3cret", 13);
    EXPECT_EQ(
        to_hex(encoded(sasl_request{opcode::sasl_auth, "PLAIN", text(data)}, with_opaque(3))),
        to_hex(golden));
    const auto decoded = must(sasl_request::decode(frame_of(golden)));
    EXPECT_EQ(decoded.op, opcode::sasl_auth);
    EXPECT_EQ(decoded.mechanism, "PLAIN");
    EXPECT_EQ(as_text(decoded.data), data);

    response_header go_on = answer_of(opcode::sasl_auth, 3);
    go_on.status = status::auth_continue;
    const auto answer = encoded(value_response{text("r=abc")}, go_on);
    EXPECT_EQ(
        to_hex(answer),
        to_hex(from_hex("81 21 00 00 00 00 00 21 00 00 00 05 00 00 00 03 00 00 00 00 00 00 00 00"
                        "72 3d 61 62 63")));
    EXPECT_EQ(as_text(value_response::decode(frame_of(answer))->value), "r=abc");
    auto no_mechanism = encoded(sasl_request{opcode::sasl_step, "", {}}, with_opaque(3));
    EXPECT_EQ(sasl_request::decode(frame_of(no_mechanism)).error(), wire_errc::key_missing);
}

TEST(session_messages, select_bucket_and_error_map_golden) {
    const auto select = from_hex(
        "80 89 00 0d 00 00 00 00 00 00 00 0d 00 00 00 05"
        "00 00 00 00 00 00 00 00 74 72 61 76 65 6c 2d 73"
        "61 6d 70 6c 65");
    EXPECT_EQ(
        to_hex(encoded(select_bucket_request{"travel-sample"}, with_opaque(5))), to_hex(select));
    EXPECT_EQ(select_bucket_request::decode(frame_of(select))->bucket, "travel-sample");
    const auto error_map = from_hex(
        "80 fe 00 00 00 00 00 00 00 00 00 02 00 00 00 02"
        "00 00 00 00 00 00 00 00 00 02");
    EXPECT_EQ(to_hex(encoded(get_error_map_request{2}, with_opaque(2))), to_hex(error_map));
    EXPECT_EQ(get_error_map_request::decode(frame_of(error_map))->version_max, 2u);
    auto on_vbucket = error_map;
    on_vbucket[7] = std::byte{1};
    EXPECT_EQ(
        get_error_map_request::decode(frame_of(on_vbucket)).error(),
        wire_errc::vbucket_must_be_zero);
}

TEST(session_messages, empty_requests_and_answers_golden) {
    const auto noop =
        from_hex("80 0a 00 00 00 00 00 00 00 00 00 00 00 00 00 08 00 00 00 00 00 00 00 00");
    EXPECT_EQ(to_hex(encoded(empty_request{opcode::noop}, with_opaque(8))), to_hex(noop));
    for (const opcode op :
         {opcode::noop, opcode::quit, opcode::version, opcode::sasl_list_mechanisms,
          opcode::get_collections_manifest}) {
        const auto bytes = encoded(empty_request{op}, with_opaque(8));
        const auto decoded = must(empty_request::decode(frame_of(bytes)));
        EXPECT_EQ(decoded.op, op);
    }
    const auto answer =
        from_hex("81 0a 00 00 00 00 00 00 00 00 00 00 00 00 00 08 00 00 00 00 00 00 00 00");
    EXPECT_EQ(to_hex(encoded(empty_response{}, answer_of(opcode::noop, 8))), to_hex(answer));
    EXPECT_TRUE(empty_response::decode(frame_of(answer)));
    const auto version = encoded(value_response{text("7.6.4")}, answer_of(opcode::version, 8));
    EXPECT_EQ(as_text(value_response::decode(frame_of(version))->value), "7.6.4");
    request_header with_cas;
    with_cas.cas = 1;
    EXPECT_EQ(encode_error(empty_request{opcode::noop}, with_cas), wire_errc::cas_must_be_zero);
}

TEST(session_messages, stat_golden) {
    const auto request = from_hex(
        "80 10 00 03 00 00 00 00 00 00 00 03 00 00 00 08 00 00 00 00 00 00 00 00 6d 65 6d");
    EXPECT_EQ(to_hex(encoded(stat_request{"mem", {}}, with_opaque(8))), to_hex(request));
    EXPECT_EQ(stat_request::decode(frame_of(request))->group, "mem");
}

TEST(session_messages, verbosity_golden) {
    const auto golden = from_hex(
        "80 1b 00 00 04 00 00 00 00 00 00 04 00 00 00 08 00 00 00 00 00 00 00 00 00 00 00 02");
    EXPECT_EQ(to_hex(encoded(verbosity_request{2}, with_opaque(8))), to_hex(golden));
    EXPECT_EQ(verbosity_request::decode(frame_of(golden))->level, 2u);
}

}  // namespace session_messages_test
