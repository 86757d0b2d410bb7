#include <reprise/json/value.hpp>

#include <gtest/gtest.h>

#include <cstdint>

#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>

namespace reprise::json::value_test {

TEST(json_value, holds_what_it_was_constructed_from) {
    EXPECT_EQ(value(true).what(), kind::boolean);
    EXPECT_EQ(value("text").what(), kind::string);
    EXPECT_EQ(value(std::uint16_t{5}).what(), kind::integer);
    EXPECT_EQ(value(UINT64_MAX).what(), kind::unsigned_integer);
    EXPECT_EQ(value(1.5).what(), kind::decimal);
    EXPECT_EQ(value(array{1, "two"}).what(), kind::list);
    EXPECT_EQ(value(object{{"a", 1}}).what(), kind::map);
    EXPECT_TRUE(value().is_null());
    EXPECT_EQ(to_string(kind::map), "an object");
}

TEST(json_value, integers_are_returned_only_if_they_fit) {
    EXPECT_EQ(value(-1).as_uint64(), std::nullopt);
    EXPECT_EQ(value(UINT64_MAX).as_int64(), std::nullopt);
    EXPECT_EQ(value(std::uint64_t{5}).as_int64(), 5);
    EXPECT_EQ(value(5).as_double(), 5.0);
    EXPECT_EQ(value("5").as_int64(), std::nullopt);
    EXPECT_EQ(value("5").as_double(), std::nullopt);
}

TEST(json_value, lookups_in_other_kinds_return_null) {
    const value number(1);
    EXPECT_EQ(number.find("a"), nullptr);
    EXPECT_EQ(number.at(0), nullptr);
    const value list(array{1});
    EXPECT_NE(list.at(0), nullptr);
    EXPECT_EQ(list.at(1), nullptr);
    EXPECT_EQ(list.find("0"), nullptr);
}

TEST(json_value, a_tree_can_be_changed_in_place) {
    value tree = parse(R"({"a":{"b":[1,2]},"c":3})")->root;
    tree.find("a")->find("b")->as_array()->push_back("x");
    tree.as_object()->set("c", 4);
    tree.as_object()->set("d", nullptr);
    EXPECT_TRUE(tree.find("a")->as_object()->set("e", true).as_bool().value());
    EXPECT_EQ(serialize(tree), R"({"a":{"b":[1,2,"x"],"e":true},"c":4,"d":null})");
    EXPECT_TRUE(tree.as_object()->erase("c"));
    EXPECT_FALSE(tree.as_object()->erase("c"));
    EXPECT_EQ(serialize(tree), R"({"a":{"b":[1,2,"x"],"e":true},"d":null})");
}

TEST(json_value, copies_are_deep) {
    const value original(object{{"a", array{1}}});
    value copy = original;
    copy.find("a")->as_array()->clear();
    EXPECT_EQ(serialize(original), R"({"a":[1]})");
    EXPECT_NE(copy, original);
}

TEST(json_value, equality_ignores_the_order_of_members_and_the_spelling_of_numbers) {
    EXPECT_EQ(parse(R"({"a":1.50,"b":[2]})")->root, parse(R"({"b":[2],"a":1.5})")->root);
    EXPECT_FALSE(parse(R"({"a":1})")->root == parse(R"({"b":1})")->root);
    EXPECT_FALSE(parse("[1,2]")->root == parse("[2,1]")->root);
}

}  // namespace reprise::json::value_test
