#include <reprise/wire/hello_feature.hpp>

#include <set>

#include <gtest/gtest.h>

namespace hello_feature_test {

using namespace reprise::wire;

TEST(hello_feature, table_has_no_gaps_from_one_and_every_entry_has_its_code) {
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

TEST(hello_feature, a_missing_prerequisite_is_reported) {
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

TEST(hello_feature, a_set_holds_only_codes_below_64) {
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

}  // namespace hello_feature_test
