#include <gtest/gtest.h>

#include <reprise/retry/random_generator.hpp>

#include "engine_driver.hpp"

// Goal: the safety invariants hold under any mix of faults. Method: seeded scripts let servers
// refuse, stay silent, close before or after applying, send garbage and change the map; then each
// write is compared with what the servers really did.

namespace reprise::engine::testing::many_faults_tests {

struct write_under_test {
    std::string key;
    engine_driver::outcome_ptr result;
    time_point started{};
};

class many_faults_scene {
public:
    explicit many_faults_scene(std::uint64_t seed) : random_(seed), cluster_(3, 8) {
        cluster_.collections["s.c"] = 9;
        engine_options options;
        options.pipeline_credit = 1 + random_.next() % 16;
        options.enable_compression = false;
        driver_ = std::make_unique<engine_driver>(cluster_, options);
        cluster_.on_request = [this](const seen_request& seen) { return fault(seen); };
    }

    void run() {
        for (int step = 0; step < 60; ++step) {
            start_one(step);
            driver_->advance(std::chrono::milliseconds{random_.next() % 40});
            disturb();
        }
        is_calm_ = true;
        driver_->advance(15s);
        check();
    }

private:
    std::optional<answer> fault(const seen_request& seen) {
        const bool is_write = seen.op == opcode::set;
        if (is_calm_ || random_.next() % 100 >= 30) {
            return std::nullopt;
        }
        switch (random_.next() % 10) {
            case 0:
                return answer{.closes = true};
            case 1:
                return answer{.closes = true, .applies = is_write};
            case 2:
                return answer{.is_silent = true};
            case 3:
                return answer{.is_silent = true, .applies = is_write};
            case 4:
                return answer{.raw = std::string(random_.next() % 60 + 24, 'g')};
            case 5:
                return answer{.copies = 2, .opaque = static_cast<std::uint32_t>(random_.next())};
            default:
                break;
        }
        if (!is_write) {
            return std::nullopt;
        }
        constexpr status refusals[] = {
            status::locked,
            status::etmpfail,
            status::not_my_vbucket,
            status::unknown_collection,
            static_cast<status>(0x7ff0),
            static_cast<status>(0x7ff2)};
        return answer{.status = refusals[random_.next() % std::size(refusals)]};
    }
    void start_one(int step) {
        write_under_test made;
        made.key = "key" + std::to_string(step);
        const bool is_named = random_.next() % 4 == 0;
        auto request = driver_->request(
            operation_kind::upsert, made.key, "v", is_named ? "s" : "", is_named ? "c" : "");
        made.key.insert(made.key.begin(), is_named ? '\x09' : '\0');
        made.started = driver_->now;
        made.result = driver_->start(std::move(request));
        if (random_.next() % 20 == 0) {
            driver_->engine().cancel(driver_->last_id, driver_->now);
        }
        writes_.push_back(std::move(made));
    }
    void disturb() {
        const std::size_t node = random_.next() % cluster_.nodes.size();
        switch (random_.next() % 12) {
            case 0:
                return driver_->close_node(node);
            case 1:
                cluster_.nodes[node].refuses_connections =
                    !cluster_.nodes[node].refuses_connections;
                return;
            case 2:
                ++cluster_.revision.rev;
                std::rotate(cluster_.map.begin(), cluster_.map.begin() + 1, cluster_.map.end());
                return;
            case 3:
                driver_->write_room = random_.next() % 200;
                driver_->settle();
                driver_->close_node(node);
                driver_->write_room = std::size_t(-1);
                return;
            default:
                return;
        }
    }
    void check() {
        for (const write_under_test& one : writes_) {
            const int applied = driver_->server.applied_by_key[one.key];
            ASSERT_EQ(one.result->calls, 1) << one.key;
            EXPECT_LE(one.result->at - one.started, 2501ms);
            EXPECT_LE(applied, 1) << one.key;
            if (one.result->result.has_value()) {
                EXPECT_EQ(applied, 1) << one.key;
            } else if (!one.result->result.error->is_ambiguous) {
                EXPECT_EQ(applied, 0) << to_string(*one.result->result.error);
            }
        }
        EXPECT_EQ(driver_->engine().statistics().operations_open, 0U);
        EXPECT_EQ(driver_->engine().statistics().operations_parked, 0U);
        EXPECT_EQ(driver_->engine().statistics().operations_ready, 0U);
    }

    random_generator random_;
    scripted_cluster cluster_;
    std::unique_ptr<engine_driver> driver_;
    std::vector<write_under_test> writes_;
    bool is_calm_ = false;
};

TEST(many_faults, every_write_ends_once_in_time_with_a_true_result) {
    for (std::uint64_t seed = 1; seed <= 150; ++seed) {
        SCOPED_TRACE(seed);
        many_faults_scene scene(seed);
        scene.run();
        if (::testing::Test::HasFailure()) {
            return;
        }
    }
}

TEST(many_faults, a_noop_answered_with_not_my_vbucket_before_any_configuration_does_no_harm) {
    scripted_cluster cluster(1);
    cluster.nodes[0].config_status = status::key_enoent;
    connected_driver driver(cluster);
    cluster.answer_all(opcode::noop, {.status = status::not_my_vbucket});
    const auto probe = driver.after(3s, driver.start(operation_kind::noop, ""));
    EXPECT_EQ(probe->code(), errc::unambiguous_timeout);
}

}  // namespace reprise::engine::testing::many_faults_tests
