#include <reprise/base/option_table.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

namespace reprise::base::option_table_test {

using namespace std::chrono_literals;

struct inner_options {
    std::string file{};
    bool is_checked = true;
};

// One member of each kind, and of each type that conversions could confuse.
struct sample_options {
    std::string name{};
    inner_options inner{};
    bool enabled = false;
    std::size_t count = 1;
    std::uint32_t small_count = 1;
    std::chrono::nanoseconds timeout = 1s;
    std::optional<std::chrono::nanoseconds> delay{};
    std::vector<int> numbers{};
    std::function<void()> hook{};
    std::shared_ptr<int> shared{};
    std::optional<inner_options> maybe{};
};

using row = option_row<sample_options>;

constexpr auto table = std::to_array<row>({
    make_option<&sample_options::name>({.parameter = own_name, .min = 1, .max = 4}),
    make_option<&sample_options::inner, &inner_options::file>({.parameter = "file"}),
    make_option<&sample_options::inner, &inner_options::is_checked>(
        {.parameter = "check", .true_word = "peer", .false_word = "none"}),
    make_option<&sample_options::enabled>({.parameter = own_name}),
    make_option<&sample_options::count>({.parameter = own_name, .max = 64, .zero_is_max = true}),
    make_option<&sample_options::small_count>({.parameter = own_name, .min = 2}),
    make_option<&sample_options::timeout>({.parameter = own_name}),
    make_option<&sample_options::delay>({.parameter = own_name, .min = 1ms, .max = 60s}),
    make_option<&sample_options::numbers>(),
    make_option<&sample_options::hook>(),
    make_option<&sample_options::shared>(),
    make_option<&sample_options::maybe>(),
});

static_assert(member_count<sample_options>() == 11);
static_assert(has_row_per_member<sample_options>(table));
static_assert(has_row_per_member<inner_options>(table, "inner."));

// Without the row at `Left`.
template <std::size_t Left>
consteval auto without() {
    std::array<row, table.size() - 1> rest{};
    auto next = std::copy_n(table.begin(), Left, rest.begin());
    std::copy(table.begin() + Left + 1, table.end(), next);
    return rest;
}

// A member without a row is noticed wherever it stands; here for each kind.
template <std::size_t... Index>
consteval bool is_noticed_everywhere(std::index_sequence<Index...> /*all*/) {
    return (
        !(has_row_per_member<sample_options>(without<Index>()) &&
          has_row_per_member<inner_options>(without<Index>(), "inner.")) &&
        ...);
}
static_assert(is_noticed_everywhere(std::make_index_sequence<table.size()>{}));

consteval auto with_two_equal_rows() {
    auto rows = table;
    rows[0] = rows[3];
    return rows;
}
static_assert(!has_row_per_member<sample_options>(with_two_equal_rows()));

struct derived_options : inner_options {
    int own = 0;
};
static_assert(member_count<derived_options>() == 2);

const row& row_of(std::string_view name) {
    return *std::ranges::find(table, name, &row::name);
}

// The complaint about a text, or the empty text after it was set.
std::string set(sample_options& to, std::string_view name, std::string_view text) {
    const auto value = parse_option(row_of(name), text);
    if (value) {
        row_of(name).write(to, *value);
    }
    return value ? "" : value.error();
}

TEST(option_table, rows_are_named_after_their_members) {
    EXPECT_EQ(table[0].name, "name");
    EXPECT_EQ(table[1].name, "inner.file");
    EXPECT_EQ(table[1].parameter, "file");
    EXPECT_EQ(table[3].parameter, "enabled");
    EXPECT_EQ(table[8].parameter, "");
    EXPECT_EQ(table[8].kind, option_kind::object);
}

TEST(option_table, texts_set_the_members_of_their_rows) {
    sample_options options;
    EXPECT_EQ(set(options, "name", "abcd"), "");
    EXPECT_EQ(set(options, "inner.file", "ca.pem"), "");
    EXPECT_EQ(set(options, "inner.is_checked", "none"), "");
    EXPECT_EQ(set(options, "enabled", "1"), "");
    EXPECT_EQ(set(options, "count", "0"), "");
    EXPECT_EQ(set(options, "small_count", "7"), "");
    EXPECT_EQ(set(options, "timeout", "2.5s"), "");
    EXPECT_EQ(set(options, "delay", "20"), "");
    EXPECT_EQ(options.name, "abcd");
    EXPECT_EQ(options.inner.file, "ca.pem");
    EXPECT_FALSE(options.inner.is_checked);
    EXPECT_TRUE(options.enabled);
    EXPECT_EQ(options.count, 64U) << "0 is the maximum";
    EXPECT_EQ(options.small_count, 7U);
    EXPECT_EQ(options.timeout, 2500ms);
    EXPECT_EQ(options.delay, 20ms);
    EXPECT_EQ(set(options, "inner.is_checked", "peer"), "");
    EXPECT_TRUE(options.inner.is_checked);
}

TEST(option_table, texts_of_another_kind_are_refused_and_change_nothing) {
    sample_options options;
    EXPECT_EQ(set(options, "name", ""), "'' is empty");
    EXPECT_EQ(set(options, "inner.is_checked", "maybe"), "'maybe' is neither none nor peer");
    EXPECT_EQ(set(options, "enabled", "peer"), "'peer' is neither true nor false");
    EXPECT_EQ(set(options, "enabled", ""), "'' is neither true nor false");
    for (const char* bad : {"", "-1", "1x", "99999999999999999999"}) {
        EXPECT_EQ(set(options, "count", bad), "'" + std::string(bad) + "' is not a whole number");
    }
    EXPECT_EQ(
        set(options, "timeout", "soon"), "'soon' is not a duration such as 2500, 2.5s or 100ms");
    EXPECT_NE(set(options, "hook", "x"), "");
    EXPECT_EQ(options.count, 1U);
    EXPECT_EQ(options.timeout, 1s);
}

TEST(option_table, values_out_of_range_are_refused_with_the_range) {
    sample_options options;
    EXPECT_EQ(set(options, "name", "abcde"), "must be at most 4 bytes");
    EXPECT_EQ(set(options, "count", "65"), "must be 1 to 64");
    EXPECT_EQ(set(options, "small_count", "1"), "must be 2 to 1073741824");
    EXPECT_EQ(set(options, "small_count", "4294967298"), "must be 2 to 1073741824") << "2^32 + 2";
    EXPECT_EQ(set(options, "timeout", "0"), "must be above zero");
    EXPECT_EQ(set(options, "delay", "61s"), "must be at most 60s");
    EXPECT_EQ(set(options, "delay", "0"), "must be at least 1ms");
    const auto error_of = [](std::string_view name, option_value value) {
        return find_range_error(row_of(name), value);
    };
    EXPECT_EQ(error_of("timeout", std::chrono::nanoseconds(24h * 366)), "");
    EXPECT_EQ(error_of("timeout", std::chrono::nanoseconds(24h * 367)), "must be at most 366 days");
    EXPECT_EQ(error_of("timeout", std::chrono::nanoseconds(-1)), "must be above zero");
    EXPECT_EQ(error_of("count", std::uint64_t(-1)), "must be 1 to 64");
    EXPECT_EQ(error_of("name", std::string_view()), "must not be empty");
    EXPECT_EQ(error_of("delay", std::monostate{}), "") << "not set";
}

TEST(option_table, a_member_is_read_as_its_kind) {
    sample_options options;
    options.name = "n";
    options.delay = 3ms;
    EXPECT_EQ(row_of("name").read(options), option_value(std::string_view("n")));
    EXPECT_EQ(row_of("delay").read(options), option_value(std::chrono::nanoseconds(3ms)));
    EXPECT_EQ(row_of("small_count").read(options), option_value(std::uint64_t{1}));
    EXPECT_EQ(row_of("inner.is_checked").read(options), option_value(true));
    EXPECT_EQ(row_of("hook").read(options), option_value());
}

}  // namespace reprise::base::option_table_test
