#include <gtest/gtest.h>

#include <limits>

#include <reprise/lab/model.hpp>

namespace reprise::lab {

using namespace std::chrono_literals;

namespace {

/// The path of the first problem after a change, or nothing.
template <class Change>
std::string problem_after(Change change) {
    model changed;
    change(changed);
    const std::optional<driver::settings_error> error = check(changed);
    return error ? error->field : "";
}

}  // namespace

TEST(model, defaults_are_valid) {
    EXPECT_EQ(problem_after([](model&) {}), "");
}

TEST(model, problems_are_reported_with_their_path) {
    EXPECT_EQ(problem_after([](model& m) { m.length = 0s; }), "length");
    EXPECT_EQ(problem_after([](model& m) { m.clients.count = 0; }), "clients.count");
    EXPECT_EQ(
        problem_after([](model& m) {
            m.clients.requests_per_second = std::numeric_limits<double>::quiet_NaN();
        }),
        "clients.requests_per_second");
    EXPECT_EQ(
        problem_after([](model& m) { m.clients.retries.attempts_max = 0; }),
        "clients.retries.attempts_max");
    EXPECT_EQ(
        problem_after([](model& m) {
            m.clients.retries.budget = bucket_options{{.capacity = 4.0, .initial = {}}, {}};
        }),
        "clients.retries.budget.prices.retry");
    EXPECT_EQ(problem_after([](model& m) { m.services.front().nodes = 0; }), "services[0].nodes");
    EXPECT_EQ(problem_after([](model& m) { m.services.clear(); }), "services");
    EXPECT_EQ(
        problem_after([](model& m) { m.services.push_back(m.services.front()); }),
        "services[1].name");
    EXPECT_EQ(
        problem_after([](model& m) { m.troubles = {{.service = "nobody"}}; }),
        "troubles[0].service");
    EXPECT_EQ(
        problem_after([](model& m) { m.troubles = {{.length = 50s}}; }), "troubles[0].length");
}

TEST(model, cycles_of_services_are_refused) {
    EXPECT_EQ(
        problem_after([](model& m) {
            m.services = {
                {.name = "a", .calls = {{"b", 1}}},
                {.name = "b", .calls = {{"c", 1}}},
                {.name = "c", .calls = {{"b", 1}}}};
        }),
        "services[2].calls");
}

TEST(model, runs_that_would_never_end_are_refused) {
    EXPECT_EQ(
        problem_after([](model& m) {
            m.clients.requests_per_second = 1e6;
            m.length = 100s;
        }),
        "clients");
    EXPECT_EQ(
        problem_after([](model& m) {
            m.clients.retries.attempts_max.reset();
            m.clients.retries.backoff.base = m.clients.retries.backoff.cap = 0s;
            m.services.front().network_delay = 0s;
        }),
        "clients.retries");
}

TEST(model, every_preset_is_valid_and_found_by_its_name) {
    for (const retry_preset& preset : retry_presets()) {
        EXPECT_FALSE(check(preset.options)) << preset.name;
        EXPECT_EQ(find_retry_preset(preset.name), &preset);
    }
    EXPECT_EQ(find_retry_preset("standrad"), nullptr);
}

}  // namespace reprise::lab
