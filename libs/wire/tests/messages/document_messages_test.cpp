#include <chrono>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <reprise/wire/document_messages.hpp>

#include "frame_bytes.hpp"

namespace document_messages_test {

using namespace reprise::wire;
using namespace frame_bytes;
using reprise::base::as_text;

constexpr key_form prefixed = key_form::collection_prefixed;
constexpr std::uint64_t some_cas = 0x15f6a1b2c3d40001;
constexpr mutation_token some_token{0x0000a1b2c3d4e5f6, 0x17};

response_header answer_to(opcode op, std::uint32_t opaque, std::uint64_t cas = some_cas) {
    response_header header;
    header.op = op;
    header.opaque = opaque;
    header.cas = cas;
    return header;
}

TEST(document_messages, get_request_golden) {
    const auto golden = from_hex(
        "80 00 00 06 00 00 03 d1 00 00 00 06 00 00 00 2a"
        "00 00 00 00 00 00 00 00 00 48 65 6c 6c 6f");
    request_header header;
    header.opaque = 0x2a;
    header.vbucket = vbucket_id{977};
    const document_request request{opcode::get, {default_collection, "Hello", prefixed}};
    EXPECT_EQ(to_hex(encoded(request, header)), to_hex(golden));
    const auto decoded = must(document_request::decode(frame_of(golden), prefixed));
    EXPECT_EQ(decoded.op, opcode::get);
    EXPECT_EQ(decoded.key.key, "Hello");
    EXPECT_EQ(frame_of(golden).vbucket(), vbucket_id{977});
}

TEST(document_messages, get_response_golden_with_server_duration) {
    const auto golden = from_hex(
        "18 00 03 00 04 01 00 00 00 00 00 0e 00 00 00 2a"
        "15 f6 a1 b2 c3 d4 00 00 02 04 d2 02 00 00 06 7b"
        "22 61 22 3a 31 7d");
    response_header header = answer_to(opcode::get, 0x2a, 0x15f6a1b2c3d40000);
    header.datatype = datatype::json;
    header.frame_infos.server_duration = std::chrono::microseconds{119635};
    const document_response response{0x02000006, text("{\"a\":1}"), {}};
    EXPECT_EQ(to_hex(encoded(response, header)), to_hex(golden));
    const frame_view frame = frame_of(golden);
    const auto decoded = must(document_response::decode(frame));
    EXPECT_EQ(decoded.flags, 0x02000006u);
    EXPECT_EQ(as_text(decoded.value), "{\"a\":1}");
    EXPECT_EQ(frame.cas(), 0x15f6a1b2c3d40000u);
    EXPECT_EQ(
        decode_response_frame_infos(frame.framing_extras())->server_duration,
        std::chrono::microseconds{119635});
}

TEST(document_messages, set_request_golden_with_durability_and_preserve_ttl) {
    const auto golden = from_hex(
        "08 01 05 04 08 01 00 73 00 00 00 18 00 00 00 2b"
        "00 00 00 00 00 00 00 00 13 01 08 ca 50 02 00 00"
        "06 00 00 00 00 08 66 6f 6f 7b 22 61 22 3a 31 7d");
    request_header header;
    header.opaque = 0x2b;
    header.vbucket = vbucket_id{0x73};
    header.datatype = datatype::json;
    header.frame_infos.emplace().preserve_ttl = true;
    header.frame_infos->durability =
        durability_requirement{durability_level::majority, std::chrono::milliseconds{2250}};
    const store_request request{
        opcode::set, {collection_id{8}, "foo", prefixed}, 0x02000006, 0, text("{\"a\":1}")};
    EXPECT_EQ(to_hex(encoded(request, header)), to_hex(golden));
    const frame_view frame = frame_of(golden);
    const auto decoded = must(store_request::decode(frame, prefixed));
    EXPECT_EQ(decoded.key.collection, collection_id{8});
    EXPECT_EQ(decoded.key.key, "foo");
    EXPECT_EQ(decoded.flags, 0x02000006u);
    EXPECT_EQ(as_text(decoded.value), "{\"a\":1}");
    EXPECT_EQ(decode_request_frame_infos(frame.framing_extras()), *header.frame_infos);
}

TEST(document_messages, set_response_golden_with_mutation_token) {
    const auto golden = from_hex(
        "81 01 00 00 10 00 00 00 00 00 00 10 00 00 00 2b"
        "15 f6 a1 b2 c3 d4 00 01 00 00 a1 b2 c3 d4 e5 f6"
        "00 00 00 00 00 00 00 17");
    const mutation_response response{some_token};
    EXPECT_EQ(to_hex(encoded(response, answer_to(opcode::set, 0x2b))), to_hex(golden));
    const auto decoded = must(mutation_response::decode(frame_of(golden)));
    EXPECT_EQ(decoded.token, some_token);
    const auto bare = encoded(mutation_response{}, answer_to(opcode::remove, 1));
    EXPECT_EQ(mutation_response::decode(frame_of(bare))->token, std::nullopt);
}

TEST(document_messages, increment_request_and_response_golden) {
    const auto golden = from_hex(
        "80 05 00 08 14 00 01 22 00 00 00 1c 00 00 00 09"
        "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 01"
        "00 00 00 00 00 00 00 00 ff ff ff ff 00 63 6f 75"
        "6e 74 65 72");
    request_header header;
    header.opaque = 9;
    header.vbucket = vbucket_id{290};
    counter_request request;
    request.key = {default_collection, "counter", prefixed};
    request.delta = 1;
    EXPECT_EQ(to_hex(encoded(request, header)), to_hex(golden));
    const auto decoded = must(counter_request::decode(frame_of(golden), prefixed));
    EXPECT_EQ(decoded.delta, 1u);
    EXPECT_EQ(decoded.initial, 0u);
    EXPECT_EQ(decoded.expiry, expiry_do_not_create);

    const auto answer = from_hex(
        "81 05 00 00 10 00 00 00 00 00 00 18 00 00 00 09 15 f6 a1 b2 c3 d4 00 01"
        "00 00 a1 b2 c3 d4 e5 f6 00 00 00 00 00 00 00 17 00 00 00 00 00 00 00 2a");
    const counter_response response{42, some_token};
    EXPECT_EQ(to_hex(encoded(response, answer_to(opcode::increment, 9))), to_hex(answer));
    const auto counted = must(counter_response::decode(frame_of(answer)));
    EXPECT_EQ(counted.value, 42u);
    EXPECT_EQ(counted.token, some_token);
}

TEST(document_messages, requests_with_only_a_key_golden) {
    request_header header;
    header.opaque = 7;
    header.vbucket = vbucket_id{0x73};
    const document_key key{default_collection, "foo", prefixed};
    EXPECT_EQ(
        to_hex(encoded(document_request{opcode::get_replica, key}, header)),
        to_hex(from_hex("80 83 00 04 00 00 00 73 00 00 00 04 00 00 00 07 00 00 00 00 00 00 00 00"
                        "00 66 6f 6f")));
    header.cas = 0x0102030405060708;
    EXPECT_EQ(
        to_hex(encoded(document_request{opcode::remove, key}, header)),
        to_hex(from_hex("80 04 00 04 00 00 00 73 00 00 00 04 00 00 00 07 01 02 03 04 05 06 07 08"
                        "00 66 6f 6f")));
    EXPECT_EQ(
        to_hex(encoded(document_request{opcode::unlock, key}, header)),
        to_hex(from_hex("80 95 00 04 00 00 00 73 00 00 00 04 00 00 00 07 01 02 03 04 05 06 07 08"
                        "00 66 6f 6f")));
}

TEST(document_messages, append_touch_and_lock_golden) {
    request_header header;
    header.opaque = 7;
    header.vbucket = vbucket_id{0x73};
    const document_key key{default_collection, "foo", prefixed};
    const auto append = from_hex(
        "80 0e 00 04 00 00 00 73 00 00 00 06 00 00 00 07 00 00 00 00 00 00 00 00"
        "00 66 6f 6f 2b 31");
    EXPECT_EQ(
        to_hex(encoded(concat_request{opcode::append, key, text("+1")}, header)), to_hex(append));
    EXPECT_EQ(as_text(concat_request::decode(frame_of(append), prefixed)->value), "+1");

    const auto touch = from_hex(
        "80 1d 00 04 04 00 00 73 00 00 00 08 00 00 00 07 00 00 00 00 00 00 00 00"
        "00 00 00 3c 00 66 6f 6f");
    EXPECT_EQ(
        to_hex(encoded(touch_request{opcode::get_and_touch, key, 60}, header)), to_hex(touch));
    EXPECT_EQ(touch_request::decode(frame_of(touch), prefixed)->expiry, 60u);

    const auto lock = from_hex(
        "80 94 00 04 04 00 00 73 00 00 00 08 00 00 00 07 00 00 00 00 00 00 00 00"
        "00 00 00 0f 00 66 6f 6f");
    EXPECT_EQ(to_hex(encoded(get_locked_request{key, 15}, header)), to_hex(lock));
    EXPECT_EQ(get_locked_request::decode(frame_of(lock), prefixed)->lock_seconds, 15u);
    const auto lock_default = encoded(get_locked_request{key, {}}, header);
    EXPECT_EQ(lock_default.size(), header_size + 4);
    EXPECT_EQ(
        get_locked_request::decode(frame_of(lock_default), prefixed)->lock_seconds, std::nullopt);
}

TEST(document_messages, get_meta_golden_both_versions) {
    request_header header;
    header.opaque = 7;
    header.vbucket = vbucket_id{0x73};
    const document_key key{default_collection, "foo", prefixed};
    const auto request = from_hex(
        "80 a0 00 04 01 00 00 73 00 00 00 05 00 00 00 07 00 00 00 00 00 00 00 00"
        "02 00 66 6f 6f");
    EXPECT_EQ(to_hex(encoded(get_meta_request{key, 2}, header)), to_hex(request));
    EXPECT_EQ(get_meta_request::decode(frame_of(request), prefixed)->version, 2);

    const auto answer = from_hex(
        "81 a0 00 00 15 00 00 00 00 00 00 15 00 00 00 07 15 f6 a1 b2 c3 d4 00 01"
        "00 00 00 01 02 00 00 06 00 00 00 3c 00 00 00 00 00 00 00 17 01");
    const get_meta_response response{true, 0x02000006, 60, 0x17, datatype::json};
    EXPECT_EQ(to_hex(encoded(response, answer_to(opcode::get_meta, 7))), to_hex(answer));
    const auto decoded = must(get_meta_response::decode(frame_of(answer)));
    EXPECT_TRUE(decoded.is_deleted);
    EXPECT_EQ(decoded.expiry, 60u);
    EXPECT_EQ(decoded.seqno, 0x17u);
    EXPECT_EQ(decoded.datatype, datatype::json);
    const auto without =
        encoded(get_meta_response{false, 1, 2, 3, {}}, answer_to(opcode::get_meta, 7));
    EXPECT_EQ(without.size(), header_size + 20);
    EXPECT_EQ(get_meta_response::decode(frame_of(without))->datatype, std::nullopt);
}

TEST(document_messages, a_replica_answer_with_an_echoed_key_is_accepted) {
    const document_response response{1, text("v"), text("foo")};
    const auto bytes = encoded(response, answer_to(opcode::get_replica, 1));
    const auto decoded = must(document_response::decode(frame_of(bytes)));
    EXPECT_EQ(as_text(decoded.key), "foo");
    EXPECT_EQ(as_text(decoded.value), "v");
}

TEST(document_messages, not_my_vbucket_without_a_body_golden) {
    const auto golden =
        from_hex("81 00 00 00 00 00 00 07 00 00 00 00 00 00 00 2a 00 00 00 00 00 00 00 00");
    response_header header = answer_to(opcode::get, 0x2a, 0);
    header.status = status::not_my_vbucket;
    EXPECT_EQ(to_hex(encoded(value_response{}, header)), to_hex(golden));
    const frame_view frame = frame_of(golden);
    EXPECT_EQ(document_response::decode(frame).error(), wire_errc::status_unexpected);
    EXPECT_TRUE(value_response::decode(frame)->value.empty());
}

TEST(document_messages, both_sides_enforce_the_cas_rules) {
    const document_key key{default_collection, "foo", prefixed};
    request_header with_cas;
    with_cas.cas = 1;
    EXPECT_EQ(
        encode_error(document_request{opcode::get, key}, with_cas), wire_errc::cas_must_be_zero);
    EXPECT_EQ(
        encode_error(store_request{opcode::add, key, 0, 0, {}}, with_cas),
        wire_errc::cas_must_be_zero);
    EXPECT_EQ(encode_error(counter_request{.key = key}, with_cas), wire_errc::cas_must_be_zero);
    EXPECT_EQ(
        encode_error(document_request{opcode::unlock, key}, request_header{}),
        wire_errc::cas_must_not_be_zero);
    const auto set = encoded(store_request{opcode::set, key, 0, 0, {}}, with_cas);
    EXPECT_TRUE(store_request::decode(frame_of(set), prefixed));
    auto add = set;
    add[1] = std::byte{0x02};
    EXPECT_EQ(store_request::decode(frame_of(add), prefixed).error(), wire_errc::cas_must_be_zero);
}

TEST(document_messages, both_sides_enforce_the_datatype_rules) {
    const document_key key{default_collection, "foo", prefixed};
    request_header header;
    header.datatype = datatype::json | datatype::snappy;
    EXPECT_FALSE(encoded(store_request{opcode::set, key, 0, 0, text("x")}, header).empty());
    EXPECT_EQ(
        encode_error(document_request{opcode::get, key}, header), wire_errc::datatype_invalid);
    header.datatype = datatype::xattr;
    EXPECT_EQ(
        encode_error(store_request{opcode::set, key, 0, 0, {}}, header),
        wire_errc::datatype_invalid);
    auto bytes = encoded(document_request{opcode::get, key}, request_header{});
    bytes[5] = std::byte{0x01};
    EXPECT_EQ(
        document_request::decode(frame_of(bytes), prefixed).error(), wire_errc::datatype_invalid);
}

TEST(document_messages, each_wrong_shape_has_its_error) {
    const document_key key{default_collection, "foo", prefixed};
    const auto get = encoded(document_request{opcode::get, key}, request_header{});
    EXPECT_EQ(store_request::decode(frame_of(get), prefixed).error(), wire_errc::opcode_mismatch);
    EXPECT_EQ(document_response::decode(frame_of(get)).error(), wire_errc::not_a_response);
    const auto with_value = from_hex(
        "80 00 00 02 00 00 00 00 00 00 00 03 00 00 00 00 00 00 00 00 00 00 00 00 00 6b 76");
    EXPECT_EQ(
        document_request::decode(frame_of(with_value), prefixed).error(),
        wire_errc::value_unexpected);
    const auto with_extras = from_hex(
        "80 00 00 02 01 00 00 00 00 00 00 03 00 00 00 00 00 00 00 00 00 00 00 00 00 00 6b");
    EXPECT_EQ(
        document_request::decode(frame_of(with_extras), prefixed).error(),
        wire_errc::extras_size_invalid);
    const auto set_without_extras =
        from_hex("80 01 00 02 00 00 00 00 00 00 00 02 00 00 00 00 00 00 00 00 00 00 00 00 00 6b");
    EXPECT_EQ(
        store_request::decode(frame_of(set_without_extras), prefixed).error(),
        wire_errc::extras_size_invalid);
    const auto counter_of_7 = from_hex(
        "81 05 00 00 00 00 00 00 00 00 00 07 00 00 00 00 00 00 00 00 00 00 00 00"
        "00 00 00 00 00 00 00");
    EXPECT_EQ(
        counter_response::decode(frame_of(counter_of_7)).error(), wire_errc::value_size_invalid);
    const auto response = encoded(document_response{}, answer_to(opcode::get, 1));
    EXPECT_EQ(
        document_request::decode(frame_of(response), prefixed).error(), wire_errc::not_a_request);
}

TEST(document_messages, keys_are_checked_before_anything_is_written) {
    const std::string long_key(251, 'k');
    EXPECT_EQ(
        encode_error(
            document_request{opcode::get, {default_collection, long_key, prefixed}},
            request_header{}),
        wire_errc::key_too_long);
    EXPECT_EQ(
        encode_error(
            document_request{opcode::get, {collection_id{9}, "k", key_form::bare}},
            request_header{}),
        wire_errc::collection_not_expressible);
}

TEST(document_messages, frame_infos_that_an_opcode_does_not_accept_are_rejected) {
    const document_key key{default_collection, "foo", prefixed};
    request_header header;
    header.frame_infos.emplace().durability = durability_requirement{};
    EXPECT_EQ(
        encode_error(document_request{opcode::get, key}, header),
        wire_errc::frame_info_not_allowed);
    header = {};
    header.frame_infos.emplace().preserve_ttl = true;
    EXPECT_EQ(
        encode_error(touch_request{opcode::touch, key, 1}, header),
        wire_errc::preserve_ttl_not_supported);
    header = {};
    header.frame_infos.emplace().barrier = true;
    const auto bytes = encoded(document_request{opcode::get, key}, header);
    EXPECT_EQ(bytes[0], std::byte{0x08});
    EXPECT_TRUE(document_request::decode(frame_of(bytes), prefixed));
}

TEST(document_messages, nothing_is_written_to_a_full_output) {
    const store_request request{
        opcode::set, {default_collection, "foo", prefixed}, 0, 0, text("value")};
    std::vector<std::byte> out;
    reprise::base::byte_writer writer(out, header_size + 8 + 4 + 5 - 1);
    EXPECT_EQ(request.encode(writer, {}).error(), wire_errc::output_full);
    EXPECT_TRUE(out.empty());
    reprise::base::byte_writer wide(out, header_size + 8 + 4 + 5);
    EXPECT_TRUE(request.encode(wide, {}));
}

}  // namespace document_messages_test
