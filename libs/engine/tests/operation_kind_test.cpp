#include <reprise/engine/operation_kind.hpp>

#include <set>

#include <gtest/gtest.h>

namespace reprise::engine::operation_kind_test {

TEST(operation_kind, every_kind_has_its_own_name_and_its_own_opcode_for_active_or_replica_copies) {
    std::set<std::string_view> names;
    std::set<std::pair<wire::opcode, bool>> opcodes;
    for (const operation_facts& facts : operation_table) {
        EXPECT_EQ(&facts_of(facts.kind), &facts);
        EXPECT_TRUE(names.insert(to_string(facts.kind)).second) << facts.name;
        EXPECT_TRUE(opcodes.insert({facts.op, reads_replica(facts.kind)}).second) << facts.name;
        EXPECT_TRUE(wire::opcode_info(facts.op).is_known) << facts.name;
    }
}

TEST(operation_kind, unknown_kind_is_never_idempotent) {
    for (const std::size_t value : {operation_kind_count, std::size_t{0xff}}) {
        const auto unknown = static_cast<operation_kind>(value);
        EXPECT_FALSE(is_idempotent(unknown));
        EXPECT_EQ(to_string(unknown), "unknown");
        EXPECT_FALSE(wire::opcode_info(opcode_of(unknown)).is_known);
    }
}

TEST(operation_kind, durability_changes_the_class_of_writes_of_whole_documents) {
    EXPECT_EQ(class_of(operation_kind::upsert, false), operation_class::write);
    EXPECT_EQ(class_of(operation_kind::upsert, true), operation_class::durable_write);
    EXPECT_EQ(class_of(operation_kind::touch, true), operation_class::write);
    EXPECT_EQ(class_of(operation_kind::mutate_in, true), operation_class::subdoc_mutate);
}

}  // namespace reprise::engine::operation_kind_test
