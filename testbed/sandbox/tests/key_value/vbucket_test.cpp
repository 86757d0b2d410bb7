#include "key_value/vbucket.hpp"

#include <string>

#include <gtest/gtest.h>

namespace reprise::sandbox::detail {

namespace {

class vbucket_test : public testing::Test {
protected:
    static vbucket make_copy(vbucket_state state) {
        vbucket copy;
        copy.state = state;
        copy.failover_log = {{7, 0}};
        return copy;
    }
    void put(const std::string& key) { active_.store({0, key}, {}, {}); }
    void remove(const std::string& key) {
        document tombstone;
        tombstone.is_deleted = true;
        active_.store({0, key}, tombstone, {});
    }
    void remove_many(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            remove("gone" + std::to_string(removed_++));
        }
    }

    vbucket active_ = make_copy(vbucket_state::active);
    vbucket replica_ = make_copy(vbucket_state::replica);
    std::size_t removed_ = 0;
};

TEST_F(vbucket_test, purges_the_oldest_tombstones) {
    remove_many(tombstone_count_max + 10);
    EXPECT_EQ(active_.documents.size(), tombstone_count_max);
    EXPECT_EQ(active_.find({0, "gone9"}), nullptr);
    EXPECT_NE(active_.find({0, "gone10"}), nullptr);
    EXPECT_EQ(active_.seqno_high, tombstone_count_max + 10);
}

TEST_F(vbucket_test, keeps_a_document_that_was_recreated) {
    remove("back");
    put("back");
    remove_many(tombstone_count_max + 10);
    ASSERT_NE(active_.find({0, "back"}), nullptr);
    EXPECT_FALSE(active_.find({0, "back"})->is_deleted);
}

TEST_F(vbucket_test, keeps_the_newer_tombstone_of_a_key) {
    remove("again");
    put("again");
    remove_many(tombstone_count_max - 1);
    remove("again");  // purges the first one
    ASSERT_NE(active_.find({0, "again"}), nullptr);
}

TEST_F(vbucket_test, replicas_purge_what_the_active_copy_purges) {
    for (std::size_t i = 0; i < tombstone_count_max + 10; ++i) {
        remove_many(1);
        const std::string key = "gone" + std::to_string(i);
        replica_.replicate({0, key}, *active_.find({0, key}));
    }
    EXPECT_EQ(replica_.documents.size(), tombstone_count_max);
    EXPECT_EQ(replica_.find({0, "gone9"}), nullptr);
}

TEST_F(vbucket_test, replica_that_lags_loses_documents_whose_tombstones_are_purged) {
    put("stays");
    put("removed");
    replica_.catch_up(active_);
    ASSERT_NE(replica_.find({0, "removed"}), nullptr);
    remove("removed");
    remove_many(tombstone_count_max);
    replica_.catch_up(active_);
    EXPECT_EQ(replica_.find({0, "removed"}), nullptr);
    EXPECT_NE(replica_.find({0, "stays"}), nullptr);
    EXPECT_EQ(replica_.documents.size(), active_.documents.size());
    // It purges in step from now on.
    remove_many(1);
    const std::string newest = "gone" + std::to_string(removed_ - 1);
    replica_.replicate({0, newest}, *active_.find({0, newest}));
    EXPECT_EQ(replica_.documents.size(), active_.documents.size());
}

TEST_F(vbucket_test, replica_that_lags_a_little_purges_its_own_old_tombstones) {
    remove_many(10);
    replica_.catch_up(active_);
    remove_many(tombstone_count_max - 5);
    replica_.catch_up(active_);
    EXPECT_EQ(replica_.documents.size(), tombstone_count_max);
    EXPECT_EQ(replica_.find({0, "gone4"}), nullptr);
    EXPECT_NE(replica_.find({0, "gone5"}), nullptr);
}

}  // namespace

}  // namespace reprise::sandbox::detail
