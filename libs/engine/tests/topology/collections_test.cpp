#include "topology/collections.hpp"

#include <gtest/gtest.h>

#include "engine_parts.hpp"

namespace reprise::engine::testing::collections_tests {

using events = std::vector<std::string>;

struct one_collection {
    one_collection() { parts.nodes.open(*entry.bucket, parts.now); }
    engine_parts parts;
    scripted_judge judge;
    collections all{parts.context, parts.listener, judge};
    collection_entry& entry =
        *parts.nodes.buckets()[parts.nodes.buckets().keyspace("travel", "inventory", "hotels")]
             .entry;
    kv_connection& connection() { return parts.open_link(*entry.bucket, "node1"); }

    // Passes an answer with the body `message`.
    template <class Message>
    collection_answer answer(wire::status status, const Message& message) {
        std::vector<std::byte> bytes;
        base::byte_writer writer(bytes);
        wire::response_header header;
        header.op = wire::opcode::get_collection_id;
        header.status = status;
        header.datatype = is_success(status) ? wire::datatype::raw : wire::datatype::json;
        EXPECT_TRUE(message.encode(writer, header));
        wire::frame_limits limits;
        limits.direction = wire::frame_direction::to_client;
        wire::frame_reader reader(limits);
        reader.feed(bytes);
        const auto frame = reader.next();
        return all.on_answer(entry, *entry.bucket->links[0]->endpoint, **frame, parts.now);
    }
};

TEST(collections, wait_for_the_answer_no_longer_than_the_internal_timeout) {
    one_collection of;
    of.all.ask(of.entry, of.connection(), of.parts.now);
    EXPECT_EQ(of.entry.state, collection_state::asking);
    EXPECT_EQ(of.entry.due(), of.parts.now + of.parts.context.options.internal_timeout);
    of.all.on_due(of.entry, of.entry.due());
    EXPECT_EQ(of.entry.state, collection_state::unknown);
    EXPECT_EQ(of.parts.listener.take(), (events{"wake"}));
    EXPECT_EQ(of.connection().waiting.find(of.entry.opaque)->kind, waiter_kind::abandoned);
    EXPECT_EQ(of.entry.asked, nullptr);
}

TEST(collections, wake_operations_that_wait_for_a_known_id) {
    one_collection of;
    EXPECT_EQ(
        of.answer(wire::status::success, wire::collection_id_response{5, wire::collection_id{9}}),
        collection_answer::taken);
    EXPECT_EQ(of.entry.state, collection_state::known);
    EXPECT_EQ(of.entry.id, wire::collection_id{9});
    EXPECT_EQ(of.entry.bucket->manifest_uid_max, 5U);
    EXPECT_EQ(of.parts.listener.take(), (events{"wake"}));
}

TEST(collections, ask_an_outdated_node_again_later) {
    one_collection of;
    of.entry.bucket->manifest_uid_max = 6;
    const std::string older = R"({"manifest_uid":"5"})";
    const wire::value_response refusal{base::as_bytes(older)};
    EXPECT_EQ(of.answer(wire::status::unknown_collection, refusal), collection_answer::taken);
    EXPECT_EQ(of.entry.state, collection_state::stale);
    EXPECT_EQ(of.entry.due(), of.parts.now + of.judge.reported.back());
    EXPECT_EQ(of.judge.asked.back(), retry_reason::collection_not_found);
    EXPECT_EQ(of.judge.stage, attempt_stage::response);
    EXPECT_TRUE(of.parts.listener.take().empty());
}

TEST(collections, report_one_that_is_missing_and_one_that_cannot_be) {
    one_collection of;
    EXPECT_EQ(
        of.answer(wire::status::unknown_scope, wire::value_response{}), collection_answer::taken);
    EXPECT_EQ(
        of.answer(wire::status::not_supported, wire::value_response{}), collection_answer::taken);
    EXPECT_EQ(
        of.parts.listener.take(), (events{"missing inventory.hotels", "refused inventory.hotels"}));
    EXPECT_EQ(of.parts.listener.refused_with, errc::feature_not_available);
    EXPECT_EQ(of.entry.state, collection_state::unknown);
}

TEST(collections, a_final_answer_starts_the_count_of_outdated_ones_again) {
    one_collection of;
    of.entry.stale_answers = 3;
    EXPECT_EQ(
        of.answer(wire::status::not_supported, wire::value_response{}), collection_answer::taken);
    EXPECT_EQ(of.entry.stale_answers, 0U);
}

TEST(collections, RH_19_RH_28_an_unknown_collection_is_missing_and_not_outdated) {
    one_collection of;
    EXPECT_EQ(
        of.answer(wire::status::unknown_collection, wire::value_response{}),
        collection_answer::taken);
    EXPECT_EQ(of.parts.listener.take(), (events{"missing inventory.hotels"}));
    EXPECT_TRUE(of.judge.asked.empty()) << "KV_COLLECTION_OUTDATED is for data operations";
}

TEST(collections, RH_28_a_node_that_is_behind_an_earlier_refusal_is_asked_again) {
    one_collection of;
    const auto refuse_with = [&](const std::string& body) {
        return of.answer(
            wire::status::unknown_collection, wire::value_response{base::as_bytes(body)});
    };
    EXPECT_EQ(refuse_with(R"({"manifest_uid":"9"})"), collection_answer::taken);
    EXPECT_EQ(of.parts.listener.take(), (events{"missing inventory.hotels"}));
    EXPECT_EQ(refuse_with(R"({"manifest_uid":"8"})"), collection_answer::taken);
    EXPECT_EQ(of.entry.state, collection_state::stale) << "this node does not know revision 9";
    EXPECT_TRUE(of.parts.listener.take().empty());
}

TEST(collections, RH_24_any_other_known_answer_is_final) {
    one_collection of;
    for (const auto status :
         {wire::status::eaccess, wire::status::einternal, wire::status::ebusy,
          wire::status::rate_limited_max_commands, static_cast<wire::status>(0x7f01)}) {
        of.all.ask(of.entry, of.connection(), of.parts.now);
        ASSERT_EQ(of.entry.state, collection_state::asking);
        EXPECT_EQ(of.answer(status, wire::value_response{}), collection_answer::taken);
        EXPECT_EQ(of.entry.state, collection_state::unknown) << "it is asked for when needed";
        EXPECT_EQ(of.parts.listener.take(), (events{"refused inventory.hotels"}));
    }
    EXPECT_EQ(
        of.answer(wire::status::no_bucket, wire::value_response{}),
        collection_answer::drop_connection);
    EXPECT_TRUE(of.judge.asked.empty());
}

TEST(collections, RH_19_ask_a_node_again_that_cannot_answer_now) {
    one_collection of;
    EXPECT_EQ(of.answer(wire::status::etmpfail, wire::value_response{}), collection_answer::taken);
    EXPECT_EQ(of.entry.state, collection_state::stale);
    EXPECT_EQ(of.judge.asked.back(), retry_reason::kv_temporary_failure);
    EXPECT_TRUE(of.parts.listener.take().empty());
}

TEST(collections, report_an_answer_that_cannot_be_decoded) {
    one_collection of;
    EXPECT_EQ(
        of.answer(wire::status::success, wire::value_response{}), collection_answer::undecodable);
    of.all.forget(of.entry, of.parts.now);
    EXPECT_EQ(of.parts.listener.take(), (events{"wake"}));
}

}  // namespace reprise::engine::testing::collections_tests
