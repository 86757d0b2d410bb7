#include <gtest/gtest.h>
#include <reprise/wire/subdoc_rules.hpp>

#include "frame_bytes.hpp"

namespace subdoc_rules_test {

using namespace reprise::wire;
using frame_bytes::text;

status check_one(
    opcode op, path_flags flags, std::string_view path, std::string_view value = {},
    doc_flags doc = doc_flags::none, std::uint64_t cas = 0) {
    subdoc_request request;
    request.op = op;
    request.flags = flags;
    request.path = path;
    request.value = text(value);
    request.doc_flags = doc;
    return check_subdoc(request, cas);
}

TEST(subdoc_rules, values_are_required_exactly_where_the_operation_has_one) {
    EXPECT_EQ(check_one(opcode::subdoc_get, path_flags::none, "a"), status::success);
    EXPECT_EQ(check_one(opcode::subdoc_get, path_flags::none, "a", "1"), status::einval);
    EXPECT_EQ(check_one(opcode::subdoc_dict_add, path_flags::none, "a", "1"), status::success);
    EXPECT_EQ(check_one(opcode::subdoc_dict_add, path_flags::none, "a"), status::einval);
    EXPECT_EQ(check_one(opcode::subdoc_remove, path_flags::none, "a", "1"), status::einval);
    EXPECT_EQ(check_one(opcode::subdoc_counter, path_flags::none, "a", "1"), status::success);
}

TEST(subdoc_rules, empty_paths_are_for_arrays_and_counts) {
    EXPECT_EQ(
        check_one(opcode::subdoc_array_push_last, path_flags::none, "", "1"), status::success);
    EXPECT_EQ(
        check_one(opcode::subdoc_array_add_unique, path_flags::none, "", "1"), status::success);
    EXPECT_EQ(check_one(opcode::subdoc_get_count, path_flags::none, ""), status::success);
    EXPECT_EQ(check_one(opcode::subdoc_get, path_flags::none, ""), status::einval);
    EXPECT_EQ(check_one(opcode::subdoc_array_insert, path_flags::none, "", "1"), status::einval);
    EXPECT_EQ(check_one(opcode::subdoc_dict_upsert, path_flags::none, "", "1"), status::einval);
}

TEST(subdoc_rules, path_flags_outside_the_operation_are_einval) {
    EXPECT_EQ(check_one(opcode::subdoc_get, path_flags::create_parents, "a"), status::einval);
    EXPECT_EQ(
        check_one(opcode::subdoc_replace, path_flags::create_parents, "a", "1"), status::einval);
    EXPECT_EQ(
        check_one(opcode::subdoc_counter, path_flags::xattr | path_flags::expand_macros, "a", "1"),
        status::einval);
    EXPECT_EQ(
        check_one(
            opcode::subdoc_array_push_last, path_flags::xattr | path_flags::binary_value, "a", "1"),
        status::einval);
    EXPECT_EQ(check_one(opcode::subdoc_get, static_cast<path_flags>(0x40), "a"), status::einval);
}

TEST(subdoc_rules, path_flags_that_contradict_each_other_have_their_own_status) {
    EXPECT_EQ(
        check_one(opcode::subdoc_dict_upsert, path_flags::expand_macros, "a", "1"),
        status::subdoc_xattr_invalid_flag_combo);
    EXPECT_EQ(
        check_one(opcode::subdoc_dict_upsert, path_flags::binary_value, "a", "1"),
        status::subdoc_xattr_invalid_flag_combo);
    EXPECT_EQ(
        check_one(
            opcode::subdoc_dict_upsert,
            path_flags::xattr | path_flags::expand_macros | path_flags::binary_value, "a", "1"),
        status::subdoc_xattr_invalid_flag_combo);
    EXPECT_EQ(
        check_one(
            opcode::subdoc_dict_upsert, path_flags::xattr | path_flags::expand_macros, "a",
            R"("${Mutation.CAS}")"),
        status::success);
}

TEST(subdoc_rules, replace_body_with_xattr_requires_an_attribute_path) {
    EXPECT_EQ(
        check_one(opcode::subdoc_replace_body_with_xattr, path_flags::xattr, "a"), status::success);
    EXPECT_EQ(
        check_one(opcode::subdoc_replace_body_with_xattr, path_flags::none, "a"), status::einval);
}

TEST(subdoc_rules, doc_flags_are_checked_for_each_operation) {
    const auto upsert = [](doc_flags doc, std::uint64_t cas = 0) {
        return check_one(opcode::subdoc_dict_upsert, path_flags::none, "a", "1", doc, cas);
    };
    EXPECT_EQ(upsert(doc_flags::create), status::success);
    EXPECT_EQ(upsert(doc_flags::add), status::success);
    EXPECT_EQ(upsert(doc_flags::add, 7), status::einval);
    EXPECT_EQ(upsert(doc_flags::create, 7), status::success);
    EXPECT_EQ(upsert(doc_flags::create | doc_flags::add), status::einval);
    EXPECT_EQ(upsert(doc_flags::create_as_deleted), status::einval);
    EXPECT_EQ(upsert(doc_flags::create_as_deleted | doc_flags::create), status::success);
    EXPECT_EQ(upsert(doc_flags::revive), status::einval);
    EXPECT_EQ(upsert(doc_flags::revive | doc_flags::access_deleted), status::success);
    EXPECT_EQ(
        upsert(
            doc_flags::revive | doc_flags::access_deleted | doc_flags::create_as_deleted |
            doc_flags::create),
        status::einval);
    EXPECT_EQ(upsert(doc_flags::replica_read), status::einval);
    const auto with_create = [](opcode op, std::string_view value) {
        return check_one(op, path_flags::none, "a[0]", value, doc_flags::create);
    };
    EXPECT_EQ(with_create(opcode::subdoc_array_insert, "1"), status::einval);
    EXPECT_EQ(with_create(opcode::subdoc_replace, "1"), status::einval);
    EXPECT_EQ(with_create(opcode::subdoc_remove, ""), status::einval);
    EXPECT_EQ(
        check_one(opcode::subdoc_get, path_flags::none, "a", "", doc_flags::replica_read),
        status::success);
}

TEST(subdoc_rules, a_command_with_several_paths_may_change_a_tombstone_by_its_cas) {
    subdoc_mutation_request request;
    request.doc_flags = doc_flags::create_as_deleted | doc_flags::access_deleted;
    request.specs = {{opcode::subdoc_dict_upsert, path_flags::xattr, "txn", text("1")}};
    EXPECT_EQ(check_subdoc(request, 7), status::success);
    request.doc_flags = *request.doc_flags | doc_flags::add;
    EXPECT_EQ(check_subdoc(request, 7), status::einval);
    EXPECT_EQ(check_subdoc(request, 0), status::success);
}

TEST(subdoc_rules, one_invalid_spec_rejects_the_whole_command) {
    subdoc_mutation_request request;
    request.doc_flags = doc_flags::create;
    request.specs = {
        {opcode::subdoc_dict_upsert, path_flags::none, "a", text("1")},
        {opcode::subdoc_remove, path_flags::none, "b", {}}};
    EXPECT_EQ(check_subdoc(request, 0), status::einval);
    request.doc_flags.reset();
    EXPECT_EQ(check_subdoc(request, 0), status::success);
}

TEST(subdoc_rules, attributes_come_first) {
    subdoc_lookup_request request;
    request.specs = {
        {opcode::subdoc_get, path_flags::none, "a"}, {opcode::subdoc_get, path_flags::xattr, "_x"}};
    EXPECT_EQ(check_subdoc(request), status::subdoc_invalid_xattr_order);
    request.specs = {
        {opcode::subdoc_get, path_flags::xattr, "_x"},
        {opcode::subdoc_get, path_flags::none, "a"},
        {opcode::get, path_flags::none, ""}};
    EXPECT_EQ(check_subdoc(request), status::success);
}

TEST(subdoc_rules, a_whole_document_mutation_is_the_only_one_on_the_body) {
    subdoc_mutation_request request;
    request.specs = {
        {opcode::subdoc_dict_upsert, path_flags::xattr, "_x", text("1")},
        {opcode::set, path_flags::none, "", text("{}")}};
    EXPECT_EQ(check_subdoc(request, 0), status::success);
    request.specs = {
        {opcode::set, path_flags::none, "", text("{}")},
        {opcode::subdoc_dict_upsert, path_flags::none, "a", text("1")}};
    EXPECT_EQ(check_subdoc(request, 0), status::subdoc_invalid_combo);
    request.specs = {
        {opcode::subdoc_dict_upsert, path_flags::none, "a", text("1")},
        {opcode::remove, path_flags::none, "", {}}};
    EXPECT_EQ(check_subdoc(request, 0), status::subdoc_invalid_combo);
    request.specs = {{opcode::set, path_flags::none, "a", text("{}")}};
    EXPECT_EQ(check_subdoc(request, 0), status::einval);
}

TEST(subdoc_rules, opcodes_that_are_not_subdoc_operations_are_unknown) {
    EXPECT_FALSE(subdoc_info(opcode::hello).is_known);
    EXPECT_TRUE(subdoc_info(opcode::get).needs_empty_path);
    EXPECT_TRUE(subdoc_info(opcode::subdoc_counter).is_mutation);
    EXPECT_FALSE(subdoc_info(opcode::subdoc_exists).is_mutation);
}

}  // namespace subdoc_rules_test
