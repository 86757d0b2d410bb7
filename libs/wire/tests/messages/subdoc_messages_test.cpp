#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <reprise/wire/subdoc_messages.hpp>

#include "frame_bytes.hpp"

namespace subdoc_messages_test {

using namespace reprise::wire;
using namespace frame_bytes;
using reprise::base::as_text;

constexpr key_form prefixed = key_form::collection_prefixed;
const document_key user_key{default_collection, "u:1234", prefixed};

request_header to_vbucket_795(std::uint32_t opaque) {
    request_header header;
    header.opaque = opaque;
    header.vbucket = vbucket_id{795};
    return header;
}

response_header subdoc_answer(opcode op, std::uint32_t opaque, std::uint64_t cas) {
    response_header header;
    header.op = op;
    header.opaque = opaque;
    header.cas = cas;
    return header;
}

TEST(subdoc_messages, single_upsert_golden) {
    const auto golden = from_hex(
        "80 c8 00 07 08 00 03 1b 00 00 00 18 00 00 00 32"
        "00 00 00 00 00 00 00 00 00 04 01 00 00 00 00 01"
        "00 75 3a 31 32 33 34 6e 61 6d 65 22 42 6f 62 22");
    subdoc_request request;
    request.op = opcode::subdoc_dict_upsert;
    request.key = user_key;
    request.flags = path_flags::create_parents;
    request.doc_flags = doc_flags::create;
    request.expiry = 0;
    request.path = "name";
    request.value = text("\"Bob\"");
    EXPECT_EQ(to_hex(encoded(request, to_vbucket_795(0x32))), to_hex(golden));
    const auto decoded = must(subdoc_request::decode(frame_of(golden), prefixed));
    EXPECT_EQ(decoded.op, opcode::subdoc_dict_upsert);
    EXPECT_EQ(decoded.key.key, "u:1234");
    EXPECT_EQ(decoded.flags, path_flags::create_parents);
    EXPECT_EQ(decoded.doc_flags, doc_flags::create);
    EXPECT_EQ(decoded.expiry, 0u);
    EXPECT_EQ(decoded.user_flags, std::nullopt);
    EXPECT_EQ(decoded.path, "name");
    EXPECT_EQ(as_text(decoded.value), "\"Bob\"");
}

TEST(subdoc_messages, size_of_single_extras_determines_which_fields_are_present) {
    subdoc_request request;
    request.op = opcode::subdoc_dict_upsert;
    request.key = user_key;
    request.path = "p";
    request.value = text("1");
    for (const bool has_expiry : {false, true}) {
        for (const bool has_user_flags : {false, true}) {
            for (const bool has_doc_flags : {false, true}) {
                request.expiry = has_expiry ? std::optional<std::uint32_t>(60) : std::nullopt;
                request.user_flags =
                    has_user_flags ? std::optional<std::uint32_t>(0x02000006) : std::nullopt;
                request.doc_flags = has_doc_flags ? std::optional(doc_flags::create) : std::nullopt;
                if (has_user_flags && !has_expiry) {
                    EXPECT_EQ(
                        encode_error(request, request_header{}), wire_errc::extras_size_invalid);
                    continue;
                }
                const auto bytes = encoded(request, request_header{});
                const auto decoded = must(subdoc_request::decode(frame_of(bytes), prefixed));
                EXPECT_EQ(decoded.expiry, request.expiry);
                EXPECT_EQ(decoded.user_flags, request.user_flags);
                EXPECT_EQ(decoded.doc_flags, request.doc_flags);
            }
        }
    }
    request = {};
    request.key = user_key;
    request.path = "p";
    request.expiry = 1;
    EXPECT_EQ(encode_error(request, request_header{}), wire_errc::extras_size_invalid)
        << "a lookup has no expiry";
}

TEST(subdoc_messages, multi_lookup_golden_both_ways) {
    const auto golden = from_hex(
        "80 d0 00 07 00 00 03 1b 00 00 00 33 00 00 00 30"
        "00 00 00 00 00 00 00 00 00 75 3a 31 32 33 34 c5"
        "04 00 11 24 64 6f 63 75 6d 65 6e 74 2e 65 78 70"
        "74 69 6d 65 c5 00 00 04 6e 61 6d 65 c6 00 00 07"
        "67 65 6f 2e 6c 61 74 00 00 00 00");
    subdoc_lookup_request request;
    request.key = user_key;
    request.specs = {
        {opcode::subdoc_get, path_flags::xattr, "$document.exptime"},
        {opcode::subdoc_get, path_flags::none, "name"},
        {opcode::subdoc_exists, path_flags::none, "geo.lat"},
        {opcode::get, path_flags::none, ""}};
    EXPECT_EQ(to_hex(encoded(request, to_vbucket_795(0x30))), to_hex(golden));
    const auto decoded = must(subdoc_lookup_request::decode(frame_of(golden), prefixed));
    ASSERT_EQ(decoded.specs.size(), 4u);
    EXPECT_EQ(decoded.specs[0].path, "$document.exptime");
    EXPECT_EQ(decoded.specs[0].flags, path_flags::xattr);
    EXPECT_EQ(decoded.specs[2].op, opcode::subdoc_exists);
    EXPECT_EQ(decoded.specs[3].op, opcode::get);
    EXPECT_TRUE(decoded.specs[3].path.empty());

    const auto answer = from_hex(
        "81 d0 00 00 00 00 00 cc 00 00 00 2c 00 00 00 30"
        "15 f6 a1 b2 c3 d4 00 02 00 00 00 00 00 01 30 00"
        "00 00 00 00 05 22 41 6e 6e 22 00 c0 00 00 00 00"
        "00 00 00 00 00 0e 7b 22 6e 61 6d 65 22 3a 22 41"
        "6e 6e 22 7d");
    subdoc_lookup_response response;
    response.results = {
        {status::success, text("0")},
        {status::success, text("\"Ann\"")},
        {status::subdoc_path_enoent, {}},
        {status::success, text("{\"name\":\"Ann\"}")}};
    response_header header = subdoc_answer(opcode::subdoc_multi_lookup, 0x30, 0x15f6a1b2c3d40002);
    header.status = status::subdoc_multi_path_failure;
    EXPECT_EQ(to_hex(encoded(response, header)), to_hex(answer));
    const auto results = subdoc_lookup_response::decode(frame_of(answer));
    ASSERT_TRUE(results);
    ASSERT_EQ(results->results.size(), 4u);
    EXPECT_EQ(results->results[2].status, status::subdoc_path_enoent);
    EXPECT_EQ(as_text(results->results[3].value), "{\"name\":\"Ann\"}");
}

TEST(subdoc_messages, multi_mutation_golden_both_ways) {
    const auto golden = from_hex(
        "80 d1 00 07 01 00 03 1b 00 00 00 40 00 00 00 31"
        "00 00 00 00 00 00 00 00 01 00 75 3a 31 32 33 34"
        "c8 15 00 09 00 00 00 11 5f 73 79 6e 63 2e 63 61"
        "73 22 24 7b 4d 75 74 61 74 69 6f 6e 2e 43 41 53"
        "7d 22 cf 01 00 01 00 00 00 01 6e 31 c7 00 00 03"
        "00 00 00 01 6f 6c 64 31");
    subdoc_mutation_request request;
    request.key = user_key;
    request.doc_flags = doc_flags::create;
    request.specs = {
        {opcode::subdoc_dict_upsert,
         path_flags::create_parents | path_flags::xattr | path_flags::expand_macros, "_sync.cas",
         text(R"("${Mutation.CAS}")")},
        {opcode::subdoc_counter, path_flags::create_parents, "n", text("1")},
        {opcode::subdoc_dict_add, path_flags::none, "old", text("1")}};
    EXPECT_EQ(to_hex(encoded(request, to_vbucket_795(0x31))), to_hex(golden));
    const auto decoded = must(subdoc_mutation_request::decode(frame_of(golden), prefixed));
    ASSERT_EQ(decoded.specs.size(), 3u);
    EXPECT_EQ(decoded.doc_flags, doc_flags::create);
    EXPECT_EQ(decoded.expiry, std::nullopt);
    EXPECT_EQ(as_text(decoded.specs[0].value), R"("${Mutation.CAS}")");
    EXPECT_TRUE(has(decoded.specs[0].flags, path_flags::expand_macros));
    EXPECT_EQ(decoded.specs[2].path, "old");
}

TEST(subdoc_messages, multi_mutation_answers_golden_success_and_failure) {
    const auto success = from_hex(
        "81 d1 00 00 10 00 00 00 00 00 00 19 00 00 00 31"
        "15 f6 a1 b2 c3 d4 00 03 00 00 a1 b2 c3 d4 e5 f6"
        "00 00 00 00 00 00 00 18 01 00 00 00 00 00 02 34"
        "32");
    subdoc_mutation_response response;
    response.token = mutation_token{0x0000a1b2c3d4e5f6, 0x18};
    response.results = {{1, status::success, text("42")}};
    response_header header = subdoc_answer(opcode::subdoc_multi_mutation, 0x31, 0x15f6a1b2c3d40003);
    EXPECT_EQ(to_hex(encoded(response, header)), to_hex(success));
    const auto decoded = must(subdoc_mutation_response::decode(frame_of(success)));
    EXPECT_EQ(decoded.token, response.token);
    ASSERT_EQ(decoded.results.size(), 1u);
    EXPECT_EQ(decoded.results[0].index, 1u);
    EXPECT_EQ(as_text(decoded.results[0].value), "42");

    const auto failure = from_hex(
        "81 d1 00 00 00 00 00 cc 00 00 00 03 00 00 00 31"
        "00 00 00 00 00 00 00 00 02 00 c9");
    response = {};
    response.results = {{2, status::subdoc_path_eexists, {}}};
    header = subdoc_answer(opcode::subdoc_multi_mutation, 0x31, 0);
    header.status = status::subdoc_multi_path_failure;
    EXPECT_EQ(to_hex(encoded(response, header)), to_hex(failure));
    const auto failed = must(subdoc_mutation_response::decode(frame_of(failure)));
    ASSERT_EQ(failed.results.size(), 1u);
    EXPECT_EQ(failed.results[0].index, 2u);
    EXPECT_EQ(failed.results[0].status, status::subdoc_path_eexists);
    response.results.clear();
    EXPECT_EQ(encode_error(response, header), wire_errc::spec_count_invalid);
}

TEST(subdoc_messages, failure_answers_without_index_and_status_are_rejected) {
    const auto two =
        from_hex("81 d1 00 00 00 00 00 cc 00 00 00 02 00 00 00 31 00 00 00 00 00 00 00 00 02 00");
    EXPECT_EQ(
        subdoc_mutation_response::decode(frame_of(two)).error(), wire_errc::value_size_invalid);
    const auto empty =
        from_hex("81 d1 00 00 00 00 00 cc 00 00 00 00 00 00 00 31 00 00 00 00 00 00 00 00");
    EXPECT_EQ(
        subdoc_mutation_response::decode(frame_of(empty)).error(), wire_errc::value_size_invalid);
}

TEST(subdoc_messages, spec_count_is_one_to_sixteen) {
    subdoc_lookup_request request;
    request.key = user_key;
    EXPECT_EQ(encode_error(request, request_header{}), wire_errc::spec_count_invalid);
    for (int i = 0; i < 16; ++i) {
        ASSERT_TRUE(request.specs.push_back({opcode::subdoc_get, path_flags::none, "a"}));
    }
    EXPECT_FALSE(request.specs.push_back({}));
    auto bytes = encoded(request, request_header{});
    EXPECT_TRUE(subdoc_lookup_request::decode(frame_of(bytes), prefixed));
    const auto one_more = from_hex("c5 00 00 01 61");
    bytes.insert(bytes.end(), one_more.begin(), one_more.end());
    bytes[11] = static_cast<std::byte>(std::to_integer<unsigned>(bytes[11]) + 5);
    EXPECT_EQ(
        subdoc_lookup_request::decode(frame_of(bytes), prefixed).error(),
        wire_errc::spec_count_invalid);
    const auto none =
        from_hex("80 d0 00 02 00 00 00 00 00 00 00 02 00 00 00 30 00 00 00 00 00 00 00 00 00 6b");
    EXPECT_EQ(
        subdoc_lookup_request::decode(frame_of(none), prefixed).error(),
        wire_errc::spec_count_invalid);
}

TEST(subdoc_messages, wrong_lengths_are_reported) {
    const auto path_too_long = from_hex(
        "80 d0 00 02 00 00 00 00 00 00 00 07 00 00 00 30 00 00 00 00 00 00 00 00 00 6b"
        "c5 00 00 02 61");
    EXPECT_EQ(
        subdoc_lookup_request::decode(frame_of(path_too_long), prefixed).error(),
        wire_errc::spec_truncated);
    const auto value_too_long = from_hex(
        "80 d1 00 02 00 00 00 00 00 00 00 0c 00 00 00 30 00 00 00 00 00 00 00 00 00 6b"
        "c8 00 00 01 ff ff ff ff 61 31");
    EXPECT_EQ(
        subdoc_mutation_request::decode(frame_of(value_too_long), prefixed).error(),
        wire_errc::spec_truncated);
    const auto single_path = from_hex(
        "80 c5 00 02 03 00 00 00 00 00 00 06 00 00 00 30 00 00 00 00 00 00 00 00"
        "00 02 00 00 6b 61");
    EXPECT_EQ(
        subdoc_request::decode(frame_of(single_path), prefixed).error(),
        wire_errc::path_size_invalid);
    const auto result_too_long = from_hex(
        "81 d0 00 00 00 00 00 00 00 00 00 07 00 00 00 30 00 00 00 00 00 00 00 00"
        "00 00 00 00 00 02 30");
    EXPECT_EQ(
        subdoc_lookup_response::decode(frame_of(result_too_long)).error(),
        wire_errc::spec_truncated);
}

TEST(subdoc_messages, extras_of_a_size_between_the_legal_ones_are_rejected) {
    for (const unsigned size : {0u, 1u, 2u, 5u, 6u, 9u, 10u, 13u}) {
        std::vector<std::byte> bytes =
            from_hex("80 c8 00 02 00 00 00 00 00 00 00 00 00 00 00 30 00 00 00 00 00 00 00 00");
        bytes[4] = static_cast<std::byte>(size);
        bytes[11] = static_cast<std::byte>(size + 2);
        bytes.resize(bytes.size() + size);
        const auto key = from_hex("00 6b");
        bytes.insert(bytes.end(), key.begin(), key.end());
        EXPECT_EQ(
            subdoc_request::decode(frame_of(bytes), prefixed).error(),
            wire_errc::extras_size_invalid)
            << size;
    }
}

TEST(subdoc_messages, operations_that_are_not_allowed_in_a_list_are_rejected) {
    subdoc_lookup_request lookup;
    lookup.key = user_key;
    lookup.specs = {{opcode::subdoc_dict_add, path_flags::none, "a"}};
    EXPECT_EQ(encode_error(lookup, request_header{}), wire_errc::spec_opcode_invalid);
    subdoc_mutation_request mutation;
    mutation.key = user_key;
    mutation.specs = {{opcode::subdoc_get, path_flags::none, "a", {}}};
    EXPECT_EQ(encode_error(mutation, request_header{}), wire_errc::spec_opcode_invalid);
    mutation.specs = {{opcode::subdoc_multi_mutation, path_flags::none, "a", {}}};
    EXPECT_EQ(encode_error(mutation, request_header{}), wire_errc::spec_opcode_invalid);
    const auto foreign = from_hex(
        "80 d0 00 02 00 00 00 00 00 00 00 07 00 00 00 30 00 00 00 00 00 00 00 00 00 6b"
        "c7 00 00 01 61");
    EXPECT_EQ(
        subdoc_lookup_request::decode(frame_of(foreign), prefixed).error(),
        wire_errc::spec_opcode_invalid);
}

TEST(subdoc_messages, paths_above_1024_bytes_are_rejected) {
    const std::string path(1025, 'p');
    subdoc_request single;
    single.key = user_key;
    single.path = path;
    EXPECT_EQ(encode_error(single, request_header{}), wire_errc::path_too_long);
    subdoc_lookup_request lookup;
    lookup.key = user_key;
    lookup.specs = {{opcode::subdoc_get, path_flags::none, path}};
    EXPECT_EQ(encode_error(lookup, request_header{}), wire_errc::path_too_long);
    subdoc_mutation_request mutation;
    mutation.key = user_key;
    mutation.specs = {{opcode::subdoc_dict_add, path_flags::none, path, text("1")}};
    EXPECT_EQ(encode_error(mutation, request_header{}), wire_errc::path_too_long);
    lookup.specs = {{opcode::subdoc_get, path_flags::none, std::string_view(path).substr(1)}};
    EXPECT_FALSE(encoded(lookup, request_header{}).empty());
}

}  // namespace subdoc_messages_test
