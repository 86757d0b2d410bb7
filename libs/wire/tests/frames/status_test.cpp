#include <reprise/wire/status.hpp>

#include <set>

#include <gtest/gtest.h>

namespace status_test {

using namespace reprise::wire;

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

TEST(status, a_code_outside_the_table_is_neither_listed_nor_known) {
    for (const unsigned code : {0x11u, 0x34ffu, 0xff00u, 0xffffu, 0x100u}) {
        const status_facts& facts = status_info(static_cast<status>(code));
        EXPECT_FALSE(facts.is_listed);
        EXPECT_FALSE(facts.is_known_to_client);
        EXPECT_EQ(to_string(static_cast<status>(code)), "Unknown");
    }
}

TEST(status, path_failures_count_as_a_success_of_the_command) {
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

}  // namespace status_test
