#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <reprise/wire/datatype.hpp>
#include <reprise/wire/hello_feature.hpp>
#include <reprise/wire/magic.hpp>
#include <reprise/wire/opcode.hpp>
#include <reprise/wire/status.hpp>
#include <reprise/wire/wire_error.hpp>

namespace wire_tables_test {

using namespace reprise::wire;

std::set<unsigned> opcodes_where(bool opcode_facts::* flag) {
    std::set<unsigned> found;
    for (unsigned byte = 0; byte < 256; ++byte) {
        if (opcode_info(static_cast<opcode>(byte)).*flag) {
            found.insert(byte);
        }
    }
    return found;
}

TEST(magic, only_six_bytes_are_magics) {
    std::vector<unsigned> found;
    for (unsigned byte = 0; byte < 256; ++byte) {
        if (magic_from_byte(static_cast<std::uint8_t>(byte))) {
            found.push_back(byte);
            EXPECT_NE(to_string(static_cast<magic>(byte)), "unknown");
        }
    }
    EXPECT_EQ(found, (std::vector<unsigned>{0x08, 0x18, 0x80, 0x81, 0x82, 0x83}));
}

TEST(magic, direction_and_meaning_of_the_shared_fields_follow_from_it) {
    EXPECT_TRUE(has_framing_extras(magic::alt_request));
    EXPECT_TRUE(has_framing_extras(magic::alt_response));
    EXPECT_FALSE(has_framing_extras(magic::server_request));
    EXPECT_TRUE(is_sent_by_server(magic::server_request));
    EXPECT_FALSE(is_sent_by_server(magic::server_response));
}

TEST(opcode, RH_18_idempotent_opcodes_are_exactly_the_listed_ones) {
    EXPECT_EQ(
        opcodes_where(&opcode_facts::is_idempotent),
        (std::set<unsigned>{
            0x00, 0x0a, 0x83, 0x91, 0x92, 0xa0, 0xb5, 0xba, 0xbb, 0xc5, 0xc6, 0xd0, 0xd2}));
}

TEST(opcode, durability_is_accepted_by_mutations_that_are_not_quiet) {
    std::set<unsigned> expected{0x01, 0x02, 0x03, 0x04, 0x05, 0x06,
                                0x0e, 0x0f, 0x1c, 0x1d, 0xd1, 0xd3};
    for (unsigned byte = 0xc7; byte <= 0xcf; ++byte) {
        expected.insert(byte);
    }
    EXPECT_EQ(opcodes_where(&opcode_facts::accepts_durability), expected);
}

TEST(opcode, preserve_ttl_is_not_accepted_by_add_touch_and_remove) {
    std::set<unsigned> expected{0x01, 0x03, 0x05, 0x06, 0x0e, 0x0f, 0x11,
                                0x13, 0x15, 0x16, 0x19, 0x1a, 0xd1, 0xd3};
    for (unsigned byte = 0xc7; byte <= 0xcf; ++byte) {
        expected.insert(byte);
    }
    EXPECT_EQ(opcodes_where(&opcode_facts::accepts_preserve_ttl), expected);
}

TEST(opcode, five_opcodes_are_answered_before_authentication) {
    EXPECT_EQ(
        opcodes_where(&opcode_facts::is_allowed_before_auth),
        (std::set<unsigned>{0x1f, 0x20, 0x21, 0x22, 0xfe}));
}

TEST(opcode, documents_and_cluster_configuration_may_be_answered_out_of_order) {
    const auto found = opcodes_where(&opcode_facts::is_reorderable);
    EXPECT_TRUE(found.contains(0x00));
    EXPECT_TRUE(found.contains(0xb5));
    EXPECT_TRUE(found.contains(0xd1));
    EXPECT_FALSE(found.contains(0x1f));
    EXPECT_FALSE(found.contains(0x10));
    EXPECT_FALSE(found.contains(0x92));
}

TEST(opcode, unknown_byte_has_no_permission) {
    const opcode_facts& facts = opcode_info(static_cast<opcode>(0x7f));
    EXPECT_FALSE(facts.is_known);
    EXPECT_EQ(facts.name, "unknown");
    EXPECT_FALSE(facts.has_document_key);
    EXPECT_EQ(to_string(opcode::subdoc_multi_lookup), "subdoc_multi_lookup");
}

TEST(opcode, subdoc_opcodes_are_told_apart) {
    EXPECT_TRUE(is_subdoc_single(opcode::subdoc_counter));
    EXPECT_TRUE(is_subdoc_single(opcode::subdoc_replace_body_with_xattr));
    EXPECT_FALSE(is_subdoc_single(opcode::subdoc_multi_lookup));
    EXPECT_FALSE(is_subdoc_single(opcode::get_error_map));
    EXPECT_TRUE(is_subdoc_lookup(opcode::subdoc_get_count));
    EXPECT_FALSE(is_subdoc_lookup(opcode::subdoc_dict_add));
}

TEST(status, every_listed_status_has_its_own_code_name_and_meaning) {
    std::set<std::string_view> names;
    unsigned previous = 0;
    for (const status_facts& facts : all_statuses()) {
        const auto code = static_cast<unsigned>(facts.code);
        EXPECT_TRUE(code == 0 || code > previous);
        previous = code;
        EXPECT_TRUE(names.insert(facts.name).second) << facts.name;
        EXPECT_FALSE(facts.meaning.empty());
        EXPECT_EQ(&status_info(facts.code), &facts);
        EXPECT_TRUE(facts.is_listed);
    }
    EXPECT_EQ(all_statuses().size(), 86u);
}

TEST(status, codes_left_to_the_error_map_are_unknown_to_the_client) {
    std::set<unsigned> unknown;
    for (const status_facts& facts : all_statuses()) {
        if (!facts.is_known_to_client) {
            unknown.insert(static_cast<unsigned>(facts.code));
        }
    }
    EXPECT_EQ(unknown, (std::set<unsigned>{0x0a, 0x0b, 0x0c, 0x0d, 0x0f, 0x22, 0x23, 0x26,
                                           0x27, 0x28, 0x29, 0x35, 0x36, 0x37, 0x38, 0x50,
                                           0x51, 0x80, 0x89, 0x8a, 0x8b, 0x8d, 0xd8}));
    EXPECT_TRUE(is_known_to_client(status::enomem));
    EXPECT_TRUE(is_known_to_client(status::ebusy));
}

TEST(status, code_outside_the_table_is_neither_listed_nor_known) {
    for (const unsigned code : {0x11u, 0x34ffu, 0xff00u, 0xffffu, 0x100u}) {
        const status_facts& facts = status_info(static_cast<status>(code));
        EXPECT_FALSE(facts.is_listed);
        EXPECT_FALSE(facts.is_known_to_client);
        EXPECT_EQ(to_string(static_cast<status>(code)), "Unknown");
    }
}

TEST(status, path_failures_count_as_success_of_the_command) {
    EXPECT_TRUE(is_success(status::success));
    EXPECT_TRUE(is_success(status::subdoc_multi_path_failure));
    EXPECT_TRUE(is_success(status::subdoc_success_deleted));
    EXPECT_TRUE(is_success(status::subdoc_multi_path_failure_deleted));
    EXPECT_FALSE(is_success(status::subdoc_path_enoent));
    EXPECT_FALSE(may_have_error_body(status::not_my_vbucket));
    EXPECT_FALSE(may_have_error_body(status::auth_continue));
    EXPECT_FALSE(may_have_error_body(status::subdoc_multi_path_failure));
    EXPECT_TRUE(may_have_error_body(status::key_enoent));
}

TEST(datatype, names_its_bits_and_unknown_ones_by_number) {
    EXPECT_EQ(to_string(datatype::raw), "raw");
    EXPECT_EQ(to_string(datatype::json | datatype::snappy), "json|snappy");
    EXPECT_EQ(to_string(static_cast<datatype>(0x8c)), "xattr|0x88");
    EXPECT_TRUE(has(datatype::json | datatype::snappy, datatype::snappy));
    EXPECT_FALSE(has(datatype::json, datatype::snappy));
}

TEST(hello_feature, table_is_dense_from_one_and_every_entry_names_its_code) {
    std::uint16_t code = 1;
    for (const hello_feature_facts& facts : all_hello_features()) {
        EXPECT_EQ(static_cast<std::uint16_t>(facts.feature), code);
        EXPECT_EQ(&hello_feature_info(facts.feature), &facts);
        EXPECT_TRUE(facts.is_known);
        EXPECT_FALSE(facts.name.empty());
        EXPECT_FALSE(facts.effect.empty());
        ++code;
    }
    EXPECT_EQ(code, 0x27);
    EXPECT_FALSE(hello_feature_info(static_cast<hello_feature>(0)).is_known);
    EXPECT_FALSE(hello_feature_info(static_cast<hello_feature>(0x27)).is_known);
    EXPECT_EQ(to_string(hello_feature::xerror), "Xerror");
}

TEST(hello_feature, retired_and_impossible_features_are_never_acknowledged) {
    std::set<unsigned> never;
    for (const hello_feature_facts& facts : all_hello_features()) {
        if (!facts.is_acknowledged) {
            never.insert(static_cast<unsigned>(facts.feature));
        }
    }
    EXPECT_EQ(never, (std::set<unsigned>{0x01, 0x02, 0x05, 0x09, 0x16}));
}

TEST(hello_feature, missing_prerequisite_is_named) {
    EXPECT_EQ(
        find_missing_prerequisite({hello_feature::vattr, hello_feature::xattr}), std::nullopt);
    const auto missing = find_missing_prerequisite({hello_feature::vattr});
    ASSERT_TRUE(missing);
    EXPECT_EQ(missing->feature, hello_feature::vattr);
    EXPECT_EQ(missing->prerequisite, hello_feature::xattr);
    const auto random_key = find_missing_prerequisite(
        {hello_feature::get_random_key_include_xattr, hello_feature::xattr, hello_feature::json});
    ASSERT_TRUE(random_key);
    EXPECT_EQ(random_key->prerequisite, hello_feature::snappy_everywhere);
    for (const auto push :
         {hello_feature::clustermap_change_notification,
          hello_feature::clustermap_change_notification_brief}) {
        EXPECT_TRUE(find_missing_prerequisite({push}));
        EXPECT_FALSE(find_missing_prerequisite({push, hello_feature::duplex}));
    }
}

TEST(hello_feature, set_holds_codes_below_64_only) {
    hello_feature_set set{hello_feature::json, hello_feature::xerror};
    EXPECT_EQ(set.size(), 2u);
    set.insert(static_cast<hello_feature>(64));
    set.insert(static_cast<hello_feature>(0xffff));
    EXPECT_EQ(set.size(), 2u);
    set.erase(hello_feature::json);
    EXPECT_FALSE(set.contains(hello_feature::json));
    EXPECT_EQ(set & hello_feature_set{hello_feature::json}, hello_feature_set{});
    EXPECT_EQ(set.bits(), 0x80u);
}

TEST(wire_error, every_code_has_a_name_and_a_message) {
    std::set<std::string> messages;
    for (int code = 1; code <= static_cast<int>(wire_errc::output_full); ++code) {
        const auto error = static_cast<wire_errc>(code);
        EXPECT_NE(to_string(error), "unknown") << code;
        EXPECT_TRUE(messages.insert(make_error_code(error).message()).second) << code;
    }
    EXPECT_EQ(to_string(static_cast<wire_errc>(0)), "unknown");
    const std::error_code ec = wire_errc::frame_too_large;
    EXPECT_STREQ(ec.category().name(), "reprise.wire");
}

TEST(wire_error, rejection_is_the_status_a_server_answers) {
    EXPECT_EQ(rejection_status(wire_errc::frame_info_unknown), status::unknown_frame_info);
    EXPECT_EQ(
        rejection_status(wire_errc::durability_timeout_invalid), status::durability_invalid_level);
    EXPECT_EQ(rejection_status(wire_errc::preserve_ttl_not_supported), status::not_supported);
    EXPECT_EQ(rejection_status(wire_errc::spec_count_invalid), status::subdoc_invalid_combo);
    EXPECT_EQ(rejection_status(wire_errc::leb128_not_canonical), status::einval);
    EXPECT_EQ(rejection_status(wire_errc::cas_must_be_zero), status::einval);
}

}  // namespace wire_tables_test
