#include <gtest/gtest.h>

#include <algorithm>

#include <reprise/lab/lint.hpp>

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

}  // namespace reprise::lab
