#include <gtest/gtest.h>

#include <planted_bug.hpp>

#include <array>
#include <cstdio>
#include <ostream>
#include <string>
#include <string_view>

#include <reprise/sim/simulation.hpp>

// The simulation against bugs on purpose: drawn scenarios and checkers that know nothing of them
// find every one within 200 seeds, and find nothing in the same scenarios without it.

namespace reprise::sim::testing {
namespace planted_bugs_tests {

using engine::bug;

constexpr std::uint64_t seed_count = 200;

struct prey {
    bug which;
    std::string_view name;
    std::string_view profile = "swarm";
};

std::ostream& operator<<(std::ostream& out, const prey& of) {
    return out << of.name;
}

#define REPRISE_PREY(name, ...)                     \
    prey {                                          \
        bug::name, #name __VA_OPT__(, ) __VA_ARGS__ \
    }

constexpr std::array all_prey{
    REPRISE_PREY(retry_write_after_close),
    REPRISE_PREY(partial_write_counts_unsent, "servers"),
    REPRISE_PREY(counter_counts_as_read),
    REPRISE_PREY(forget_cap),
    REPRISE_PREY(ladder_off_by_one),
    REPRISE_PREY(retry_too_early),
    REPRISE_PREY(deadline_off_by_delay),
    REPRISE_PREY(always_retry_asks_strategy),
    REPRISE_PREY(not_my_vbucket_leaked),
    REPRISE_PREY(strategy_delay_ignored),
    REPRISE_PREY(late_answer_lost),
    REPRISE_PREY(double_refund),
    REPRISE_PREY(budget_charged_on_refusal),
    REPRISE_PREY(parked_bound_ignored),
    REPRISE_PREY(credit_ignored),
    REPRISE_PREY(abandoned_request_forgotten),
    REPRISE_PREY(reuse_opaque),
    REPRISE_PREY(completion_lost_at_close, "client"),
    REPRISE_PREY(operation_lost_at_disconnect),
    REPRISE_PREY(connection_left_at_close, "client"),
    REPRISE_PREY(timeout_hides_ambiguity),
    REPRISE_PREY(timeout_invents_ambiguity),
    REPRISE_PREY(cancel_hides_ambiguity),
    REPRISE_PREY(back_to_current_map, "servers"),
    REPRISE_PREY(older_configuration_taken, "servers"),
    REPRISE_PREY(replica_read_from_active),
    REPRISE_PREY(wake_up_lost_on_map, "servers"),
    REPRISE_PREY(wake_up_lost_on_connection),
    REPRISE_PREY(stale_collection_id),
    REPRISE_PREY(terminal_state_not_cleared, "servers"),
    REPRISE_PREY(terminal_state_too_eager),
    REPRISE_PREY(reconnect_given_up),
    REPRISE_PREY(breaker_stuck_half_open),
    REPRISE_PREY(error_map_count_not_reset),
    REPRISE_PREY(history_torn),
    REPRISE_PREY(cas_of_answer_lost),
    REPRISE_PREY(increment_doubled_on_retry),
    REPRISE_PREY(redirect_followed, "services"),
    REPRISE_PREY(statement_sent_again, "services"),
    REPRISE_PREY(prepared_not_renewed, "services"),
    REPRISE_PREY(rows_handed_out_twice, "services"),
    REPRISE_PREY(failed_rows_handed_out, "services"),
    REPRISE_PREY(retried_after_rows, "services"),
    REPRISE_PREY(error_after_rows_missed, "services"),
    REPRISE_PREY(unread_connection_kept, "services"),
    REPRISE_PREY(retry_after_ignored, "services"),
};

#undef REPRISE_PREY

// A bug that nobody hunts would be forgotten.
static_assert(all_prey.size() == engine::bug_count);

run_report run_with(bug which, const scenario& plan) {
    engine::chosen_bug = which;
    run_report report = run_scenario(plan);
    engine::chosen_bug = bug::none;
    return report;
}

class planted_bugs : public ::testing::TestWithParam<prey> {};

}  // namespace planted_bugs_tests

using namespace planted_bugs_tests;

TEST_P(planted_bugs, is_found_within_200_seeds_that_pass_without_it) {
    const prey& hunted = GetParam();
    const profile* from = find_profile(hunted.profile);
    ASSERT_NE(from, nullptr);
    for (std::uint64_t seed = 1; seed <= seed_count; ++seed) {
        const scenario plan = draw_scenario(seed, *from);
        const run_report report = run_with(hunted.which, plan);
        if (report.is_clean()) {
            continue;
        }
        const std::string text = to_string(report.findings.front());
        const std::string found = text.substr(0, text.find('\n'));
        std::printf(
            "%-30s seed %3u of %s: %s\n", std::string(hunted.name).c_str(),
            static_cast<unsigned>(seed), std::string(hunted.profile).c_str(), found.c_str());
        const run_report sound = run_with(bug::none, plan);
        EXPECT_TRUE(sound.is_clean()) << to_string(sound.findings.front());
        return;
    }
    FAIL() << hunted.name << " was not found";
}

INSTANTIATE_TEST_SUITE_P(all, planted_bugs, ::testing::ValuesIn(all_prey), [](const auto& of) {
    return std::string(of.param.name);
});

}  // namespace reprise::sim::testing
