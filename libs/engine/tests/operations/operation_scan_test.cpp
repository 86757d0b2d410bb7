#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "operations/fail_fast_strategy.hpp"
#include "range_scans.hpp"

// Range scans from the user's view: which rows arrive, and what is sent.

namespace reprise::engine::testing::operation_scan_tests {

TEST_F(range_scans, rows_of_several_answers_and_frames_arrive_in_their_order) {
    const auto done = run(all());
    ASSERT_TRUE(done->has_succeeded()) << done->result.ec.message();
    EXPECT_EQ(keys_of(done->result.scan->rows), scans.keys);
    EXPECT_EQ(done->result.scan->row_count, 10u);
    EXPECT_EQ(cluster.count(opcode::range_scan_create), 1u);
    EXPECT_EQ(cluster.count(opcode::range_scan_continue), 3u);
    EXPECT_EQ(cluster.count(opcode::range_scan_cancel), 0u);
    EXPECT_EQ(cluster.all(opcode::range_scan_create)[0].vbucket, 1u);
    EXPECT_EQ(driver.engine().statistics().operations_open, 0u);
}

TEST_F(range_scans, any_split_of_the_bytes_gives_the_same_rows) {
    driver.feed_size = 7;
    const auto done = run(all());
    ASSERT_TRUE(done->result.has_value()) << done->result.ec.message();
    EXPECT_EQ(keys_of(done->result.scan->rows), scans.keys);
}

TEST_F(range_scans, a_range_without_documents_is_complete) {
    scans.keys.clear();
    const auto done = run(all());
    ASSERT_TRUE(done->result.has_value()) << done->result.ec.message();
    EXPECT_TRUE(done->result.scan->rows.empty());
    EXPECT_EQ(cluster.count(opcode::range_scan_continue), 0u);
}

TEST_F(range_scans, RH_49_a_scan_whose_connection_breaks_begins_again_after_the_last_row) {
    // Two rows of the second answer arrive, then the connection closes.
    on_continue(2, [&](const seen_request& seen) {
        return answer{.closes = true, .raw = scans.frames(seen, 1, false)};
    });
    const auto done = run(all());
    ASSERT_TRUE(done->result.has_value()) << done->result.ec.message();
    EXPECT_EQ(keys_of(done->result.scan->rows), scans.keys);
    ASSERT_EQ(creates().size(), 2u);
    EXPECT_EQ(last_start(), (wire::scan_bound{"k05", true}));
    EXPECT_GE(done->result.retry_attempts, 1u);
}

TEST_F(range_scans, RH_49_a_scan_begins_again_where_it_broke_however_few_rows_arrived) {
    for (const int rows : {0, 1, 2, 3}) {
        cluster.requests.clear();
        scans = scripted_scans{};
        scans.rows_per_frame = rows;
        on_continue(1, [&](const seen_request& seen) {
            const std::string arrived = rows == 0 ? "" : scans.frames(seen, 1, false);
            scans.rows_per_frame = 2;
            return answer{.closes = true, .raw = arrived};
        });
        const auto done = run(all());
        ASSERT_TRUE(done->result.has_value()) << done->result.ec.message();
        EXPECT_EQ(keys_of(done->result.scan->rows), scans.keys) << rows;
        const bool is_later = rows != 0;
        const std::string last =
            is_later ? scans.keys[static_cast<std::size_t>(rows) - 1] : std::string(1, '\0');
        EXPECT_EQ(last_start(), (wire::scan_bound{last, is_later})) << rows;
    }
}

TEST_F(range_scans, RH_49_a_scan_that_its_server_lost_begins_again_after_the_last_row) {
    for (const status lost : {status::key_enoent, status::range_scan_cancelled}) {
        cluster.requests.clear();
        scans = scripted_scans{};
        on_continue(2, [lost](const seen_request&) { return answer{.status = lost}; });
        const auto done = run(all());
        ASSERT_TRUE(done->result.has_value()) << done->result.ec.message();
        EXPECT_EQ(keys_of(done->result.scan->rows), scans.keys);
        EXPECT_EQ(last_start(), (wire::scan_bound{"k03", true}));
        EXPECT_EQ(done->result.retry_attempts, 1u);
        EXPECT_EQ(cluster.count(opcode::range_scan_cancel), 0u);
    }
}

TEST_F(range_scans, RH_49_a_scan_whose_vbucket_moved_continues_at_its_new_owner) {
    on_continue(2, [&](const seen_request&) {
        cluster.map[1] = {0};
        ++cluster.revision.rev;
        return answer{
            .status = status::not_my_vbucket,
            .value = cluster.configuration_text(1),
            .datatype = wire::datatype::json};
    });
    const auto done = run(all());
    ASSERT_TRUE(done->result.has_value()) << done->result.ec.message();
    EXPECT_EQ(keys_of(done->result.scan->rows), scans.keys);
    EXPECT_EQ(last_start(), (wire::scan_bound{"k03", true}));
    EXPECT_EQ(cluster.all(opcode::range_scan_create).back().node, 0u);
    EXPECT_EQ(cluster.count(opcode::range_scan_cancel), 0u) << "its scan ended with the move";
}

TEST_F(range_scans, RH_49_a_scan_that_could_not_be_continued_for_a_while_is_where_it_was) {
    const auto done = start(part_of(in_small_parts()));
    driver.advance(100ms);
    const auto push_owner = [&](std::int16_t owner) {
        cluster.map[1] = {owner};
        ++cluster.revision.rev;
        driver.push_configuration(driver.connections_to(0).at(0), 0, false);
        driver.advance(100ms);
    };
    push_owner(-1);
    std::size_t row_count = take().size();
    driver.advance(100ms);
    EXPECT_EQ(cluster.count(opcode::range_scan_continue), 1u) << "nobody owns the vbucket";
    push_owner(1);
    while (done->calls == 0) {
        row_count += take().size();
        driver.advance(100ms);
    }
    ASSERT_TRUE(done->result.has_value()) << done->result.ec.message();
    EXPECT_EQ(row_count + keys_of(done->result.scan->rows).size(), 10u);
    EXPECT_EQ(cluster.count(opcode::range_scan_create), 1u);
}

TEST_F(range_scans, RH_49_rows_that_a_server_repeats_are_not_delivered_again) {
    scans.repeats_start = true;
    on_continue(2, [](const seen_request&) { return answer{.closes = true}; });
    const auto done = run(all());
    ASSERT_TRUE(done->result.has_value()) << done->result.ec.message();
    EXPECT_EQ(keys_of(done->result.scan->rows), scans.keys);
}

TEST_F(range_scans, RH_49_a_sample_is_not_resumed_after_its_first_row) {
    on_continue(2, [](const seen_request&) { return answer{.status = status::key_enoent}; });
    const auto done = run(sample());
    EXPECT_EQ(done->result.ec, errc::request_canceled);
    EXPECT_EQ(keys_of(done->result.scan->rows).size(), 4u) << "rows that arrived are delivered";
    EXPECT_EQ(cluster.count(opcode::range_scan_create), 1u);
    ASSERT_TRUE(done->result.history);
    EXPECT_EQ(done->result.history->refusal(), refusal_reason::partly_delivered);
}

TEST_F(range_scans, RH_49_a_sample_without_rows_begins_again) {
    on_continue(1, [](const seen_request&) { return answer{.status = status::key_enoent}; });
    const auto done = run(sample());
    ASSERT_TRUE(done->result.has_value()) << done->result.ec.message();
    EXPECT_EQ(cluster.count(opcode::range_scan_create), 2u);
}

TEST_F(range_scans, RH_49_a_busy_server_is_asked_again_and_a_scan_it_may_still_have_is_canceled) {
    on_continue(2, [](const seen_request&) { return answer{.status = status::ebusy}; });
    const auto done = run(all());
    ASSERT_TRUE(done->result.has_value()) << done->result.ec.message();
    EXPECT_EQ(keys_of(done->result.scan->rows), scans.keys);
    EXPECT_EQ(cluster.count(opcode::range_scan_cancel), 1u);
    EXPECT_EQ(cluster.count(opcode::range_scan_create), 2u);
}

TEST_F(range_scans, the_strategy_decides_whether_a_broken_scan_begins_again) {
    on_continue(2, [](const seen_request&) { return answer{.closes = true}; });
    const auto done = run(all(), std::make_shared<fail_fast_strategy>());
    EXPECT_EQ(done->result.ec, errc::request_canceled);
    EXPECT_FALSE(done->result.error->is_ambiguous);
    EXPECT_EQ(keys_of(done->result.scan->rows).size(), 4u);
    EXPECT_EQ(cluster.count(opcode::range_scan_create), 1u);
}

TEST_F(range_scans, rows_are_requested_only_as_fast_as_they_are_taken) {
    int announced = 0;
    vbucket_scan scan = part_of(in_small_parts());
    scan.on_rows = [&announced] { ++announced; };
    const auto done = start(std::move(scan));
    driver.advance(1s);
    EXPECT_EQ(done->calls, 0);
    EXPECT_EQ(cluster.count(opcode::range_scan_continue), 1u);
    EXPECT_EQ(announced, 1);
    EXPECT_EQ(take().size(), 4u);
    driver.advance(1s);
    EXPECT_EQ(cluster.count(opcode::range_scan_continue), 2u);
    EXPECT_EQ(announced, 2);
    EXPECT_EQ(take().size(), 4u);
    driver.advance(1s);
    EXPECT_EQ(done->calls, 1);
    EXPECT_EQ(keys_of(done->result.scan->rows).size(), 2u);
}

TEST_F(range_scans, a_reader_that_takes_no_rows_does_not_extend_the_timeout) {
    const auto done = start(part_of(in_small_parts()));
    driver.advance(10s);
    ASSERT_EQ(done->result.ec, errc::unambiguous_timeout);
    EXPECT_EQ(done->result.error->detail, "waited until its rows are read");
    EXPECT_EQ(cluster.count(opcode::range_scan_cancel), 1u);
}

TEST_F(range_scans, a_canceled_scan_is_canceled_on_its_server) {
    const auto done = start(part_of(in_small_parts()));
    driver.advance(1s);
    EXPECT_TRUE(driver.engine().cancel(id, driver.now));
    driver.advance(1s);
    EXPECT_EQ(done->result.ec, errc::request_canceled);
    const auto canceled = cluster.all(opcode::range_scan_cancel);
    ASSERT_EQ(canceled.size(), 1u);
    EXPECT_EQ(canceled[0].extras.size(), 16u);
    EXPECT_EQ(canceled[0].vbucket, 1u);
    EXPECT_EQ(driver.engine().statistics().operations_open, 0u);
}

TEST_F(range_scans, frames_of_an_abandoned_answer_are_dropped) {
    std::optional<seen_request> asked;
    on_continue(1, [&](const seen_request& seen) {
        asked = seen;
        return answer{.is_silent = true};
    });
    const auto done = start(part_of(all()));
    driver.advance(1s);
    ASSERT_TRUE(asked);
    EXPECT_TRUE(driver.engine().cancel(id, driver.now));
    const std::string late = scans.frames(*asked, 5, true);
    driver.engine().on_bytes(asked->connection, base::as_bytes(late), driver.now);
    driver.advance(1s);
    EXPECT_EQ(driver.engine().statistics().orphans, 1u);
    EXPECT_EQ(driver.get("a")->calls, 0);
    driver.advance(1s);
    EXPECT_EQ(driver.engine().statistics().operations_open, 0u);
}

TEST_F(range_scans, rows_that_cannot_be_read_end_the_scan_and_its_connection) {
    for (const bool is_last : {false, true}) {
        on_continue(is_last ? 2 : 1, [&](const seen_request& seen) {
            const auto broken = base::as_bytes("\x7f");
            return answer{
                .raw = answer_to(
                    seen, is_last ? status::range_scan_more : status::success,
                    wire::range_scan_continue_response{wire::scan_content::keys, broken})};
        });
        const auto done = run(all());
        EXPECT_EQ(done->result.ec, errc::decoding_failure);
        EXPECT_FALSE(driver.closes.empty());
        driver.closes.clear();
    }
}

TEST_F(range_scans, an_answer_above_the_limits_of_its_request_is_refused) {
    scan_request asked = all();
    asked.options.batch_item_limit = 3;
    const auto done = run(std::move(asked));
    ASSERT_EQ(done->result.ec, errc::decoding_failure);
    EXPECT_NE(done->result.error->detail.find("more rows than the limit"), std::string::npos);
}

// One document may be larger than the limit, so an answer may exceed it by one document.
TEST_F(range_scans, an_answer_with_more_bytes_than_its_limit_and_one_document_is_refused) {
    std::vector<std::byte> items;
    base::byte_writer writer(items);
    const std::string key(200, 'k');
    wire::scan_item item;
    item.key = key;
    while (items.size() < std::size_t{12} << 20U) {
        wire::append_scan_item(writer, wire::scan_content::keys, item);
    }
    on_continue(1, [&](const seen_request& seen) {
        const wire::range_scan_continue_response half{wire::scan_content::keys, items};
        return answer{
            .raw = answer_to(seen, status::success, half) +
                   answer_to(seen, status::range_scan_more, half)};
    });
    scan_request asked = in_small_parts();
    asked.options.batch_item_limit = 1'000'000'000;
    const auto done = run(std::move(asked));
    ASSERT_EQ(done->result.ec, errc::decoding_failure);
    EXPECT_NE(done->result.error->detail.find("more bytes than the limit"), std::string::npos);
}

TEST_F(range_scans, the_scan_is_created_in_its_collection) {
    cluster.collections["inventory.hotels"] = 9;
    auto request = driver.request(operation_kind::range_scan, "", "", "inventory", "hotels");
    request.scan = part_of(all());
    const auto done = driver.after(1s, driver.start(std::move(request)));
    ASSERT_TRUE(done->result.has_value()) << done->result.ec.message();
    ASSERT_EQ(creates().size(), 1u);
    EXPECT_EQ(creates().front().collection, wire::collection_id{9});
}

TEST_F(range_scans, a_snapshot_and_the_time_to_wait_for_it_are_sent_with_each_create) {
    scan_request asked = all();
    asked.options.consistent_with = {{{"travel", 1, 77, 12}, {"travel", 2, 78, 13}}};
    on_continue(2, [](const seen_request&) { return answer{.closes = true}; });
    ASSERT_TRUE(run(std::move(asked))->result.has_value());
    ASSERT_EQ(creates().size(), 2u);
    for (const auto& create : creates()) {
        EXPECT_EQ(create.snapshot, (wire::scan_snapshot{77, 12, 1000}));
    }
}

TEST_F(range_scans, another_history_than_the_required_one_is_not_retried) {
    scans.instead = [](const seen_request&, int) {
        return answer{.status = status::vb_uuid_not_equal};
    };
    const auto done = run(all());
    EXPECT_EQ(done->result.ec, errc::mutation_token_outdated);
    EXPECT_EQ(done->result.retry_attempts, 0u);
}

TEST_F(range_scans, a_vbucket_that_does_not_exist_and_missing_limits_are_refused) {
    const auto of_no_vbucket = start(part_of(all(), 4));
    driver.advance(1s);
    EXPECT_EQ(of_no_vbucket->result.ec, errc::invalid_argument);
    EXPECT_EQ(run({{}, {.batch_item_limit = 0}})->result.ec, errc::invalid_argument);
    EXPECT_EQ(run({{}, {.batch_byte_limit = 0}})->result.ec, errc::invalid_argument);
    const auto without = driver.after(1s, driver.start(operation_kind::range_scan, ""));
    EXPECT_EQ(without->result.ec, errc::invalid_argument);
}

TEST_F(range_scans, the_next_operation_has_nothing_of_the_scan) {
    ASSERT_TRUE(run(all())->result.has_value());
    const auto read = driver.settled(driver.get("k"));
    ASSERT_EQ(read->code(), errc::document_not_found);
    EXPECT_EQ(read->result.scan, nullptr);
}

TEST_F(range_scans, an_operation_that_is_no_scan_has_no_rows) {
    const auto done = start(part_of(all()));
    driver.advance(5s);
    row_batch rows = std::move(done->result.scan->rows);
    ASSERT_FALSE(rows.empty());
    driver.get("k");
    EXPECT_TRUE(driver.engine().take_rows(driver.last_id, rows, driver.now));
    EXPECT_TRUE(rows.empty()) << "not those that were there before";
}

TEST(range_scan_capability, a_bucket_without_range_scans_is_not_asked) {
    scripted_cluster cluster{1};
    cluster.can_scan = false;
    engine_driver driver{cluster};
    auto request = driver.request(operation_kind::range_scan, "");
    request.scan = vbucket_scan{std::make_shared<scan_request>()};
    const auto done = driver.after(1s, driver.start(std::move(request)));
    EXPECT_EQ(done->result.ec, errc::feature_not_available);
    EXPECT_EQ(cluster.count(opcode::range_scan_create), 0u);
}

}  // namespace reprise::engine::testing::operation_scan_tests
