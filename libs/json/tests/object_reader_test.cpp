#include <reprise/json/object_reader.hpp>

#include <gtest/gtest.h>

namespace reprise::json {

namespace {

using namespace std::chrono_literals;

struct sample {
    double share = 0.5;
    std::uint8_t count = 1;
    std::chrono::nanoseconds pause = 1s;
    std::optional<bool> is_open{};
    std::string name = "x";
};

[[nodiscard]] reading_report read(const object& members, sample& into) {
    reading_report report;
    const value content(members);
    object_reader in(content, {"root", "1"}, report);
    in.read("share", into.share);
    in.read("count", into.count);
    in.read("pause", into.pause);
    in.read("is_open", into.is_open);
    in.read("name", into.name);
    in.ignore("color");
    in.finish();
    return report;
}

}  // namespace

TEST(object_reader, members_that_are_absent_leave_options_unchanged) {
    sample into;
    EXPECT_FALSE(read({{"count", 7}, {"is_open", true}}, into).has_failed());
    EXPECT_EQ(into.count, 7U);
    EXPECT_EQ(into.is_open, true);
    EXPECT_EQ(into.pause, 1s);
    EXPECT_EQ(into.name, "x");
}

TEST(object_reader, all_problems_are_reported_and_wrong_members_leave_options_unchanged) {
    sample into;
    const reading_report report = read(
        {{"share", "half"}, {"count", 256}, {"pause", "5"}, {"name", 1}, {"nam", 2}, {"coun", 3}},
        into);
    std::string found;
    for (const reading_error& each : report.problems()) {
        found += to_string(each.path) + ": " + each.message + "\n";
    }
    EXPECT_EQ(
        found,
        "root[1].share: must be a number\n"
        "root[1].count: must be a whole number of at most 255\n"
        "root[1].pause: '5' is not a time with its unit, such as \"2.5s\"\n"
        "root[1].name: must be a string\n"
        "root[1].nam: is unknown here; did you mean 'name'?\n"
        "root[1].coun: is unknown here; did you mean 'count'?\n");
    EXPECT_EQ(into.share, 0.5);
    EXPECT_EQ(into.count, 1U);
    EXPECT_EQ(into.pause, 1s);
    EXPECT_EQ(into.name, "x");
}

TEST(object_reader, a_member_without_effect_is_listed_only_if_it_is_there) {
    sample into;
    EXPECT_TRUE(read({}, into).unused().empty());
    const reading_report report = read({{"color", "red"}}, into);
    EXPECT_FALSE(report.has_failed());
    ASSERT_EQ(report.unused().size(), 1U);
    EXPECT_EQ(to_string(report.unused().front()), "root[1].color");
}

TEST(object_reader, something_else_than_an_object_is_one_problem) {
    reading_report report;
    const value content("text");
    double unused = 1.0;
    object_reader in(content, {}, report);
    in.read("share", unused);
    in.finish();
    ASSERT_EQ(report.problems().size(), 1U);
    EXPECT_EQ(report.problems().front().message, "must be an object, not a string");
}

TEST(object_reader, paths_are_written_as_they_are_read) {
    EXPECT_EQ(to_string(parse_path("services[1].calls")), "services[1].calls");
    EXPECT_EQ(parse_path("services.1.calls"), (value_path{"services", "1", "calls"}));
}

}  // namespace reprise::json
