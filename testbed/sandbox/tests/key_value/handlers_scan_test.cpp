#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <reprise/wire/range_scan_messages.hpp>

#include "conversation.hpp"

namespace handlers_scan_test {

using namespace sandbox_testing;

// Keys of one vbucket, in their order.
std::vector<std::string> keys_in(std::uint16_t vbucket, std::size_t count) {
    std::vector<std::string> keys;
    for (int number = 1000; keys.size() < count; ++number) {
        const std::string key = "key_" + std::to_string(number);
        if (wire::vbucket_of(key, 16).value == vbucket) {
            keys.push_back(key);
        }
    }
    return keys;
}

wire::request_header in_vbucket(std::uint16_t vbucket) {
    wire::request_header header;
    header.vbucket = wire::vbucket_id{vbucket};
    return header;
}

wire::range_scan_create_request all_keys() {
    wire::range_scan_create_request wanted;
    wanted.is_key_only = true;
    wanted.what = wire::scan_range{{"", false}, {"\xff", false}};
    return wanted;
}

wire::scan_id id_of(const reply& created) {
    EXPECT_EQ(created.status, status::success);
    EXPECT_EQ(created.value.size(), 16u);
    wire::scan_id id;
    std::ranges::copy(base::as_bytes(created.value), id.bytes.begin());
    return id;
}

struct batch {
    std::vector<std::string> keys;
    std::vector<std::string> values;
    std::size_t frame_count = 0;
    status end{};
};

batch continue_scan(
    peer& client, std::uint16_t vbucket, const wire::scan_id& id, std::uint32_t item_limit = 0,
    std::uint32_t byte_limit = 0) {
    batch result;
    const auto answers = client.send(client.bytes_of(
        wire::range_scan_continue_request{id, item_limit, 0, byte_limit}, in_vbucket(vbucket)));
    for (const reply& answer : answers) {
        ++result.frame_count;
        result.end = answer.status;
        if (answer.extras.size() != 4) {
            continue;
        }
        wire::scan_item_reader reader(
            static_cast<wire::scan_content>(answer.u32(0)), base::as_bytes(answer.value));
        for (auto item = reader.next(); item && *item; item = reader.next()) {
            result.keys.emplace_back((*item)->key);
            result.values.emplace_back(base::as_text((*item)->value));
        }
    }
    return result;
}

class scans : public testing::Test {
protected:
    scans() {
        client.ready();
        for (const std::string& key : keys) {
            EXPECT_EQ(client.set(key, "{\"of\":\"" + key + "\"}").status, status::success);
        }
    }

    reply create(const wire::range_scan_create_request& wanted) {
        return client.ask(wanted, in_vbucket(3));
    }

    sandbox::cluster cluster = make_cluster(small_options(2));
    std::vector<std::string> keys = keys_in(3, 5);
    std::uint32_t owner = cluster.topology().active_node("travel", wire::vbucket_id{3})->value;
    peer client{cluster, owner};
};

TEST_F(scans, a_range_is_read_in_the_order_of_its_keys_until_it_is_complete) {
    const auto id = id_of(create(all_keys()));
    const auto read = continue_scan(client, 3, id);
    EXPECT_EQ(read.keys, keys);
    EXPECT_EQ(read.end, status::range_scan_complete);
    EXPECT_EQ(continue_scan(client, 3, id).end, status::key_enoent) << "a complete scan is gone";
}

TEST_F(scans, bounds_are_inclusive_unless_they_say_otherwise) {
    auto wanted = all_keys();
    wanted.what = wire::scan_range{{keys[1], false}, {keys[3], false}};
    EXPECT_EQ(
        continue_scan(client, 3, id_of(create(wanted))).keys,
        (std::vector{keys[1], keys[2], keys[3]}));
    wanted.what = wire::scan_range{{keys[1], true}, {keys[3], true}};
    EXPECT_EQ(continue_scan(client, 3, id_of(create(wanted))).keys, std::vector{keys[2]});
}

TEST_F(scans, a_limit_ends_an_answer_with_more_even_after_the_last_item) {
    const auto id = id_of(create(all_keys()));
    const auto first = continue_scan(client, 3, id, 3);
    EXPECT_EQ(first.keys, (std::vector{keys[0], keys[1], keys[2]}));
    EXPECT_EQ(first.end, status::range_scan_more);
    EXPECT_EQ(continue_scan(client, 3, id, 2).end, status::range_scan_more);
    const auto last = continue_scan(client, 3, id, 2);
    EXPECT_TRUE(last.keys.empty());
    EXPECT_EQ(last.end, status::range_scan_complete);
}

TEST_F(scans, at_least_one_item_is_sent_whatever_the_limit_of_bytes) {
    const auto id = id_of(create(all_keys()));
    const auto first = continue_scan(client, 3, id, 0, 1);
    EXPECT_EQ(first.keys, std::vector{keys[0]});
    EXPECT_EQ(first.end, status::range_scan_more);
}

TEST_F(scans, documents_have_their_values_and_long_answers_several_frames) {
    const std::string large(5000, 'x');
    for (const std::string& key : keys) {
        ASSERT_EQ(client.set(key, large).status, status::success);
    }
    auto wanted = all_keys();
    wanted.is_key_only = false;
    const auto read = continue_scan(client, 3, id_of(create(wanted)));
    EXPECT_EQ(read.keys, keys);
    EXPECT_EQ(read.values, std::vector<std::string>(5, large));
    EXPECT_GT(read.frame_count, 1u);
}

TEST_F(scans, a_scan_sees_the_documents_of_its_creation) {
    const auto id = id_of(create(all_keys()));
    ASSERT_EQ(
        client.ask(wire::document_request{opcode::remove, client.key(keys[4])}, peer::at(keys[4]))
            .status,
        status::success);
    EXPECT_EQ(continue_scan(client, 3, id).keys, keys);
    EXPECT_EQ(continue_scan(client, 3, id_of(create(all_keys()))).keys.size(), 4u);
}

TEST_F(scans, a_range_without_documents_is_not_found) {
    auto wanted = all_keys();
    wanted.what = wire::scan_range{{"a", false}, {"b", false}};
    EXPECT_EQ(create(wanted).status, status::key_enoent);
    wanted.collection = wire::collection_id{8};
    wanted.what = wire::scan_sampling{3, 1};
    EXPECT_EQ(create(wanted).status, status::key_enoent);
}

TEST_F(scans, the_same_seed_chooses_the_same_sample) {
    auto wanted = all_keys();
    wanted.what = wire::scan_sampling{2, 7};
    const auto first = continue_scan(client, 3, id_of(create(wanted)));
    EXPECT_EQ(first.keys.size(), 2u);
    EXPECT_EQ(continue_scan(client, 3, id_of(create(wanted))).keys, first.keys);
    wanted.what = wire::scan_sampling{100, 7};
    EXPECT_EQ(continue_scan(client, 3, id_of(create(wanted))).keys, keys);
}

TEST_F(scans, a_canceled_scan_is_gone) {
    const auto id = id_of(create(all_keys()));
    const auto cancel = [&] {
        return client.ask(wire::range_scan_cancel_request{id}, in_vbucket(3)).status;
    };
    EXPECT_EQ(cancel(), status::success);
    EXPECT_EQ(cancel(), status::key_enoent);
    EXPECT_EQ(continue_scan(client, 3, id).end, status::key_enoent);
}

TEST_F(scans, an_unknown_collection_and_a_copy_that_is_not_active_are_refused) {
    auto wanted = all_keys();
    wanted.collection = wire::collection_id{99};
    EXPECT_EQ(create(wanted).status, status::unknown_collection);
    peer other(cluster, 1 - owner);
    other.ready();
    EXPECT_EQ(other.ask(all_keys(), in_vbucket(3)).status, status::not_my_vbucket);
}

TEST_F(scans, a_move_of_the_vbucket_ends_its_scans) {
    const auto id = id_of(create(all_keys()));
    const sandbox::node_id target{1 - owner};
    ASSERT_TRUE(cluster.topology().move_vbucket("travel", wire::vbucket_id{3}, target));
    EXPECT_EQ(continue_scan(client, 3, id).end, status::not_my_vbucket);
    peer other(cluster, target.value);
    other.ready();
    EXPECT_EQ(continue_scan(other, 3, id).end, status::key_enoent);
    ASSERT_TRUE(
        cluster.topology().move_vbucket("travel", wire::vbucket_id{3}, sandbox::node_id{owner}));
    EXPECT_EQ(continue_scan(client, 3, id).end, status::key_enoent);
}

TEST_F(scans, what_a_scan_must_see_has_to_be_on_disk_and_of_the_same_history) {
    auto wanted = all_keys();
    const reply stored = client.set(keys[0], "{}");
    wanted.snapshot = wire::scan_snapshot{stored.u64(0), stored.u64(8), 0};
    EXPECT_EQ(create(wanted).status, status::success);
    wanted.snapshot->seqno += 1;
    EXPECT_EQ(create(wanted).status, status::etmpfail);
    wanted.snapshot->vbucket_uuid += 1;
    EXPECT_EQ(create(wanted).status, status::vb_uuid_not_equal);
}

TEST_F(scans, more_scans_than_a_vbucket_may_have_are_refused_until_old_ones_are_forgotten) {
    for (int count = 0; count < 64; ++count) {
        ASSERT_EQ(create(all_keys()).status, status::success);
    }
    EXPECT_EQ(create(all_keys()).status, status::ebusy);
    client.now += std::chrono::minutes(3);
    EXPECT_EQ(create(all_keys()).status, status::success);
}

}  // namespace handlers_scan_test
