#include <gtest/gtest.h>

#include <algorithm>

#include <reprise/lab/lint.hpp>
#include <reprise/lab/lint_report.hpp>

namespace reprise::lab {

namespace {

bool warns_about(const retry_options& retries, std::string_view field) {
    const std::vector<settings_warning> warnings = lint(retries);
    return std::ranges::find(warnings, field, &settings_warning::field) != warnings.end();
}

}  // namespace

TEST(lab_lint, settings_with_a_budget_and_jitter_have_no_warnings) {
    EXPECT_TRUE(lint(find_retry_preset("none")->options).empty());
    EXPECT_TRUE(lint(find_retry_preset("standard")->options).empty());
    EXPECT_TRUE(lint(find_retry_preset("grpc_a6")->options).empty());
}

TEST(lab_lint, free_retries_missing_jitter_and_endless_calls_are_reported) {
    const retry_options& naive = find_retry_preset("naive")->options;
    EXPECT_TRUE(warns_about(naive, "budget"));
    EXPECT_TRUE(warns_about(naive, "backoff.jitter"));
    retry_options endless = find_retry_preset("couchbase_best_effort")->options;
    EXPECT_TRUE(warns_about(endless, "attempts_max"));
    endless.deadline = std::chrono::seconds{1};
    EXPECT_FALSE(warns_about(endless, "attempts_max"));
    retry_options hedging = find_retry_preset("backoff")->options;
    hedging.hedge.emplace();
    EXPECT_TRUE(warns_about(hedging, "hedge"));
}

TEST(lab_lint, the_load_is_compared_with_capacity_and_attempts_if_nothing_pays) {
    const lint_context busy{.service_capacity = 1000.0, .load = 750.0};
    const retry_options& backoff = find_retry_preset("backoff")->options;
    EXPECT_EQ(lint(backoff, busy).size(), lint(backoff).size() + 1);
    EXPECT_TRUE(lint(find_retry_preset("standard")->options, busy).empty());
}

TEST(lab_lint, each_warning_comes_with_a_run_that_shows_it) {
    retry_options settings = find_retry_preset("naive")->options;
    const std::vector<shown_warning> found = find_warnings(scenario_of_settings(settings));
    const auto shown_for = [&](std::string_view field) {
        return std::ranges::find(
            found, field, [](const shown_warning& each) { return each.warning.field; });
    };
    ASSERT_NE(shown_for("budget"), found.end());
    EXPECT_EQ(shown_for("budget")->result.recovery.outcome, recovery_outcome::never);
    // The effect of missing jitter is visible where clients contend for one record.
    ASSERT_NE(shown_for("backoff.jitter"), found.end());
    const shown_warning& herd = *shown_for("backoff.jitter");
    EXPECT_TRUE(herd.shown.services.front().is_contended_record);
    ASSERT_TRUE(herd.with_jitter);
    EXPECT_GT(herd.result.totals().sent, herd.with_jitter->totals().sent);
    settings.hedge.emplace();
    EXPECT_EQ(scenario_of_settings(settings).model.troubles.front().kind, trouble_kind::slow_down);
    EXPECT_TRUE(
        find_warnings(scenario_of_settings(find_retry_preset("standard")->options)).empty());
}

TEST(lab_lint, the_page_draws_a_curve_for_each_warning_and_escapes_names) {
    scenario asked = scenario_of_settings(find_retry_preset("backoff")->options);
    asked.strategies.front().name = "<b>ours</b>";
    const std::vector<shown_warning> found = find_warnings(asked);
    const std::string page = to_html(found, "a<b.json", "reprise lab lint");
    const auto count = [&](std::string_view part) {
        std::size_t times = 0;
        for (std::size_t at = page.find(part); at != page.npos; at = page.find(part, at + 1)) {
            ++times;
        }
        return times;
    };
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(count("<svg "), found.size());
    EXPECT_EQ(count("class=\"useful\"/>"), found.size());
    EXPECT_EQ(count("<b>ours"), 0U);
    EXPECT_EQ(count("{{"), 0U);
    EXPECT_NE(page.find("a&lt;b.json"), page.npos);
    EXPECT_EQ(to_text(std::vector<shown_warning>{}), "No warnings.\n");
    EXPECT_NE(to_html({}, "x", "").find("No warnings about x"), std::string::npos);
}

}  // namespace reprise::lab
