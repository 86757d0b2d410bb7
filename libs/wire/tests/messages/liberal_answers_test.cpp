#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <reprise/wire/cluster_messages.hpp>
#include <reprise/wire/document_messages.hpp>
#include <reprise/wire/observe_messages.hpp>
#include <reprise/wire/session_messages.hpp>
#include <reprise/wire/subdoc_messages.hpp>

#include "frame_bytes.hpp"

// Every decoder of an answer ignores what its message does not need. The decoders of requests,
// which the test cluster uses, are strict.

namespace liberal_answers_test {

using namespace reprise::wire;
using frame_bytes::frame_of;
using frame_bytes::must;
using frame_bytes::text;

struct answer_parts {
    std::string extras{};
    std::string key{};
    std::string value{};
    status code = status::success;
};

std::vector<std::byte> answer_bytes(opcode op, const answer_parts& parts) {
    std::vector<std::byte> bytes;
    reprise::base::byte_writer writer(bytes);
    frame_parts frame;
    frame.magic = magic::response;
    frame.op = op;
    frame.datatype = static_cast<datatype>(0x80);
    frame.vbucket_or_status = static_cast<std::uint16_t>(parts.code);
    frame.extras = text(parts.extras);
    frame.key = text(parts.key);
    frame.value = text(parts.value);
    EXPECT_TRUE(encode_frame(writer, frame).has_value());
    return bytes;
}

template <class Message>
auto decoded(opcode op, const answer_parts& parts) {
    const auto bytes = answer_bytes(op, parts);
    const auto message = Message::decode(frame_of(bytes));
    return message ? wire_errc{} : message.error();
}

constexpr wire_errc fine{};

TEST(liberal_answers, parts_that_a_message_does_not_need_are_ignored) {
    const answer_parts stray{.extras = std::string(12, 'x'), .key = "key", .value = "12345678"};
    EXPECT_EQ(decoded<empty_response>(opcode::noop, stray), fine);
    EXPECT_EQ(decoded<empty_response>(opcode::select_bucket, stray), fine);
    EXPECT_EQ(decoded<value_response>(opcode::version, stray), fine);
    EXPECT_EQ(decoded<document_response>(opcode::get, stray), fine);
    EXPECT_EQ(decoded<mutation_response>(opcode::set, stray), fine);
    EXPECT_EQ(decoded<counter_response>(opcode::increment, stray), fine);
    EXPECT_EQ(decoded<hello_response>(opcode::hello, stray), fine);
    EXPECT_EQ(decoded<collection_id_response>(opcode::get_collection_id, stray), fine);
    const answer_parts meta{.extras = std::string(24, 'x'), .key = "key", .value = "value"};
    EXPECT_EQ(decoded<get_meta_response>(opcode::get_meta, meta), fine);
    const answer_parts lookup{
        .extras = "extras", .key = "key", .value = std::string("\0\0\0\0\0\1v", 7)};
    EXPECT_EQ(decoded<subdoc_lookup_response>(opcode::subdoc_multi_lookup, lookup), fine);
    const answer_parts mutation{.extras = std::string(20, 'x'), .key = "key"};
    EXPECT_EQ(decoded<subdoc_mutation_response>(opcode::subdoc_multi_mutation, mutation), fine);
    const answer_parts seqno{
        .extras = "extras", .key = "key", .value = std::string(27, '\0') + "more"};
    EXPECT_EQ(decoded<observe_seqno_response>(opcode::observe_seqno, seqno), fine);
}

TEST(liberal_answers, needed_fields_are_read_from_the_front) {
    const std::string token("\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2more", 20);
    const auto stored = answer_bytes(opcode::set, {.extras = token});
    EXPECT_EQ(mutation_response::decode(frame_of(stored))->token, (mutation_token{1, 2}));
    const auto cut = answer_bytes(opcode::set, {.extras = token.substr(0, 15)});
    EXPECT_EQ(mutation_response::decode(frame_of(cut))->token, std::nullopt);
    const auto read = answer_bytes(opcode::get, {.extras = std::string("\0\0\0\7more", 8)});
    EXPECT_EQ(document_response::decode(frame_of(read))->flags, 7U);
    const auto failed = answer_bytes(
        opcode::subdoc_multi_mutation,
        {.value = std::string("\2\0\xc9more", 7), .code = status::subdoc_multi_path_failure});
    const auto paths = must(subdoc_mutation_response::decode(frame_of(failed)));
    ASSERT_EQ(paths.results.size(), 1U);
    EXPECT_EQ(paths.results[0].index, 2U);
    EXPECT_EQ(paths.results[0].status, status::subdoc_path_eexists);
}

TEST(liberal_answers, needed_fields_must_be_present) {
    EXPECT_EQ(
        decoded<document_response>(opcode::get, {.extras = "abc"}), wire_errc::extras_size_invalid);
    EXPECT_EQ(
        decoded<counter_response>(opcode::increment, {.value = "1234567"}),
        wire_errc::value_size_invalid);
    EXPECT_EQ(
        decoded<counter_response>(opcode::increment, {.value = "123456789"}),
        wire_errc::value_size_invalid);
    EXPECT_EQ(
        decoded<get_meta_response>(opcode::get_meta, {.extras = std::string(19, 'x')}),
        wire_errc::extras_size_invalid);
    EXPECT_EQ(
        decoded<collection_id_response>(
            opcode::get_collection_id, {.extras = std::string(11, 'x')}),
        wire_errc::extras_size_invalid);
    EXPECT_EQ(
        decoded<observe_seqno_response>(opcode::observe_seqno, {.value = std::string(26, '\0')}),
        wire_errc::value_size_invalid);
    EXPECT_EQ(
        decoded<empty_response>(opcode::noop, {.code = status::key_enoent}),
        wire_errc::status_unexpected);
    EXPECT_EQ(decoded<mutation_response>(opcode::get, {}), wire_errc::opcode_mismatch);
}

TEST(liberal_answers, reserved_collection_ids_are_legal_in_answers_but_not_in_requests) {
    const document_key odd{collection_id{3}, "k", key_form::collection_prefixed};
    observe_response answer;
    ASSERT_TRUE(answer.results.push_back({vbucket_id{5}, odd, observe_state::found, 1}));
    response_header header;
    header.op = opcode::observe;
    const auto answered = frame_bytes::encoded(answer, header);
    const auto results =
        observe_response::decode(frame_of(answered), key_form::collection_prefixed);
    ASSERT_TRUE(results);
    EXPECT_EQ(results->results[0].key.collection, collection_id{3});
    const auto asked = frame_bytes::encoded(document_request{opcode::get, odd}, request_header{});
    EXPECT_EQ(
        document_request::decode(frame_of(asked), key_form::collection_prefixed).error(),
        wire_errc::collection_id_reserved);
    observe_request question;
    ASSERT_TRUE(question.keys.push_back({vbucket_id{5}, odd}));
    const auto sent = frame_bytes::encoded(question, request_header{});
    EXPECT_EQ(
        observe_request::decode(frame_of(sent), key_form::collection_prefixed).error(),
        wire_errc::collection_id_reserved);
}

TEST(liberal_answers, a_push_with_longer_extras_or_unknown_datatype_bits_is_accepted) {
    std::vector<std::byte> bytes;
    reprise::base::byte_writer writer(bytes);
    const std::string extras("\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\x09more", 20);
    frame_parts frame;
    frame.magic = magic::server_request;
    frame.op = static_cast<opcode>(server_opcode::cluster_map_change_notification);
    frame.datatype = static_cast<datatype>(0x21);
    frame.extras = text(extras);
    frame.key = text("b");
    ASSERT_TRUE(encode_frame(writer, frame).has_value());
    const auto pushed = must(cluster_map_change_notification::decode(frame_of(bytes)));
    EXPECT_EQ(pushed.epoch, 2);
    EXPECT_EQ(pushed.rev, 9);
    EXPECT_EQ(pushed.bucket, "b");
}

}  // namespace liberal_answers_test
