#include <vector>

#include <gtest/gtest.h>
#include <reprise/wire/cluster_messages.hpp>

#include "frame_bytes.hpp"

namespace cluster_messages_test {

using namespace reprise::wire;
using namespace frame_bytes;

request_header opaque_only(std::uint32_t opaque) {
    request_header header;
    header.opaque = opaque;
    return header;
}

TEST(cluster_messages, get_cluster_config_golden_with_known_revision) {
    const auto golden = from_hex(
        "80 b5 00 00 10 00 00 00 00 00 00 10 00 00 00 06"
        "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02"
        "00 00 00 00 00 00 00 4d");
    const get_cluster_config_request request{configuration_revision{2, 77}};
    EXPECT_EQ(to_hex(encoded(request, opaque_only(6))), to_hex(golden));
    const auto decoded = must(get_cluster_config_request::decode(frame_of(golden)));
    EXPECT_EQ(decoded.known, (configuration_revision{2, 77}));
    const auto without = encoded(get_cluster_config_request{}, opaque_only(6));
    EXPECT_EQ(without.size(), header_size);
    EXPECT_EQ(get_cluster_config_request::decode(frame_of(without))->known, std::nullopt);
}

TEST(cluster_messages, a_known_revision_must_be_legal) {
    constexpr std::uint64_t too_much = std::uint64_t{1} << 63U;
    for (const auto& [epoch, rev] :
         {std::pair<std::int64_t, std::uint64_t>{0, 1}, {1, 0}, {-2, 1}, {0, 0}, {2, too_much}}) {
        EXPECT_EQ(
            encode_error(
                get_cluster_config_request{configuration_revision{epoch, rev}}, opaque_only(1)),
            wire_errc::revision_invalid);
    }
    EXPECT_FALSE(
        encoded(get_cluster_config_request{configuration_revision{-1, 1}}, opaque_only(1)).empty());
    const auto zeros = from_hex(
        "80 b5 00 00 10 00 00 00 00 00 00 10 00 00 00 06 00 00 00 00 00 00 00 00"
        "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
    EXPECT_EQ(
        get_cluster_config_request::decode(frame_of(zeros)).error(), wire_errc::revision_invalid);
}

std::vector<std::byte> encoded_push(const cluster_map_change_notification& push) {
    std::vector<std::byte> bytes;
    reprise::base::byte_writer writer(bytes);
    EXPECT_TRUE(push.encode(writer));
    return bytes;
}

TEST(cluster_messages, brief_notification_golden) {
    const auto golden = from_hex(
        "82 01 00 0d 10 00 00 00 00 00 00 1d 00 00 00 00"
        "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 02"
        "00 00 00 00 00 00 00 4e 74 72 61 76 65 6c 2d 73"
        "61 6d 70 6c 65");
    const cluster_map_change_notification push{2, 78, "travel-sample", {}, datatype::raw};
    EXPECT_EQ(to_hex(encoded_push(push)), to_hex(golden));
    const auto decoded = must(cluster_map_change_notification::decode(frame_of(golden)));
    EXPECT_EQ(decoded.epoch, 2);
    EXPECT_EQ(decoded.rev, 78);
    EXPECT_EQ(decoded.bucket, "travel-sample");
    EXPECT_TRUE(decoded.config.empty());
}

TEST(cluster_messages, full_notification_of_the_global_configuration) {
    const cluster_map_change_notification push{2, 78, "", text("{}"), datatype::json};
    const auto bytes = encoded_push(push);
    const auto decoded = must(cluster_map_change_notification::decode(frame_of(bytes)));
    EXPECT_TRUE(decoded.bucket.empty());
    EXPECT_EQ(reprise::base::as_text(decoded.config), "{}");
    EXPECT_EQ(decoded.datatype, datatype::json);
}

TEST(cluster_messages, notification_of_an_older_server_has_no_epoch) {
    const cluster_map_change_notification push{{}, 78, "b", {}, datatype::raw};
    const auto bytes = encoded_push(push);
    EXPECT_EQ(
        to_hex(bytes), to_hex(from_hex("82 01 00 01 04 00 00 00 00 00 00 05 00 00 00 00"
                                       "00 00 00 00 00 00 00 00 00 00 00 4e 62")));
    const auto decoded = must(cluster_map_change_notification::decode(frame_of(bytes)));
    EXPECT_EQ(decoded.epoch, std::nullopt);
    EXPECT_EQ(decoded.rev, 78);
    auto negative = encoded_push({-1, 5, "b", {}, datatype::raw});
    EXPECT_EQ(cluster_map_change_notification::decode(frame_of(negative))->epoch, -1);
}

TEST(cluster_messages, other_pushes_and_shapes_are_rejected) {
    const auto authenticate =
        from_hex("82 02 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
    EXPECT_EQ(
        cluster_map_change_notification::decode(frame_of(authenticate)).error(),
        wire_errc::opcode_mismatch);
    const auto without_extras =
        from_hex("82 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
    EXPECT_EQ(
        cluster_map_change_notification::decode(frame_of(without_extras)).error(),
        wire_errc::extras_size_invalid);
    const auto set =
        from_hex("80 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00");
    EXPECT_EQ(
        cluster_map_change_notification::decode(frame_of(set)).error(), wire_errc::not_a_request);
    std::vector<std::byte> bytes;
    reprise::base::byte_writer writer(bytes);
    const cluster_map_change_notification too_big{{}, 0x1'0000'0000, "b", {}, datatype::raw};
    EXPECT_EQ(too_big.encode(writer).error(), wire_errc::revision_invalid);
}

TEST(cluster_messages, get_collection_id_golden_both_ways) {
    const auto request = from_hex(
        "80 bb 00 00 00 00 00 00 00 00 00 11 00 00 00 07"
        "00 00 00 00 00 00 00 00 69 6e 76 65 6e 74 6f 72"
        "79 2e 61 69 72 6c 69 6e 65");
    EXPECT_EQ(
        to_hex(encoded(get_collection_id_request{"inventory.airline"}, opaque_only(7))),
        to_hex(request));
    EXPECT_EQ(get_collection_id_request::decode(frame_of(request))->path, "inventory.airline");
    const auto answer = from_hex(
        "81 bb 00 00 0c 00 00 00 00 00 00 0c 00 00 00 07"
        "00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 1f"
        "00 00 00 0b");
    response_header header;
    header.op = opcode::get_collection_id;
    header.opaque = 7;
    EXPECT_EQ(
        to_hex(encoded(collection_id_response{0x1f, collection_id{0x0b}}, header)), to_hex(answer));
    const auto decoded = must(collection_id_response::decode(frame_of(answer)));
    EXPECT_EQ(decoded.manifest_uid, 0x1fu);
    EXPECT_EQ(decoded.collection, collection_id{0x0b});
}

TEST(cluster_messages, a_collection_path_may_be_in_the_key_but_not_in_both_places) {
    const auto in_key = from_hex(
        "80 bb 00 03 00 00 00 00 00 00 00 03 00 00 00 07 00 00 00 00 00 00 00 00 73 2e 63");
    EXPECT_EQ(get_collection_id_request::decode(frame_of(in_key))->path, "s.c");
    const auto in_both = from_hex(
        "80 bb 00 01 00 00 00 00 00 00 00 03 00 00 00 07 00 00 00 00 00 00 00 00 73 2e 63");
    EXPECT_EQ(
        get_collection_id_request::decode(frame_of(in_both)).error(), wire_errc::key_unexpected);
    request_header on_vbucket;
    on_vbucket.vbucket = vbucket_id{1};
    EXPECT_EQ(
        encode_error(get_collection_id_request{"s.c"}, on_vbucket),
        wire_errc::vbucket_must_be_zero);
}

TEST(cluster_messages, get_scope_id_golden_both_ways) {
    const auto request =
        from_hex("80 bc 00 00 00 00 00 00 00 00 00 01 00 00 00 07 00 00 00 00 00 00 00 00 73");
    EXPECT_EQ(to_hex(encoded(get_scope_id_request{"s"}, opaque_only(7))), to_hex(request));
    EXPECT_EQ(get_scope_id_request::decode(frame_of(request))->scope, "s");
}

}  // namespace cluster_messages_test
