#include <gtest/gtest.h>

#include "engine_driver.hpp"

// No bytes from a server cause a crash, a hang or unlimited growth, and no answer matches the wrong
// request.

namespace reprise::engine::testing::untrusted_tests {

TEST(untrusted_bytes, answers_cut_into_single_bytes_are_understood) {
    scripted_cluster cluster(2);
    engine_driver driver(cluster, {{.enable_compression = false}});
    driver.feed_size = 1;
    const auto stored = driver.after(10ms, driver.upsert("k", std::string(3000, 'v')));
    const auto read = driver.after(10ms, driver.get("k"));
    ASSERT_EQ(stored->calls + read->calls, 2);
    EXPECT_TRUE(read->result.has_value());
    EXPECT_EQ(read->result.value.size(), 3000U);
}

TEST(untrusted_bytes, an_answer_sent_twice_completes_its_request_once) {
    auto [cluster, driver] = connected_node();
    cluster.answer_all(opcode::get, {.status = status::key_enoent, .copies = 3});
    const auto first = driver.get("k");
    const auto second = driver.settled(driver.get("k2"));
    EXPECT_EQ(first->calls, 1);
    EXPECT_EQ(second->calls, 1);
    EXPECT_EQ(driver.engine().statistics().orphans, 4U);
    EXPECT_EQ(driver.engine().statistics().connections_open, 1U);
}

TEST(untrusted_bytes, an_invented_opaque_matches_no_request_and_reads_are_sent_again) {
    auto [cluster, driver] = connected_node();
    bool is_first = true;
    cluster.on_request = [&](const seen_request& seen) -> std::optional<answer> {
        return seen.op == opcode::get && std::exchange(is_first, false)
                   ? std::optional(answer{.opaque = seen.opaque + 0x10000U})
                   : std::nullopt;
    };
    const auto read = driver.after(1s, driver.get("k"));
    EXPECT_EQ(read->code(), errc::document_not_found);
    EXPECT_EQ(driver.closes.size(), 1U);
}

TEST(untrusted_bytes, an_answer_of_another_opcode_closes_the_connection) {
    auto [cluster, driver] = connected_node();
    std::vector<std::byte> bytes;
    cluster.answer_each(opcode::set, [&](const seen_request& seen) {
        base::byte_writer writer(bytes);
        wire::response_header header;
        header.op = opcode::get;
        header.opaque = seen.opaque;
        EXPECT_TRUE(wire::document_response{}.encode(writer, header).has_value());
        return answer{.raw = std::string(base::as_text(bytes))};
    });
    const auto stored = driver.after(100ms, driver.upsert("k", "v"));
    ASSERT_EQ(stored->code(), errc::request_canceled);
    EXPECT_TRUE(stored->result.error->is_ambiguous);
    EXPECT_EQ(driver.closes.size(), 1U);
}

TEST(untrusted_bytes, garbage_closes_the_connection_and_reads_are_sent_again) {
    auto [cluster, driver] = connected_node();
    bool is_first = true;
    cluster.on_request = [&](const seen_request& seen) -> std::optional<answer> {
        if (seen.op == opcode::get && std::exchange(is_first, false)) {
            return answer{.raw = std::string(64, '\x55')};
        }
        return std::nullopt;
    };
    const auto read = driver.after(1s, driver.get("k"));
    EXPECT_EQ(read->code(), errc::document_not_found);
    EXPECT_EQ(driver.closes.size(), 1U);
}

TEST(untrusted_bytes, a_frame_with_lying_lengths_closes_the_connection) {
    auto [cluster, driver] = connected_node();
    std::string frame(24, '\0');
    frame[0] = '\x81';
    frame[4] = '\x10';  // extras beyond the body
    driver.send(driver.connections_to(0).at(0), base::as_bytes(frame));
    driver.settle();
    EXPECT_EQ(driver.closes.size(), 1U);
    frame[4] = '\0';
    frame[8] = '\x7f';  // a body of two gigabytes
    driver.advance(1s);
    driver.send(driver.connections_to(0).at(0), base::as_bytes(frame));
    driver.settle();
    EXPECT_EQ(driver.closes.size(), 2U);
}

TEST(untrusted_bytes, a_success_of_the_wrong_shape_is_a_decoding_failure) {
    auto [cluster, driver] = connected_node();
    cluster.answer_all({opcode::get, opcode::set}, {.value = "no extras"});
    const auto read = driver.settled(driver.get("k"));
    ASSERT_EQ(read->code(), errc::decoding_failure);
    EXPECT_FALSE(read->result.error->is_ambiguous);
    EXPECT_EQ(driver.closes.size(), 1U);
}

TEST(untrusted_bytes, a_value_that_cannot_be_inflated_is_a_decoding_failure) {
    auto [cluster, driver] = connected_node();
    cluster.answer_each(opcode::get, [](const seen_request& seen) {
        std::string frame(24, '\0');
        frame[0] = '\x81';
        frame[4] = 4;
        frame[5] = 2;  // snappy
        frame[11] = 8;
        for (int index = 0; index < 4; ++index) {
            frame[static_cast<std::size_t>(12 + index)] =
                static_cast<char>(seen.opaque >> (24 - 8 * index));
        }
        return answer{.raw = frame + std::string(4, '\0') + "\xff\xff\xff\xff"};
    });
    const auto read = driver.settled(driver.get("k"));
    EXPECT_EQ(read->code(), errc::decoding_failure);
}

TEST(untrusted_bytes, a_late_answer_to_a_timed_out_request_is_dropped) {
    auto [cluster, driver] = connected_node();
    std::optional<seen_request> held;
    cluster.on_request = [&](const seen_request& seen) -> std::optional<answer> {
        if (seen.op == opcode::get && !held) {
            held = seen;
            return answer{.is_silent = true};
        }
        return std::nullopt;
    };
    auto request = driver.request(operation_kind::get, "k");
    request.timeout = 10ms;
    const auto late = driver.after(20ms, driver.start(std::move(request)));
    EXPECT_EQ(late->result.ec, errc::unambiguous_timeout);
    const auto read = driver.get("other");
    driver.send(held->connection, encoded(wire::document_response{}, header_for(held->opaque)));
    driver.settle();
    EXPECT_EQ(late->calls, 1);
    EXPECT_EQ(read->result.ec, errc::document_not_found);
    EXPECT_EQ(driver.engine().statistics().orphans, 1U);
}

TEST(untrusted_bytes, too_many_requests_without_an_answer_close_the_connection) {
    engine_options options;
    options.pipeline_credit = 8;
    options.probe_after = 1h;
    auto [cluster, driver] = connected_node(options);
    cluster.answer_all(opcode::get, {.is_silent = true});
    for (int index = 0; index < 5; ++index) {
        auto request = driver.request(operation_kind::get, "k");
        request.timeout = 10ms;
        driver.start(std::move(request));
    }
    driver.advance(20ms);
    EXPECT_EQ(driver.closes.size(), 1U);
}

TEST(untrusted_bytes, a_silent_peer_is_probed_and_closed) {
    auto [cluster, driver] = connected_node();
    cluster.nodes[0].is_silent = true;
    auto request = driver.request(operation_kind::get, "k");
    request.timeout = 10s;
    const auto read = driver.after(1100ms, driver.start(std::move(request)));
    EXPECT_EQ(cluster.count(opcode::noop), 1U);
    driver.advance(1800ms);
    EXPECT_TRUE(driver.closes.empty());
    cluster.nodes[0].is_silent = false;
    driver.advance(500ms);
    EXPECT_EQ(driver.closes.size(), 1U);
    EXPECT_EQ(read->code(), errc::document_not_found);
}

TEST(untrusted_bytes, a_peer_that_answers_the_probe_is_kept) {
    auto [cluster, driver] = connected_node();
    cluster.answer_all({opcode::get, opcode::get_cluster_config}, {.is_silent = true});
    auto request = driver.request(operation_kind::get, "k");
    request.timeout = 20s;
    driver.start(std::move(request));
    driver.advance(15s);
    EXPECT_TRUE(driver.closes.empty());
    EXPECT_GE(cluster.count(opcode::noop), 5U);
}

TEST(untrusted_bytes, requests_wait_for_credit_and_none_is_lost) {
    engine_options options;
    options.pipeline_credit = 4;
    auto [cluster, driver] = connected_node(options);
    std::size_t on_wire_max = 0;
    cluster.on_request = [&](const seen_request&) -> std::optional<answer> {
        on_wire_max = std::max(on_wire_max, driver.engine().statistics().operations_on_wire);
        return std::nullopt;
    };
    const auto stored = driver.after(1ms, driver.upsert_many(50, "k"));
    for (const auto& one : stored) {
        EXPECT_TRUE(one->has_succeeded());
    }
    EXPECT_LE(on_wire_max, 4U);
    EXPECT_EQ(driver.server.applied_writes, 50U);
}

TEST(untrusted_bytes, RH_15_a_full_ready_list_counts_as_a_socket_that_is_not_available) {
    engine_options options;
    options.pipeline_credit = 1;
    options.ready_count_max = 2;
    auto [cluster, driver] = connected_node(options);
    std::vector<engine_driver::outcome_ptr> reads;
    for (int index = 0; index < 4; ++index) {
        reads.push_back(driver.get("k" + std::to_string(index)));
    }
    driver.advance(100ms);
    EXPECT_EQ(reads[0]->result.retry_attempts, 0U);
    ASSERT_EQ(reads[3]->calls, 1);
    EXPECT_TRUE(reads[3]->result.error->retry_reasons.contains(retry_reason::socket_not_available));
}

}  // namespace reprise::engine::testing::untrusted_tests
