#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string_view>

#include <reprise/engine/reason_table.hpp>
#include <reprise/sim/simulation.hpp>

// Whole runs with every checker. To step through a failure, use
//     reprise sim --profile PROFILE --replay SEED

namespace reprise::sim {
namespace seeds_tests {

struct seed_sums {
    std::uint64_t operations = 0;
    std::uint64_t calls = 0;
    std::uint64_t rows = 0;
    std::uint64_t succeeded = 0;
    std::uint64_t retries = 0;
    sandbox::ledger_totals writes{};
    reason_cells cells{};
    situation_counts situations{};
};

void run_seed(std::uint64_t seed, std::string_view name, seed_sums& sums) {
    const run_report report = run_scenario(random_scenario(seed, *find_profile(name)));
    for (const finding& each : report.findings) {
        ADD_FAILURE() << name << " seed " << seed << ": " << to_string(each);
    }
    sums.operations += report.operations;
    sums.calls += report.calls;
    sums.rows += report.rows;
    sums.succeeded += report.succeeded;
    sums.retries += report.retries;
    sums.writes.applied += report.writes.applied;
    sums.writes.unknown += report.writes.unknown;
    sums.cells.add(report.cells);
    sums.situations.add(report.situations);
}

seed_sums run_seeds(std::uint64_t first, std::uint64_t last, std::string_view name) {
    seed_sums sums;
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        run_seed(seed, name, sums);
    }
    return sums;
}

// The text of a cell that is not in the table; empty if there is none.
std::string find_impossible_cell(const reason_cells& cells) {
    for (std::size_t reason = 0; reason < couchbase::retry_reason_count; ++reason) {
        for (std::size_t stage = 0; stage < stage_count; ++stage) {
            for (std::size_t of = 0; of < engine::operation_class_count; ++of) {
                const auto why = static_cast<couchbase::retry_reason>(reason);
                const auto where = static_cast<attempt_stage>(stage);
                const auto what = static_cast<engine::operation_class>(of);
                if (cells.counts[reason][stage][of] != 0 &&
                    engine::cell_of(why, where, what).applicable !=
                        engine::reason_applicability::yes) {
                    return std::string(couchbase::to_string(why)) + " " +
                           std::string(to_string(where)) + " " +
                           std::string(engine::to_string(what));
                }
            }
        }
    }
    return {};
}

}  // namespace seeds_tests

using namespace seeds_tests;

// A breaker closes and wakes more operations than the credit allows, and the connection ends: the
// others were not sent and learn that at once. A checker mistook that for an early retry.
TEST(seeds, woken_operations_that_were_not_sent_are_not_early_retries) {
    seeds_tests::seed_sums sums;
    seeds_tests::run_seed(903302, "swarm", sums);
    EXPECT_GT(sums.retries, 0U);
}

// A recreated collection, a socket that accepts 200 bytes at a time, and a timeout of 80 ms: the
// operations of the final round need more time than users usually allow.
TEST(seeds, the_final_round_has_time_for_a_recreated_collection_on_a_slow_socket) {
    seeds_tests::seed_sums sums;
    seeds_tests::run_seed(3826, "swarm", sums);
    seeds_tests::run_seed(9726, "services", sums);
    EXPECT_GT(sums.succeeded, 0U);
}

// A service reports that it had no time and asks for a retry, which the strategy refuses. A checker
// mistook that for a timeout of the client before its deadline.
TEST(seeds, a_timeout_reported_by_a_service_may_precede_the_deadline) {
    seeds_tests::seed_sums sums;
    seeds_tests::run_seed(902704, "swarm", sums);
    EXPECT_GT(sums.operations, 0U);
}

// A node was failed over while its ports were hidden, so it missed that they were visible again:
// after it was added back, it never had a key-value service, and half of the keys had no node.
TEST(seeds, a_node_that_is_added_back_offers_the_same_services_as_the_others) {
    seeds_tests::seed_sums sums;
    seeds_tests::run_seed(957374, "swarm", sums);
    EXPECT_GT(sums.succeeded, 0U);
}

// A refused handshake woke a call, which then waited for a connection of another node until the
// refusal was over. A checker mistook that for an early retry.
TEST(seeds, a_call_that_was_woken_by_a_refusal_may_wait_for_a_connection) {
    seeds_tests::seed_sums sums;
    seeds_tests::run_seed(9100860, "long", sums);
    EXPECT_GT(sums.retries, 0U);
}

// With every node down, the client asked its seeds again, and the refusal of one that had left the
// cluster ended operations.
TEST(seeds, RH_25_RH_27_the_refusal_of_a_seed_outside_the_topology_does_not_count) {
    seeds_tests::seed_sums sums;
    seeds_tests::run_seed(2060342248, "swarm", sums);
    seeds_tests::run_seed(2967906503, "hostile", sums);
    EXPECT_GT(sums.succeeded, 0U);
}

// A client that may park two operations has not connected to a service yet and gets three calls.
// A checker expected all of them to succeed, because no fault was left.
TEST(seeds, RH_32_a_client_without_room_may_refuse_a_call_of_the_final_round) {
    seeds_tests::seed_sums sums;
    seeds_tests::run_seed(871102622, "swarm", sums);
    EXPECT_GT(sums.succeeded, 0U);
}

// A prepared statement is unknown to its server. While that answer was on its way, another call
// prepared the statement again, and the server has forgotten this name, too. A checker mistook the
// attempt with the newer name for one with the name that was refused.
TEST(seeds, a_newer_name_of_a_prepared_statement_may_be_tried_once) {
    seeds_tests::seed_sums sums;
    seeds_tests::run_seed(85918456, "services", sums);
    EXPECT_GT(sums.calls, 0U);
}

// A login failed just before the faults ended, and the next one may come ten seconds later. The
// final round began before that.
TEST(seeds, RH_39_the_final_round_waits_until_a_client_may_log_in_again) {
    seeds_tests::seed_sums sums;
    seeds_tests::run_seed(871023622, "swarm", sums);
    seeds_tests::run_seed(871045396, "swarm", sums);
    EXPECT_GT(sums.succeeded, 0U);
}

// A loop opened its bucket later than the others and received a broken configuration. It waited for
// one of its own, although the client had it.
TEST(seeds, RH_50_a_loop_that_opens_its_bucket_later_has_the_clients_configuration) {
    seeds_tests::seed_sums sums;
    seeds_tests::run_seed(871092002, "swarm", sums);
    EXPECT_GT(sums.succeeded, 0U);
}

TEST(seeds, all_promises_hold_when_everything_fails) {
    const seed_sums sums = run_seeds(1, 200, "swarm");
    // The runs must not be trivial.
    EXPECT_GT(sums.operations, 100'000U);
    EXPECT_GT(sums.succeeded, 20'000U);
    EXPECT_GT(sums.retries, 20'000U);
    EXPECT_GT(sums.writes.applied, 10'000U);
    EXPECT_GT(sums.writes.unknown, 500U);
}

TEST(seeds, all_promises_hold_with_the_http_services) {
    const seed_sums sums = run_seeds(1, 200, "services");
    EXPECT_GT(sums.calls, 10'000U);
    EXPECT_GT(sums.rows, 300'000U);
    EXPECT_GT(sums.succeeded, 10'000U);
    EXPECT_GT(sums.retries, 5'000U);
    EXPECT_GT(sums.writes.applied, 2'000U);
    EXPECT_GT(sums.writes.unknown, 100U);
}

TEST(seeds, only_cells_of_the_table_are_reached) {
    seed_sums sums = run_seeds(1001, 1200, "swarm");
    sums.cells.add(run_seeds(1001, 1200, "services").cells);
    EXPECT_EQ(find_impossible_cell(sums.cells), "");
    EXPECT_LE(sums.cells.filled(), reason_cells::applicable_count());
    EXPECT_GE(sums.cells.filled() * 100, reason_cells::applicable_count() * 75);
}

// Situations of past bugs are drawn often enough that every test run meets them.
TEST(seeds, every_situation_that_once_got_through_is_met) {
    situation_counts met;
    for (const std::string_view name : {"services", "hostile", "servers"}) {
        met.add(run_seeds(2001, 2150, name).situations);
    }
    for (std::size_t index = 0; index < situation_count; ++index) {
        EXPECT_GT(met.counts[index], 0U) << to_string(static_cast<situation>(index));
    }
}

TEST(seeds, all_promises_hold_in_small_runs) {
    const seed_sums sums = run_seeds(1, 400, "quick");
    EXPECT_GT(sums.succeeded, 5'000U);
}

TEST(seeds, all_promises_hold_on_a_bad_network) {
    const seed_sums sums = run_seeds(1, 100, "network");
    EXPECT_GT(sums.retries, 5'000U);
}

TEST(seeds, all_promises_hold_with_bad_servers) {
    const seed_sums sums = run_seeds(1, 100, "servers");
    EXPECT_GT(sums.retries, 5'000U);
}

TEST(seeds, all_promises_hold_when_nothing_fails) {
    const seed_sums sums = run_seeds(1, 60, "calm");
    EXPECT_GT(sums.succeeded, 10'000U);
}

// Seeds that found a bug of the client, with the scenarios they produce today.
// libs/engine/tests/simulation_findings_test.cpp tests each bug in its smallest form.
TEST(seeds, seeds_that_found_bugs_have_no_findings) {
    struct known_seed {
        std::string_view profile;
        std::uint64_t seed;
    };
    constexpr std::array<known_seed, 4> known = {
        {{"swarm", 215}, {"swarm", 466}, {"servers", 3}, {"quick", 500}}};
    seed_sums sums;
    for (const known_seed& each : known) {
        run_seed(each.seed, each.profile, sums);
    }
    EXPECT_GT(sums.succeeded, 0U);
}

// SRV records with hosts elsewhere, without any host, and with hundreds of hosts. The checker
// `trust` sees every connection of every client.
TEST(seeds, RH_46_a_lying_name_server_leads_no_client_astray) {
    seeds_tests::seed_sums sums;
    std::uint64_t lies = 0;
    for (std::uint64_t seed = 4001; seed <= 4150; ++seed) {
        if (random_scenario(seed, *find_profile("hostile")).has_lying_name_server()) {
            ++lies;
            seeds_tests::run_seed(seed, "hostile", sums);
        }
    }
    EXPECT_GT(lies, 20U);
    EXPECT_GT(sums.situations.of(situation::srv_foreign_target), 10U);
    EXPECT_GT(sums.situations.of(situation::srv_no_service), 0U);
    EXPECT_GT(sums.situations.of(situation::srv_hundreds_of_targets), 0U);
    EXPECT_GT(sums.succeeded, 100U) << "some clients find the cluster all the same";
}

// A seed that does not know the password, and servers that send wrong lengths and redirect
// endlessly.
TEST(seeds, RH_25_RH_39_a_hostile_seed_is_never_trusted_and_blocks_no_client) {
    const seeds_tests::seed_sums sums = seeds_tests::run_seeds(1, 120, "hostile");
    EXPECT_GT(sums.succeeded, sums.operations / 4);
}

}  // namespace reprise::sim
