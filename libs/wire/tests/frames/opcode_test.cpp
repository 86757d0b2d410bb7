#include <reprise/wire/opcode.hpp>

#include <set>

#include <gtest/gtest.h>

namespace opcode_test {

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

TEST(opcode, RH_18_idempotent_opcodes_are_exactly_the_listed_ones) {
    EXPECT_EQ(
        opcodes_where(&opcode_facts::is_idempotent),
        (std::set<unsigned>{
            0x00, 0x0a, 0x83, 0x91, 0x92, 0xa0, 0xb5, 0xba, 0xbb, 0xc5, 0xc6, 0xd0, 0xd2, 0xda,
            0xdb, 0xdc}));
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

TEST(opcode, an_unknown_byte_has_no_permission) {
    const opcode_facts& facts = opcode_info(static_cast<opcode>(0x7f));
    EXPECT_FALSE(facts.is_known);
    EXPECT_EQ(facts.name, "unknown");
    EXPECT_FALSE(facts.has_document_key);
    EXPECT_EQ(to_string(opcode::subdoc_multi_lookup), "subdoc_multi_lookup");
}

TEST(opcode, subdoc_opcodes_are_classified) {
    EXPECT_TRUE(is_subdoc_single(opcode::subdoc_counter));
    EXPECT_TRUE(is_subdoc_single(opcode::subdoc_replace_body_with_xattr));
    EXPECT_FALSE(is_subdoc_single(opcode::subdoc_multi_lookup));
    EXPECT_FALSE(is_subdoc_single(opcode::get_error_map));
    EXPECT_TRUE(is_subdoc_lookup(opcode::subdoc_get_count));
    EXPECT_FALSE(is_subdoc_lookup(opcode::subdoc_dict_add));
}

}  // namespace opcode_test
