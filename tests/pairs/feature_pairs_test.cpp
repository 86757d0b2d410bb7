/// Every pair of features, in every loop that can have both, with drawn failures in virtual time,
/// against a model of what must never happen (`world.hpp`). Bugs hide where two correct parts meet:
/// a filter and an adapter, a timeout and a code.

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "features.hpp"
#include "plan.hpp"
#include "world.hpp"

namespace reprise::feature_pairs {

namespace {

constexpr std::array loops{
    feature::blocking, feature::completion_token, feature::coroutine, feature::no_exceptions};

/// The pairs that a set of calls has exercised.
struct coverage {
    std::size_t calls = 0;
    std::size_t with_retries = 0;
    std::size_t successes = 0;
    std::size_t failures = 0;
    feature_set acted;  ///< Of those that may stay without effect.
};

/// What these do depends on the other events of a call.
constexpr std::array doubtful{
    feature::failed_start,      feature::minimum_wait,     feature::tracer,
    feature::late_decision,     feature::dropped_decision, feature::throwing_strategy,
    feature::stopping_observer, feature::throwing_observer};

[[nodiscard]] bool can_have(const feature_set& features, feature added) {
    for (std::size_t i = 0; i < feature_count; ++i) {
        const auto one = static_cast<feature>(i);
        if (features.has(one) && find_impossible(one, added) != nullptr) {
            return false;
        }
    }
    return true;
}

void play(const call_plan& plan, coverage& covered) {
    const auto done = [&](world& w) {
        ++covered.calls;
        covered.with_retries += w.retries() != 0 ? 1U : 0U;
        ++(w.has_succeeded() ? covered.successes : covered.failures);
        for (const feature one : doubtful) {
            if (w.has_acted(one)) {
                covered.acted.add(one);
            }
        }
        for (const std::string& violation : w.violations()) {
            ADD_FAILURE() << violation << "\n  in " << to_string(plan);
        }
    };
    if (plan.has(feature::no_exceptions)) {
        run_without_exceptions(plan, done);
    } else if (plan.has(feature::blocking)) {
        run_blocking(plan, done);
    } else if (plan.has(feature::completion_token)) {
        run_with_token(plan, done);
    } else {
        run_in_coroutine(plan, done);
    }
}

/// Plays `features` in each loop that can have them, and reports what was exercised.
[[nodiscard]] coverage play_in_loops(const feature_set& features, std::uint64_t seeds) {
    coverage covered;
    for (const feature loop : loops) {
        if (!can_have(features, loop) || (features.has_loop() && !features.has(loop))) {
            continue;
        }
        feature_set with_loop = features;
        with_loop.add(loop);
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            play(draw_plan(with_loop, seed), covered);
            if (::testing::Test::HasFailure()) {
                return covered;  // One example is enough.
            }
        }
    }
    return covered;
}

}  // namespace

TEST(feature_pairs, every_pair_keeps_every_promise_in_every_loop) {
    std::size_t played = 0;
    for (std::size_t i = 0; i < feature_count; ++i) {
        for (std::size_t j = i + 1; j < feature_count; ++j) {
            const auto first = static_cast<feature>(i);
            const auto second = static_cast<feature>(j);
            if (find_impossible(first, second) != nullptr) {
                continue;
            }
            SCOPED_TRACE(std::string(feature_names[i]) + " and " + std::string(feature_names[j]));
            feature_set both;
            both.add(first);
            both.add(second);
            const coverage covered = play_in_loops(both, 40);
            ASSERT_FALSE(HasFailure());
            EXPECT_GT(covered.with_retries, 0U);
            EXPECT_GT(covered.successes, 0U);
            EXPECT_GT(covered.failures, 0U);
            for (const feature one : doubtful) {
                EXPECT_EQ(covered.acted.has(one), both.has(one)) << feature_names[index_of(one)];
            }
            ++played;
        }
    }
    EXPECT_EQ(played + impossible_pairs.size(), feature_count * (feature_count - 1) / 2);
}

TEST(feature_pairs, every_three_features_keep_every_promise_in_every_loop) {
    for (std::size_t i = 0; i < feature_count; ++i) {
        for (std::size_t j = i + 1; j < feature_count; ++j) {
            for (std::size_t k = j + 1; k < feature_count; ++k) {
                feature_set three;
                bool is_possible = true;
                for (const std::size_t index : {i, j, k}) {
                    const auto added = static_cast<feature>(index);
                    is_possible = is_possible && can_have(three, added);
                    three.add(added);
                }
                if (is_possible) {
                    static_cast<void>(play_in_loops(three, 5));
                    ASSERT_FALSE(HasFailure());
                }
            }
        }
    }
}

TEST(feature_pairs, many_features_at_once_keep_every_promise) {
    std::mt19937_64 random(20261117);
    for (int round = 0; round < 1500; ++round) {
        feature_set features;
        for (std::size_t i = 0; i < feature_count; ++i) {
            const auto one = static_cast<feature>(i);
            if (random() % 2 == 0 && can_have(features, one)) {
                features.add(one);
            }
        }
        static_cast<void>(play_in_loops(features, 3));
        ASSERT_FALSE(HasFailure());
    }
}

TEST(feature_pairs, impossible_pairs_are_named_with_a_reason) {
    for (const impossible_pair& row : impossible_pairs) {
        EXPECT_NE(row.first, row.second);
        EXPECT_FALSE(row.reason.empty());
    }
}

}  // namespace reprise::feature_pairs
