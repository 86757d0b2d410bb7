#include <gtest/gtest.h>

#include <algorithm>

#include <reprise/wire/compression.hpp>
#include <reprise/wire/subdoc_messages.hpp>

#include "engine_driver.hpp"

// Requests and answers of each kind of operation.

namespace reprise::engine::testing::operations_tests {

template <class Message>
std::string frame_text(const seen_request& to, status code, const Message& message) {
    auto header = header_for(to.opaque, to.op);
    header.status = code;
    header.cas = 77;
    return std::string(base::as_text(encoded(message, header)));
}

struct kinds_scene {
    scripted_cluster cluster{1};
    engine_driver driver{cluster};
    kinds_scene() { driver.connect(); }

    engine_driver::outcome_ptr run(operation_request request) {
        auto result = driver.after(1ms, driver.start(std::move(request)));
        EXPECT_EQ(result->calls, 1);
        return result;
    }
};

TEST(operations, insert_replace_and_remove_fail_with_their_errors) {
    kinds_scene scene;
    EXPECT_TRUE(
        scene.run(scene.driver.request(operation_kind::insert, "k", "1"))->result.has_value());
    EXPECT_EQ(
        scene.run(scene.driver.request(operation_kind::insert, "k", "1"))->result.ec,
        errc::document_exists);
    EXPECT_TRUE(
        scene.run(scene.driver.request(operation_kind::replace, "k", "2"))->result.has_value());
    EXPECT_TRUE(scene.run(scene.driver.request(operation_kind::remove, "k"))->result.has_value());
    EXPECT_EQ(
        scene.run(scene.driver.request(operation_kind::remove, "k"))->result.ec,
        errc::document_not_found);
    EXPECT_EQ(
        scene.run(scene.driver.request(operation_kind::replace, "k", "2"))->result.ec,
        errc::document_not_found);
}

TEST(operations, exists_answers_instead_of_failing) {
    kinds_scene scene;
    const auto missing = scene.run(scene.driver.request(operation_kind::exists, "k"));
    EXPECT_TRUE(missing->result.has_value());
    EXPECT_FALSE(missing->result.is_present);
    scene.run(scene.driver.request(operation_kind::upsert, "k", "v"));
    const auto there = scene.run(scene.driver.request(operation_kind::exists, "k"));
    EXPECT_TRUE(there->result.is_present);
}

TEST(operations, counters_touch_lock_and_unlock_pass) {
    kinds_scene scene;
    EXPECT_EQ(scene.run(scene.driver.request(operation_kind::increment, "n"))->result.counter, 7U);
    scene.run(scene.driver.request(operation_kind::upsert, "k", "v"));
    for (const operation_kind kind :
         {operation_kind::touch, operation_kind::get_and_touch, operation_kind::get_and_lock}) {
        EXPECT_TRUE(scene.run(scene.driver.request(kind, "k"))->result.has_value());
    }
    auto unlock = scene.driver.request(operation_kind::unlock, "k");
    unlock.cas = 5;
    EXPECT_TRUE(scene.run(std::move(unlock))->result.has_value());
    EXPECT_EQ(scene.cluster.all(opcode::unlock).at(0).cas, 5U);
    EXPECT_TRUE(scene.run(scene.driver.request(operation_kind::noop, ""))->result.has_value());
}

TEST(operations, mutation_tokens_and_cas_are_returned) {
    kinds_scene scene;
    scene.cluster.answer_each(opcode::set, [](const seen_request& seen) {
        return answer{
            .raw = frame_text(
                seen, status::success, wire::mutation_response{wire::mutation_token{11, 12}})};
    });
    const auto stored = scene.run(scene.driver.request(operation_kind::upsert, "foo", "v"));
    ASSERT_TRUE(stored->result.token.has_value());
    EXPECT_EQ(stored->result.token->seqno, 12U);
    EXPECT_EQ(stored->result.cas, 77U);
    EXPECT_EQ(stored->result.vbucket.value, 3);
}

TEST(operations, durability_is_sent_as_a_frame_info_and_needs_the_servers_support) {
    for (const bool is_granted : {true, false}) {
        scripted_cluster cluster(1);
        if (!is_granted) {
            cluster.nodes[0].withheld = {wire::hello_feature::sync_replication};
        }
        connected_driver driver(cluster);
        auto request = driver.request(operation_kind::upsert, "k", "v");
        request.durability = durability_level::majority;
        const auto stored = driver.after(1ms, driver.start(std::move(request)));
        ASSERT_EQ(stored->calls, 1);
        EXPECT_EQ(stored->result.has_value(), is_granted);
        if (is_granted) {
            EXPECT_EQ(cluster.all(opcode::set).at(0).magic, wire::magic::alt_request);
        } else {
            EXPECT_EQ(stored->result.ec, errc::feature_not_available);
            EXPECT_EQ(cluster.count(opcode::set), 0U);
        }
    }
}

TEST(operations, an_ambiguous_durable_write_is_marked_and_never_retried) {
    kinds_scene scene;
    scene.cluster.answer_all(opcode::set, {.status = status::sync_write_ambiguous});
    const auto stored = scene.run(scene.driver.request(operation_kind::upsert, "k", "v"));
    EXPECT_EQ(stored->result.ec, errc::durability_ambiguous);
    EXPECT_TRUE(stored->result.error->is_ambiguous);
    EXPECT_EQ(scene.cluster.count(opcode::set), 1U);
}

TEST(operations, values_are_compressed_if_smaller_and_inflated_when_read) {
    kinds_scene scene;
    const std::string text(1000, 'a');
    scene.run(scene.driver.request(operation_kind::upsert, "k", text));
    const std::string sent = scene.cluster.all(opcode::set).at(0).value;
    EXPECT_LT(sent.size(), 200U);
    scene.cluster.answer_each(opcode::get, [&](const seen_request& seen) {
        std::vector<std::byte> bytes;
        base::byte_writer writer(bytes);
        wire::response_header header;
        header.opaque = seen.opaque;
        header.datatype = wire::datatype::snappy;
        wire::document_response body;
        body.value = base::as_bytes(sent);
        EXPECT_TRUE(body.encode(writer, header).has_value());
        return answer{.raw = std::string(base::as_text(bytes))};
    });
    const auto read = scene.run(scene.driver.request(operation_kind::get, "k"));
    ASSERT_TRUE(read->result.has_value());
    EXPECT_EQ(read->result.value.text(), text);
    EXPECT_EQ(read->result.datatype, wire::datatype::raw);
}

TEST(operations, without_collections_keys_are_bare_and_named_collections_are_refused) {
    scripted_cluster cluster(1);
    cluster.nodes[0].withheld = {wire::hello_feature::collections};
    connected_driver driver(cluster);
    driver.get("k");
    const auto named = driver.settled(driver.start(operation_kind::get, "k", "", "s", "c"));
    EXPECT_EQ(cluster.all(opcode::get).at(0).key, "k");
    EXPECT_EQ(named->code(), errc::feature_not_available);
}

TEST(operations, a_lookup_gives_each_path_its_own_result) {
    kinds_scene scene;
    scene.cluster.answer_each(opcode::subdoc_multi_lookup, [](const seen_request& seen) {
        wire::subdoc_lookup_response body;
        EXPECT_TRUE(body.results.push_back({status::success, base::as_bytes("1")}));
        EXPECT_TRUE(body.results.push_back({status::subdoc_path_enoent, {}}));
        return answer{.raw = frame_text(seen, status::subdoc_multi_path_failure, body)};
    });
    auto request = scene.driver.request(operation_kind::lookup_in, "k");
    request.terms().specs = {{.path = "a"}, {.path = "b"}};
    const auto read = scene.run(std::move(request));
    ASSERT_TRUE(read->result.has_value());
    ASSERT_EQ(read->result.paths.size(), 2U);
    EXPECT_EQ(read->result.paths[0].value.text(), "1");
    EXPECT_EQ(read->result.paths[1].ec, errc::path_not_found);
}

TEST(operations, a_lookup_with_fewer_results_than_paths_is_unreadable) {
    kinds_scene scene;
    scene.cluster.answer_each(opcode::subdoc_multi_lookup, [](const seen_request& seen) {
        return answer{.raw = frame_text(seen, status::success, wire::subdoc_lookup_response{})};
    });
    auto request = scene.driver.request(operation_kind::lookup_in, "k");
    request.terms().specs = {{.path = "a"}};
    const auto read = scene.run(std::move(request));
    EXPECT_EQ(read->result.ec, errc::decoding_failure);
}

TEST(operations, a_failed_path_fails_the_whole_mutation_and_is_named) {
    kinds_scene scene;
    scene.cluster.answer_each(opcode::subdoc_multi_mutation, [](const seen_request& seen) {
        wire::subdoc_mutation_response body;
        EXPECT_TRUE(body.results.push_back({1, status::subdoc_path_eexists, {}}));
        return answer{.raw = frame_text(seen, status::subdoc_multi_path_failure, body)};
    });
    auto request = scene.driver.request(operation_kind::mutate_in, "k");
    request.terms().specs = {
        {.verb = path_verb::upsert, .path = "a", .value = "1"},
        {.verb = path_verb::insert, .path = "b", .value = "1"}};
    const auto stored = scene.run(std::move(request));
    EXPECT_EQ(stored->result.ec, errc::path_exists) << stored->result.error->detail;
    EXPECT_EQ(stored->result.error->failed_path, 1);
    EXPECT_FALSE(stored->result.error->is_ambiguous);
    EXPECT_TRUE(scene.driver.closes.empty());
}

TEST(operations, a_replica_read_goes_to_the_node_of_the_replica) {
    scripted_cluster cluster(2, 1);
    cluster.map = {{0, 1}};
    connected_driver driver(cluster);
    driver.advance(10ms);
    driver.start(operation_kind::get_replica, "k");
    auto lookup = driver.request(operation_kind::lookup_in_replica, "k");
    lookup.terms().specs = {{.path = "a"}};
    driver.start(std::move(lookup));
    driver.settle();
    EXPECT_EQ(cluster.all(opcode::get_replica).at(0).node, 1U);
    EXPECT_EQ(cluster.all(opcode::subdoc_multi_lookup).at(0).node, 1U);
}

// VB-02: the forward map is that of active nodes.
TEST(operations, VB_02_a_replica_read_does_not_follow_the_forward_map) {
    scripted_cluster cluster(2, 1);
    cluster.map = {{0, 1}};
    cluster.forward_map = {{0, 1}};
    connected_driver driver(cluster);
    driver.advance(10ms);
    cluster.answer_all(opcode::get_replica, {.status = status::not_my_vbucket});
    driver.start(operation_kind::get_replica, "k");
    driver.settle();
    EXPECT_EQ(cluster.count(opcode::get_replica), 1U) << "it waits before it is sent again";
    driver.advance(1ms);
    EXPECT_EQ(cluster.count(opcode::get_replica), 2U);
}

TEST(operations, the_error_contains_the_servers_message) {
    kinds_scene scene;
    scene.cluster.answer_all(
        opcode::set, {.status = status::einval,
                      .value = R"({"error":{"context":"bad thing","ref":"r-1"}})",
                      .datatype = wire::datatype::json});
    const auto stored = scene.run(scene.driver.request(operation_kind::upsert, "k", "v"));
    EXPECT_EQ(stored->result.ec, errc::invalid_argument);
    EXPECT_EQ(stored->result.error->server_context, "bad thing");
    EXPECT_EQ(stored->result.error->server_ref, "r-1");
    EXPECT_EQ(stored->result.error->last_dispatched_to, "node1:11210");
    EXPECT_EQ(stored->result.error->opaque, scene.cluster.all(opcode::set).at(0).opaque);
    EXPECT_NE(to_string(*stored->result.error).find("bad thing"), std::string::npos);
}

// A get whose answer, with this value, the test delivers.
struct unanswered_get {
    unanswered_get(kinds_scene& of, std::string_view value) : scene(of) {
        std::optional<seen_request> held;
        scene.cluster.on_request = [&](const seen_request& seen) -> std::optional<answer> {
            held = seen;
            return answer{.is_silent = true};
        };
        read = scene.driver.get("k");
        scene.driver.settle();
        wire::document_response body;
        body.value = base::as_bytes(value);
        frame = frame_text(*held, status::success, body);
        connection = held->connection;
    }
    // Returns the block that the bytes were received into.
    base::block_ref receive(std::string_view bytes) {
        auto block = base::block_ref::make(bytes.size());
        std::ranges::copy(base::as_bytes(bytes), block.bytes().begin());
        scene.driver.engine().on_bytes(connection, block, block.bytes(), scene.driver.now);
        return block;
    }

    kinds_scene& scene;
    decltype(scene.driver.get("k")) read;
    std::string frame;
    connection_id connection{};
};

TEST(operations, large_values_share_the_receive_block_and_small_ones_do_not) {
    kinds_scene scene;
    for (const std::size_t size : {10U, 100U, 4095U, 4096U, 10000U}) {
        const std::string value(size, 'x');
        unanswered_get get(scene, value);
        const auto block = get.receive(get.frame);
        scene.driver.settle();
        ASSERT_EQ(get.read->calls, 1);
        const base::slice& received = get.read->result.value;
        EXPECT_EQ(received.size(), size);
        EXPECT_EQ(received.text(), value);
        EXPECT_EQ(received.is_shared(), size > base::slice::inline_size_max);
        EXPECT_EQ(block.is_unique(), size < 4096);
    }
}

// Its two halves are in blocks of their own; the frame is whole only in the reader's block.
TEST(operations, a_large_value_that_arrives_in_parts_is_copied_once) {
    kinds_scene scene;
    const std::string value(10'000, 'x');
    unanswered_get get(scene, value);
    const std::string_view frame = get.frame;
    for (const std::string_view half : {frame.substr(0, 5'000), frame.substr(5'000)}) {
        EXPECT_TRUE(get.receive(half).is_unique());
    }
    scene.driver.settle();
    ASSERT_EQ(get.read->calls, 1);
    const base::slice& received = get.read->result.value;
    EXPECT_EQ(received.text(), value);
    // The extras are directly before a value only where the frame itself was received.
    const std::byte* const before = received.view().data() - sizeof(std::uint32_t);
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(before), 4), frame.substr(24, 4));
}

}  // namespace reprise::engine::testing::operations_tests
