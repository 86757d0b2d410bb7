#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include <reprise/lab/report.hpp>
#include <reprise/lab/scenario.hpp>

#include "number_text.hpp"

namespace reprise::lab {

using namespace std::chrono_literals;

namespace report_test {

const comparison& metastable() {
    static const comparison compared = compare_policies(find_scenario("metastable")->options);
    return compared;
}

constexpr report_heading heading{"metastable", "A <busy> server & \"friends\"", "reprise lab run"};

std::size_t count(std::string_view text, std::string_view part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) {
        ++found;
    }
    return found;
}

bool contains(std::string_view text, std::string_view part) {
    return text.find(part) != text.npos;
}

}  // namespace report_test

using namespace report_test;

TEST(report, table_is_aligned_and_has_a_column_per_policy) {
    std::istringstream lines(to_table(metastable()));
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    const std::size_t width = line.size();
    for (const policy which : policies) {
        EXPECT_TRUE(contains(line, to_string(which)));
    }
    int rows = 0;
    for (; std::getline(lines, line); ++rows) {
        EXPECT_EQ(line.size(), width) << line;
        EXPECT_LE(line.size(), 100U);
    }
    EXPECT_EQ(rows, 11);
}

TEST(report, reading_reports_which_policies_recovered_and_why_not) {
    const std::string text = to_reading(metastable());
    EXPECT_TRUE(contains(text, "stalls from 10 s to 20 s"));
    EXPECT_TRUE(contains(text, "useful work does not recover in the 70 s"));
    EXPECT_TRUE(contains(text, "clients wait 0.5 s"));
    EXPECT_TRUE(contains(text, "ends the extra load"));
    EXPECT_FALSE(contains(text, "\n"));
    EXPECT_TRUE(text.ends_with(".")) << text;
}

TEST(report, reading_follows_the_results_and_not_the_scenario) {
    storm_options options = find_scenario("metastable")->options;
    options.requests_per_second = 100.0;
    options.attempts_max = 2;
    const std::string text = to_reading(compare_policies(options));
    EXPECT_FALSE(contains(text, "does not recover")) << text;

    options.outage_length = 0s;
    const std::string calm = to_reading(compare_policies(options));
    EXPECT_TRUE(contains(calm, "there is no outage")) << calm;
    EXPECT_FALSE(contains(calm, "recover")) << calm;
}

TEST(report, reading_advises_when_buckets_were_too_large_to_stop_the_storm) {
    storm_options options = find_scenario("metastable")->options;
    options.standard.bucket.capacity = 1e9;
    const std::string text = to_reading(compare_policies(options));
    EXPECT_TRUE(contains(text, "smaller buckets")) << text;
}

TEST(report, json_has_options_totals_and_a_series_per_second_for_each_policy) {
    const std::string text = to_json(metastable(), heading);
    EXPECT_EQ(count(text, "\"series\":{"), 3U);
    EXPECT_EQ(count(text, "\"totals\":{"), 3U);
    EXPECT_EQ(count(text, "{"), count(text, "}"));
    EXPECT_TRUE(contains(text, "\"capacity_per_second\":1000.0,"));
    EXPECT_TRUE(contains(text, "\"recovery\":\"never\",\"recovery_s\":null"));
    const std::size_t start = text.find("\"useful\":[");
    const std::string_view useful =
        std::string_view(text).substr(start, text.find(']', start) - start);
    EXPECT_EQ(count(useful, ",") + 1, 90U);
}

TEST(report, page_is_self_contained_and_fills_every_placeholder) {
    const std::string page = to_html(metastable(), heading);
    EXPECT_TRUE(page.starts_with("<!doctype html>"));
    EXPECT_FALSE(contains(page, "{{title}}"));
    EXPECT_FALSE(contains(page, "{{data}}"));
    EXPECT_FALSE(contains(page, "{{chart_library}}"));
    EXPECT_EQ(count(page, " src="), 0U);
    EXPECT_FALSE(contains(page, "<link"));
    EXPECT_FALSE(contains(page, "@import"));
    EXPECT_EQ(count(page, "\"series\":{"), 3U);
    EXPECT_EQ(count(page, "</script>"), 3U);
    EXPECT_TRUE(contains(page, "Chart.js"));
    EXPECT_TRUE(contains(page, "A &lt;busy&gt; server &amp; &quot;friends&quot;"));
    EXPECT_EQ(page, to_html(metastable(), heading));
}

TEST(report, page_data_cannot_close_its_script_element) {
    const report_heading hostile{"x", "</script><script>alert(1)</script>", ""};
    EXPECT_EQ(count(to_html(metastable(), hostile), "</script>"), 3U);
}

TEST(number_text, formats_for_people) {
    EXPECT_EQ(grouped(0), "0");
    EXPECT_EQ(grouped(999), "999");
    EXPECT_EQ(grouped(1000), "1,000");
    EXPECT_EQ(grouped(1234567), "1,234,567");
    EXPECT_EQ(decimal(1234.56, 1), "1,234.6");
    EXPECT_EQ(decimal(5.0, 0), "5");
    EXPECT_EQ(percent(0.98765), "98.8 %");
    EXPECT_EQ(seconds_text(10s), "10 s");
    EXPECT_EQ(seconds_text(500ms), "0.5 s");
    EXPECT_EQ(rate_text(750.0), "750/s");
    EXPECT_EQ(rate_text(0.4), "0.4/s");
}

}  // namespace reprise::lab
