#include <reprise/base/enum_table.hpp>

#include <array>
#include <cstdint>

#include <gtest/gtest.h>

namespace enum_table_test {

using namespace reprise::base;

enum class colour : std::uint8_t { red, green, blue };
enum class sparse : std::uint8_t { low = 3, high = 0xfe };

struct colour_row {
    colour which;
    int weight;
};

constexpr std::array complete{
    colour_row{colour::red, 1}, colour_row{colour::green, 2}, colour_row{colour::blue, 3}};
constexpr std::array short_of_one{colour_row{colour::red, 1}, colour_row{colour::green, 2}};
constexpr std::array out_of_order{
    colour_row{colour::green, 2}, colour_row{colour::red, 1}, colour_row{colour::blue, 3}};

TEST(enum_table, a_number_without_a_name_is_not_an_enumerator) {
    EXPECT_TRUE(is_enumerator<colour::blue>());
    EXPECT_FALSE(is_enumerator<static_cast<colour>(3)>());
    EXPECT_TRUE(is_enumerator<sparse::high>());
    EXPECT_FALSE(is_enumerator<static_cast<sparse>(0)>());
}

TEST(enum_table, counts_enumerators_up_to_the_first_gap) {
    EXPECT_EQ(enumerator_count<colour>(), 3u);
    EXPECT_EQ(enumerator_count<sparse>(), 0u);
}

enum class paint : std::uint8_t { red, green, yellow };

TEST(enum_table, names_an_enumerator_as_the_source_does) {
    EXPECT_EQ(enumerator_name<colour::green>(), "green");
    EXPECT_EQ(enumerator_name<sparse::high>(), "high");
    EXPECT_STREQ(enumerator_name<sparse::low>().data(), "low");
}

TEST(enum_table, compares_the_first_names_of_two_enumerations) {
    EXPECT_TRUE((have_same_names<colour, paint, 2>()));
    EXPECT_FALSE((have_same_names<colour, paint, 3>()));
}

TEST(enum_table, requires_one_row_per_enumerator_in_order) {
    EXPECT_TRUE(has_row_per_enumerator(complete, &colour_row::which));
    EXPECT_FALSE(has_row_per_enumerator(short_of_one, &colour_row::which));
    EXPECT_FALSE(has_row_per_enumerator(out_of_order, &colour_row::which));
}

enum class from_one : std::uint8_t { first = 1, second };

TEST(enum_table, texts_and_names_are_found_by_the_enumerator) {
    constexpr enumerator_texts<from_one> texts(
        {{from_one::first, "1st"}, {from_one::second, "2nd"}});
    EXPECT_EQ(texts[from_one::second], "2nd");
    EXPECT_EQ(texts[static_cast<from_one>(0)], "unknown");
    EXPECT_EQ(texts[static_cast<from_one>(3)], "unknown");
    EXPECT_EQ(name_of(from_one::first), "first");
    EXPECT_EQ(name_of(colour::blue), "blue");
    EXPECT_EQ(name_of(static_cast<colour>(3)), "unknown");
}

}  // namespace enum_table_test
