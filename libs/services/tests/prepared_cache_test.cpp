#include <gtest/gtest.h>

#include <reprise/services/prepared_cache.hpp>

namespace reprise::services::prepared_cache_test {

TEST(prepared_cache, keeps_the_most_recently_used_up_to_its_bound) {
    prepared_cache cache(2);
    cache.put("a", {}, {"name_a", {}});
    cache.put("b", {}, {"name_b", {}});
    ASSERT_NE(cache.find("a"), nullptr);
    cache.put("c", {}, {"name_c", {}});
    EXPECT_EQ(cache.size(), 2u);
    EXPECT_EQ(cache.find("b"), nullptr) << "a was used later";
    ASSERT_NE(cache.find("a"), nullptr);
    EXPECT_EQ(cache.find("a")->name, "name_a");
    EXPECT_EQ(cache.find("c")->name, "name_c");
    EXPECT_EQ(prepared_cache().capacity(), 5000u);
}

TEST(prepared_cache, the_same_text_in_another_scope_is_another_statement) {
    prepared_cache cache;
    cache.put("SELECT 1", "default:`b`.`s`", {"scoped", {}});
    EXPECT_EQ(cache.find("SELECT 1"), nullptr);
    EXPECT_EQ(cache.find("`.`s`SELECT 1", "default:`b"), nullptr);
    ASSERT_NE(cache.find("SELECT 1", "default:`b`.`s`"), nullptr);
}

TEST(prepared_cache, put_replaces) {
    prepared_cache cache;
    cache.put("a", {}, {"old", "plan"});
    cache.put("a", {}, {"new", {}});
    EXPECT_EQ(cache.size(), 1u);
    EXPECT_EQ(*cache.find("a"), (prepared_statement{"new", {}}));
}

TEST(prepared_cache, RH_20_a_failed_name_is_removed_unless_it_was_prepared_again_meanwhile) {
    prepared_cache cache;
    cache.put("a", {}, {"second", {}});
    EXPECT_FALSE(cache.erase("a", {}, "first"));
    EXPECT_NE(cache.find("a"), nullptr);
    EXPECT_TRUE(cache.erase("a", {}, "second"));
    EXPECT_FALSE(cache.erase("a", {}, "second"));
    EXPECT_EQ(cache.find("a"), nullptr);
    EXPECT_EQ(cache.size(), 0u);
}

}  // namespace reprise::services::prepared_cache_test
