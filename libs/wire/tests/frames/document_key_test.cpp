#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <reprise/wire/document_key.hpp>
#include <reprise/wire/leb128.hpp>
#include <reprise/wire/vbucket.hpp>

#include "frame_bytes.hpp"

namespace document_key_test {

using namespace reprise::wire;
using frame_bytes::from_hex;
using frame_bytes::must;
using frame_bytes::to_hex;

std::vector<std::byte> leb128_bytes(std::uint32_t number) {
    std::vector<std::byte> bytes(leb128_size(number));
    EXPECT_EQ(encode_leb128(bytes.data(), number), bytes.size());
    return bytes;
}

TEST(leb128, known_numbers_encode_to_and_decode_from_known_bytes) {
    const std::pair<std::uint32_t, const char*> known[] = {
        {0, "00"},
        {1, "01"},
        {8, "08"},
        {0x7f, "7f"},
        {0x80, "80 01"},
        {0xff, "ff 01"},
        {0x100, "80 02"},
        {300, "ac 02"},
        {555, "ab 04"},
        {0x555, "d5 0a"},
        {0x3fff, "ff 7f"},
        {0x4000, "80 80 01"},
        {0x5555, "d5 aa 01"},
        {0x7fff, "ff ff 01"},
        {0x8000, "80 80 02"},
        {0xbfff, "ff ff 02"},
        {0xffff, "ff ff 03"},
        {0xcafef00, "80 de bf 65"},
        {0xcafef00d, "8d e0 fb d7 0c"},
        {0xffffffff, "ff ff ff ff 0f"}};
    for (const auto& [number, hex] : known) {
        const auto bytes = from_hex(hex);
        EXPECT_EQ(leb128_bytes(number), bytes) << hex;
        const auto decoded = decode_leb128(bytes);
        ASSERT_TRUE(decoded) << hex;
        EXPECT_EQ(decoded->value, number);
        EXPECT_EQ(decoded->size, bytes.size());
    }
}

TEST(leb128, only_the_shortest_form_of_at_most_32_bits_is_accepted) {
    EXPECT_EQ(decode_leb128({}).error(), wire_errc::leb128_truncated);
    EXPECT_EQ(decode_leb128(from_hex("80")).error(), wire_errc::leb128_truncated);
    EXPECT_EQ(decode_leb128(from_hex("ff ff ff ff")).error(), wire_errc::leb128_truncated);
    EXPECT_EQ(decode_leb128(from_hex("81 00")).error(), wire_errc::leb128_not_canonical);
    EXPECT_EQ(decode_leb128(from_hex("80 80 00")).error(), wire_errc::leb128_not_canonical);
    EXPECT_EQ(decode_leb128(from_hex("ff ff ff ff 1f")).error(), wire_errc::leb128_too_long);
    EXPECT_EQ(decode_leb128(from_hex("80 80 80 80 80 01")).error(), wire_errc::leb128_too_long);
}

TEST(leb128, random_numbers_survive_a_round_trip_and_trailing_bytes_are_ignored) {
    std::mt19937_64 rng(1);
    for (int i = 0; i < 20000; ++i) {
        const auto number = static_cast<std::uint32_t>(rng()) >> (rng() % 32);
        auto bytes = leb128_bytes(number);
        const std::size_t size = bytes.size();
        bytes.push_back(static_cast<std::byte>(rng()));
        const auto decoded = must(decode_leb128(bytes));
        ASSERT_EQ(decoded.value, number);
        ASSERT_EQ(decoded.size, size);
    }
}

std::vector<std::byte> field_of(const document_key& key) {
    std::vector<std::byte> field(encoded_size(key));
    EXPECT_EQ(encode(field.data(), key), field.data() + field.size());
    return field;
}

TEST(document_key, has_the_collection_as_prefix_if_collections_are_enabled) {
    EXPECT_EQ(
        field_of({default_collection, "foo", key_form::collection_prefixed}),
        from_hex("00 66 6f 6f"));
    EXPECT_EQ(
        field_of({collection_id{300}, "foo", key_form::collection_prefixed}),
        from_hex("ac 02 66 6f 6f"));
    EXPECT_EQ(field_of({default_collection, "foo", key_form::bare}), from_hex("66 6f 6f"));

    const auto field = from_hex("ac 02 66 6f 6f");
    const auto key = decode_document_key(field, key_form::collection_prefixed);
    ASSERT_TRUE(key);
    EXPECT_EQ(key->collection, collection_id{300});
    EXPECT_EQ(key->key, "foo");
    // On a connection without collections, all of these bytes are the key.
    const auto bare = must(decode_document_key(field, key_form::bare));
    EXPECT_EQ(bare.key.size(), 5u);
    EXPECT_EQ(bare.collection, default_collection);
}

TEST(document_key, limits_depend_on_the_collection) {
    const std::string k246(246, 'k');
    const std::string k247(247, 'k');
    const std::string k250(250, 'k');
    const std::string k251(251, 'k');
    EXPECT_TRUE(check({default_collection, k250, key_form::bare}));
    EXPECT_TRUE(check({default_collection, k250}));
    EXPECT_EQ(check({default_collection, k251}).error(), wire_errc::key_too_long);
    EXPECT_TRUE(check({collection_id{8}, k246}));
    EXPECT_EQ(check({collection_id{8}, k247}).error(), wire_errc::key_too_long);
    EXPECT_EQ(check({default_collection, ""}).error(), wire_errc::key_missing);
    EXPECT_LE(encoded_size({collection_id{0xffffffff}, k246}), key_field_size_max);
}

TEST(document_key, reserved_collections_are_rejected_in_requests_and_bare_prefixes_everywhere) {
    for (std::uint32_t id = 1; id < 8; ++id) {
        EXPECT_TRUE(check({collection_id{id}, "k"})) << "the id comes from a server";
        const auto field = field_of({collection_id{id}, "k"});
        EXPECT_EQ(
            decode_document_key(field, key_form::collection_prefixed).error(),
            wire_errc::collection_id_reserved);
        EXPECT_EQ(
            decode_answered_key(field, key_form::collection_prefixed)->collection,
            collection_id{id});
    }
    EXPECT_EQ(
        check({collection_id{9}, "k", key_form::bare}).error(),
        wire_errc::collection_not_expressible);
    const auto decode_error = [](const char* hex) {
        const auto field = from_hex(hex);
        return decode_document_key(field, key_form::collection_prefixed).error();
    };
    EXPECT_EQ(decode_error(""), wire_errc::key_missing);
    EXPECT_EQ(decode_error("00"), wire_errc::key_missing);
    EXPECT_EQ(decode_error("08"), wire_errc::key_missing);
    EXPECT_EQ(decode_error("01 66"), wire_errc::collection_id_reserved);
    EXPECT_EQ(decode_error("88 00 66"), wire_errc::leb128_not_canonical);
    EXPECT_EQ(decode_error("80"), wire_errc::leb128_truncated);
    EXPECT_EQ(decode_document_key({}, key_form::bare).error(), wire_errc::key_missing);
}

struct vbucket_vector {
    std::string key;
    std::uint32_t crc;
    unsigned of_1024;
    unsigned of_64;
    unsigned of_4;
};

TEST(vbucket, VB_08_known_keys_map_to_the_vbuckets_that_every_client_uses) {
    const vbucket_vector vectors[] = {
        {"", 0x00000000, 0, 0, 0},
        {"a", 0xe8b7be43, 183, 55, 3},
        {"foo", 0x8c736521, 115, 51, 3},
        {"bar", 0x76ff8caa, 767, 63, 3},
        {"Hello", 0xf7d18982, 977, 17, 1},
        {"hello", 0x3610a686, 528, 16, 0},
        {"key", 0x8a90aba9, 656, 16, 0},
        {"counter", 0xc1229478, 290, 34, 2},
        {"user:1000", 0x9f7417e3, 884, 52, 0},
        {"airline_10", 0x0d694ea7, 361, 41, 1},
        {"travel-sample", 0xa8560dff, 86, 22, 2},
        {"0", 0xf4dbdf21, 219, 27, 3},
        {"u:1234", 0xbb1ba249, 795, 27, 3},
        {"beer-sample::21st_amendment", 0x99eb3317, 491, 43, 3},
        // Bytes of 0x80 and above: a signed char would give another vbucket.
        {"\xd0\xba\xd0\xbb\xd1\x8e\xd1\x87", 0x0caf961a, 175, 47, 3},
        {"\xe6\x97\xa5\xe6\x9c\xac", 0xc7b7cdcc, 951, 55, 3},
        {std::string("\0\1\2", 3), 0x0854897f, 84, 20, 0},
        {std::string(250, 'x'), 0x89689892, 360, 40, 0},
    };
    for (const vbucket_vector& vector : vectors) {
        EXPECT_EQ(crc32(reprise::base::as_bytes(vector.key)), vector.crc) << vector.key;
        EXPECT_EQ(vbucket_of(vector.key, 1024).value, vector.of_1024) << vector.key;
        EXPECT_EQ(vbucket_of(vector.key, 64).value, vector.of_64) << vector.key;
        EXPECT_EQ(vbucket_of(vector.key, 4).value, vector.of_4) << vector.key;
        EXPECT_EQ(vbucket_of(vector.key, 1).value, 0u);
    }
}

TEST(vbucket, the_number_of_rows_need_not_be_a_power_of_two) {
    EXPECT_EQ(vbucket_of("a", 1000).value, 26807u % 1000u);
    EXPECT_EQ(key_hash("a"), 26807u);
    EXPECT_EQ(vbucket_of("a", 65536).value, 26807u);
}

// The fast implementation processes eight bytes per step. The bitwise one is the reference.
TEST(vbucket, crc_equals_the_bitwise_definition_at_every_length) {
    std::mt19937_64 rng(3);
    std::vector<std::byte> bytes;
    for (int size = 0; size < 100; ++size) {
        std::uint32_t expected = 0xffffffffu;
        for (const std::byte byte : bytes) {
            expected ^= std::to_integer<std::uint32_t>(byte);
            for (int bit = 0; bit < 8; ++bit) {
                expected = (expected >> 1) ^ ((expected & 1u) != 0 ? 0xedb88320u : 0u);
            }
        }
        ASSERT_EQ(crc32(bytes), ~expected) << size;
        bytes.push_back(static_cast<std::byte>(rng()));
    }
}

}  // namespace document_key_test
