#include "subdoc/edit.hpp"

#include <gtest/gtest.h>

#include <string>

namespace subdoc_edit_test {

using namespace reprise::sandbox::detail;
using reprise::wire::opcode;
using reprise::wire::status;

// The new text, or the status as a number.
std::string edit(
    std::string_view document, opcode op, std::string_view path, std::string_view value,
    bool creates_parents = false) {
    const auto result = edit_path(document, {op, path, value, creates_parents});
    if (!result) {
        return "0x" +
               std::string(1, "0123456789abcdef"[static_cast<unsigned>(result.error()) >> 4]) +
               "0123456789abcdef"[static_cast<unsigned>(result.error()) & 0xf];
    }
    return result->document;
}

std::string look(std::string_view document, opcode op, std::string_view path) {
    const auto result = lookup_path(document, op, path);
    return result ? *result : std::string(to_string(result.error()));
}

TEST(subdoc_lookup, finds_values_byte_for_byte) {
    const std::string doc = R"({"a": {"b" : [1, {"c": "x\"y"} ,3]}, "a\u0062":true})";
    EXPECT_EQ(look(doc, opcode::subdoc_get, "a.b[0]"), "1");
    EXPECT_EQ(look(doc, opcode::subdoc_get, "a.b.[0]"), "1");
    EXPECT_EQ(look(doc, opcode::subdoc_get, "a.b[1].c"), R"("x\"y")");
    EXPECT_EQ(look(doc, opcode::subdoc_get, "a.b[-1]"), "3");
    EXPECT_EQ(look(doc, opcode::subdoc_get, "ab"), "true");
    EXPECT_EQ(look(doc, opcode::subdoc_get, "a.b"), R"([1, {"c": "x\"y"} ,3])");
    EXPECT_EQ(look(doc, opcode::subdoc_get_count, "a.b"), "3");
    EXPECT_EQ(look(doc, opcode::subdoc_get_count, ""), "2");
    EXPECT_EQ(look(doc, opcode::subdoc_exists, "a"), "");
    EXPECT_EQ(look(doc, opcode::subdoc_get, "z"), "SubdocPathEnoent");
    EXPECT_EQ(look(doc, opcode::subdoc_get, "a.b[3]"), "SubdocPathEnoent");
    EXPECT_EQ(look(doc, opcode::subdoc_get, "a.b.c"), "SubdocPathMismatch");
    EXPECT_EQ(look(doc, opcode::subdoc_get, "a[0]"), "SubdocPathMismatch");
    EXPECT_EQ(look(doc, opcode::subdoc_get_count, "ab"), "SubdocPathMismatch");
    EXPECT_EQ(look("[]", opcode::subdoc_get, "[-1]"), "SubdocPathEnoent");
}

TEST(subdoc_edit, adds_and_upserts_dictionary_members) {
    EXPECT_EQ(edit("{}", opcode::subdoc_dict_add, "a", "1"), R"({"a":1})");
    EXPECT_EQ(edit(R"({"a": 1})", opcode::subdoc_dict_add, "a", "2"), "0xc9");
    EXPECT_EQ(edit(R"({"a": 1})", opcode::subdoc_dict_upsert, "a", "2"), R"({"a": 2})");
    EXPECT_EQ(edit(R"({"a":1})", opcode::subdoc_dict_upsert, "b", "2"), R"({"a":1,"b":2})");
    EXPECT_EQ(edit("{}", opcode::subdoc_dict_upsert, "a.b", "1"), "0xc0");
    EXPECT_EQ(edit("{}", opcode::subdoc_dict_upsert, "a.b", "1", true), R"({"a":{"b":1}})");
    EXPECT_EQ(edit("{}", opcode::subdoc_dict_upsert, "`x.\"y`", "1"), R"({"x.\"y":1})");
    EXPECT_EQ(edit("{}", opcode::subdoc_dict_upsert, "a[0].b", "1", true), "0xc0");
    EXPECT_EQ(edit("[1]", opcode::subdoc_dict_upsert, "[0]", "2"), "0xc2");
    EXPECT_EQ(edit("[1]", opcode::subdoc_dict_upsert, "a", "2"), "0xc1");
    EXPECT_EQ(edit("{}", opcode::subdoc_dict_add, "a", "nope"), "0xc5");
    EXPECT_EQ(edit("{}", opcode::subdoc_dict_add, "a", "1,2"), "0xc5");
    const std::string deep = std::string(32, '[') + std::string(32, ']');
    EXPECT_EQ(edit("{}", opcode::subdoc_dict_add, "a", deep), "0xca");
}

TEST(subdoc_edit, replaces_and_removes_values) {
    EXPECT_EQ(edit(R"({"a":[1,2]})", opcode::subdoc_replace, "a[1]", "{}"), R"({"a":[1,{}]})");
    EXPECT_EQ(edit("{}", opcode::subdoc_replace, "a", "1"), "0xc0");
    EXPECT_EQ(
        edit(R"({"a":1, "b":2, "c":3})", opcode::subdoc_remove, "b", ""), R"({"a":1, "c":3})");
    EXPECT_EQ(edit(R"({"a":1, "b":2})", opcode::subdoc_remove, "b", ""), R"({"a":1})");
    EXPECT_EQ(edit(R"({"a":1, "b":2})", opcode::subdoc_remove, "a", ""), R"({ "b":2})");
    EXPECT_EQ(edit(R"({"a":1})", opcode::subdoc_remove, "a", ""), "{}");
    EXPECT_EQ(edit("[1,2,3]", opcode::subdoc_remove, "[-1]", ""), "[1,2]");
    EXPECT_EQ(edit("{}", opcode::subdoc_remove, "a", ""), "0xc0");
}

TEST(subdoc_edit, inserts_into_arrays) {
    const auto last = opcode::subdoc_array_push_last;
    const auto first = opcode::subdoc_array_push_first;
    const auto insert = opcode::subdoc_array_insert;
    const auto unique = opcode::subdoc_array_add_unique;
    EXPECT_EQ(edit("[]", last, "", "1,2"), "[1,2]");
    EXPECT_EQ(edit("[1]", last, "", "2"), "[1,2]");
    EXPECT_EQ(edit("[1]", first, "", "0"), "[0,1]");
    EXPECT_EQ(edit("{}", last, "a.b", "1"), "0xc0");
    EXPECT_EQ(edit("{}", last, "a.b", "1", true), R"({"a":{"b":[1]}})");
    EXPECT_EQ(edit(R"({"a":{}})", last, "a", "1"), "0xc1");
    EXPECT_EQ(edit("[]", last, "", ""), "0xc5");
    EXPECT_EQ(edit("[]", last, "", "]["), "0xc5");
    EXPECT_EQ(edit("[1,3]", insert, "[1]", "2"), "[1,2,3]");
    EXPECT_EQ(edit("[1,2]", insert, "[2]", "3"), "[1,2,3]");
    EXPECT_EQ(edit("[1]", insert, "[3]", "3"), "0xc0");
    EXPECT_EQ(edit("[1]", insert, "[-1]", "3"), "0xc2");
    EXPECT_EQ(edit("{}", insert, "a", "3"), "0xc2");
    EXPECT_EQ(edit("[1]", unique, "", "2"), "[1,2]");
    EXPECT_EQ(edit("[1,2]", unique, "", " 2 "), "0xc9");
    EXPECT_EQ(edit("[[1]]", unique, "", "2"), "0xc1");
    EXPECT_EQ(edit("[1]", unique, "", "{}"), "0xc5");
}

TEST(subdoc_edit, changes_counters) {
    const auto op = opcode::subdoc_counter;
    EXPECT_EQ(edit(R"({"n":40})", op, "n", "2"), R"({"n":42})");
    EXPECT_EQ(edit(R"({"n":1})", op, "n", "-3"), R"({"n":-2})");
    EXPECT_EQ(edit("{}", op, "n", "5"), R"({"n":5})");
    EXPECT_EQ(edit("{}", op, "a.n", "5", true), R"({"a":{"n":5}})");
    EXPECT_EQ(edit("{}", op, "n", "0"), "0xc8");
    EXPECT_EQ(edit("{}", op, "n", "x"), "0xc8");
    EXPECT_EQ(edit("{}", op, "n", "9223372036854775808"), "0xc8");
    EXPECT_EQ(edit(R"({"n":"1"})", op, "n", "1"), "0xc1");
    EXPECT_EQ(edit(R"({"n":1.5})", op, "n", "1"), "0xc1");
    EXPECT_EQ(edit(R"({"n":9223372036854775808})", op, "n", "1"), "0xc7");
    EXPECT_EQ(edit(R"({"n":9223372036854775807})", op, "n", "1"), "0xc5");
}

}  // namespace subdoc_edit_test
