#include <gtest/gtest.h>

#include <reprise/json/parse.hpp>
#include <reprise/lab/region.hpp>
#include <reprise/lab/report.hpp>

namespace reprise::lab {

using namespace std::chrono_literals;

namespace report_test {

/// A tenth of the gallery's metastable model, with text that must be escaped.
comparison small_comparison() {
    auto read = read_scenario(R"({
        "title": "A <b>stall</b>", "length": "40s",
        "clients": {"count": 5, "requests_per_second": 75, "attempt_timeout": "500ms"},
        "services": [{"name": "shop \"1\", <i>", "capacity_per_second": 100, "queue_limit": 200}],
        "troubles": [{"kind": "stall", "start": "5s", "length": "5s"}],
        "strategies": ["none", {"name": "no </script>", "retries": "naive"}, "standard"]})");
    EXPECT_TRUE(read.has_value()) << to_string(read.error());
    return compare(*read);
}

}  // namespace report_test

TEST(report, the_interpretation_names_strategies_that_recover_and_why_others_do_not) {
    const std::string text = to_reading(report_test::small_comparison());
    EXPECT_NE(text.find("recovers after"), std::string::npos) << text;
    EXPECT_NE(text.find("does not recover with 'no </script>' in the 30 s"), std::string::npos);
    EXPECT_NE(text.find("works for clients that have given up"), std::string::npos);
    EXPECT_LT(text.size(), 700U);
}

TEST(report, the_table_has_a_column_for_each_strategy) {
    const std::string text = to_table(report_test::small_comparison());
    EXPECT_NE(text.find("no </script>   standard"), std::string::npos) << text;
    EXPECT_NE(text.find("recovery, 30 s observed"), std::string::npos);
    EXPECT_NE(text.find("99 % answered within"), std::string::npos);
    EXPECT_EQ(text.find("mean"), std::string::npos);
}

TEST(report, json_has_series_of_every_service_and_percentiles) {
    const auto parsed = json::parse(to_json(report_test::small_comparison(), "reprise"));
    ASSERT_TRUE(parsed.has_value());
    const json::value& root = parsed->root;
    EXPECT_EQ(root.find("step_s")->as_double(), 1.0);
    ASSERT_EQ(root.find("strategies")->as_array()->size(), 3U);
    const json::value& standard = *root.find("strategies")->at(2);
    const json::value& service = *standard.find("services")->at(0);
    for (const char* name :
         {"offered", "attempts", "useful", "wasted", "errors", "failed", "waiting",
          "bucket_share"}) {
        ASSERT_NE(service.find("series")->find(name), nullptr) << name;
        EXPECT_EQ(service.find("series")->find(name)->as_array()->size(), 40U) << name;
    }
    EXPECT_EQ(standard.find("latency_by_second")->find("p99_s")->as_array()->size(), 40U);
    EXPECT_TRUE(standard.find("latency_before_trouble")->find("p99_s")->as_double().has_value());
}

TEST(report, csv_has_one_line_for_each_strategy_service_and_second) {
    const std::string text = to_csv(report_test::small_comparison());
    EXPECT_EQ(std::ranges::count(text, '\n'), 1 + 3 * 40);
    EXPECT_NE(text.find("\nnone,\"shop \"\"1\"\", <i>\",0,"), std::string::npos);
}

TEST(report, the_page_escapes_text_and_has_no_placeholder_left) {
    const std::string page = to_html(report_test::small_comparison(), "reprise lab <x>");
    EXPECT_NE(page.find("A &lt;b&gt;stall&lt;/b&gt;"), std::string::npos);
    EXPECT_EQ(page.find("no </script>"), std::string::npos);
    EXPECT_EQ(page.find("<i>"), std::string::npos);
    EXPECT_EQ(page.find("{{"), std::string::npos);
    // The settings are in the title, so that two reports do not look alike.
    const std::string title = page.substr(page.find("<title>"), 200);
    EXPECT_NE(title.find("75 requests/s"), std::string::npos) << title;
}

TEST(report, equal_runs_give_equal_bytes) {
    const comparison first = report_test::small_comparison();
    const comparison second = report_test::small_comparison();
    EXPECT_EQ(to_html(first, "x"), to_html(second, "x"));
}

TEST(region, the_edge_is_the_capacity_divided_by_the_attempts) {
    auto read = read_scenario(R"({
        "length": "300s",
        "clients": {"requests_per_second": 100, "attempt_timeout": "1s", "retries":
            {"attempts_max": 2, "backoff": {"base": "50ms"}, "budget": "none"}},
        "services": [{"capacity_per_second": 300}],
        "troubles": [{"kind": "stall", "start": "10s", "length": "10s"}]})");
    ASSERT_TRUE(read.has_value());
    for (const double attempts : {2.0, 3.0}) {
        const auto point = find_edge(read->model, region_axis::attempts, attempts);
        ASSERT_TRUE(point.has_value());
        EXPECT_NEAR(point->recovers_up_to, 300.0 / attempts, 9.0);
        EXPECT_LE(*point->stays_down_from - point->recovers_up_to, 3.0);
    }
    EXPECT_FALSE(find_edge(read->model, region_axis::attempts, 2.0, [](double) { return true; }));
}

TEST(region, needs_a_capacity_trouble_and_for_a_bucket_a_bucket) {
    model asked;
    EXPECT_EQ(
        check_region(asked, region_axis::attempts, 2)->field, "services[0].capacity_per_second");
    asked.services.front().capacity_per_second = 100.0;
    EXPECT_EQ(check_region(asked, region_axis::attempts, 2)->field, "troubles");
    asked.troubles.resize(1);
    EXPECT_FALSE(check_region(asked, region_axis::attempts, 2));
    EXPECT_EQ(check_region(asked, region_axis::attempts, 0)->field, "clients.retries.attempts_max");
    EXPECT_EQ(check_region(asked, region_axis::bucket, 50)->field, "budget");
    asked.clients.retries.budget = bucket_options{};
    EXPECT_FALSE(check_region(asked, region_axis::bucket, 50));
}

TEST(region, reports_have_a_line_for_each_value) {
    const region found{region_axis::attempts, 300.0, {{2, 148, 151, 8}, {3, 97, 100, 8}}};
    scenario about;
    about.title = "<t>";
    EXPECT_NE(to_table(found, about.model).find("148/s"), std::string::npos);
    const std::string page = to_html(found, about, {"mine", {}, false}, "reprise");
    EXPECT_NE(page.find("&lt;t&gt;"), std::string::npos);
    EXPECT_EQ(page.find("{{"), std::string::npos);
    const auto parsed = json::parse(to_json(found, about, {"mine", {}, false}, "reprise"));
    EXPECT_EQ(parsed->root.find("points")->as_array()->size(), 2U);
}

}  // namespace reprise::lab
