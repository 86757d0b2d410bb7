#include <reprise/sandbox/control.hpp>

#include "control/control_commands.hpp"

namespace topology_commands_test {

using namespace sandbox_testing;
namespace json = reprise::json;

// A front that only records its calls.
class recording_front final : public sandbox::control_front {
public:
    explicit recording_front(sandbox::cluster& cluster) : cluster_(cluster) {}
    std::expected<sandbox::node_id, std::string> add_node() override {
        if (is_full) {
            return std::unexpected("no ports left");
        }
        return cluster_.topology().add_node().value();
    }
    void run_rebalance(std::chrono::milliseconds interval) override { interval_seen = interval; }

    bool is_full = false;
    std::optional<std::chrono::milliseconds> interval_seen;

private:
    sandbox::cluster& cluster_;
};

struct topology_commands : control_commands {
    recording_front front{cluster};
};

TEST_F(topology_commands, status_counts_vbuckets_and_shows_joining_nodes) {
    ask(R"({"command":"node_add"})");
    ask(R"({"command":"failover","node":1})");
    const json::value answer = ask(R"({"command":"topology"})");
    ASSERT_EQ(answer.find("nodes")->as_array()->size(), 4u);
    const json::value& out = *answer.find("nodes")->at(1);
    EXPECT_EQ(out.find("state")->as_string(), "failed_over");
    EXPECT_EQ(out.find("kv"), nullptr);
    const json::value& joining = *answer.find("nodes")->at(3);
    EXPECT_EQ(joining.find("joining")->as_bool(), true);
    EXPECT_EQ(joining.find("active")->as_uint64(), 0u);
    EXPECT_EQ(answer.find("rebalance")->find("end")->as_string(), "none");
}

TEST_F(topology_commands, commands_step_and_stop_a_rebalance) {
    const json::value begun = ask(R"({"command":"rebalance","eject":[2]})");
    EXPECT_EQ(begun.find("rebalance")->find("running")->as_bool(), true);
    EXPECT_EQ(begun.find("rebalance")->find("leaving")->at(0)->as_uint64(), 2u);
    const json::value stepped = ask(R"({"command":"rebalance_step","count":2})");
    ASSERT_EQ(stepped.find("steps")->as_array()->size(), 2u);
    EXPECT_EQ(stepped.find("steps")->at(0)->find("bucket")->as_string(), "travel");
    EXPECT_EQ(stepped.find("rebalance")->find("done")->as_uint64(), 2u);
    const json::value stopped = ask(R"({"command":"rebalance_stop"})");
    EXPECT_EQ(stopped.find("rebalance")->find("end")->as_string(), "stopped");
    EXPECT_EQ(error(R"({"command":"rebalance_stop"})"), "no rebalance is running");
    EXPECT_EQ(error(R"({"command":"rebalance_step"})"), "no rebalance is running");

    ask(R"({"command":"rebalance","eject":[2]})");
    const json::value ended = ask(R"({"command":"rebalance_step","count":1000})");
    EXPECT_EQ(ended.find("rebalance")->find("end")->as_string(), "finished");
    EXPECT_EQ(cluster.topology().nodes().size(), 2u);
}

TEST_F(topology_commands, a_failed_over_node_is_added_back) {
    EXPECT_EQ(error(R"({"command":"failover","node":1,"graceful":true})"), "");
    ask(R"({"command":"rebalance_step","count":1000})");
    EXPECT_EQ(cluster.topology().state_of(sandbox::node_id{1}), sandbox::node_state::failed_over);
    EXPECT_EQ(error(R"({"command":"node_add_back","node":1})"), "");
    EXPECT_EQ(error(R"({"command":"node_add_back","node":1})"), "node was not failed over");
    EXPECT_EQ(error(R"({"command":"node_restart","node":0,"keep_data":false})"), "");
    EXPECT_EQ(error(R"({"command":"node_restart","node":9})"), "unknown node");
    EXPECT_EQ(error(R"({"command":"node_restart","node":0,"silence_ms":5,"absence_ms":9})"), "");
    EXPECT_NE(error(R"({"command":"node_restart","node":0,"absence_ms":3600001})"), "");
}

TEST_F(topology_commands, commands_that_need_sockets_or_time_go_to_the_front) {
    const json::value added = ask(R"({"command":"node_add"})", &front);
    EXPECT_EQ(added.find("node")->as_uint64(), 3u);
    front.is_full = true;
    EXPECT_EQ(error(R"({"command":"node_add"})", &front), "no ports left");
    EXPECT_EQ(error(R"({"command":"rebalance","interval_ms":7})", &front), "");
    EXPECT_EQ(front.interval_seen, std::chrono::milliseconds(7));
    EXPECT_EQ(
        error(R"({"command":"rebalance","interval_ms":7})", &front), "a rebalance is running");
    EXPECT_EQ(
        error(R"({"command":"rebalance","interval_ms":7})"),
        "'interval_ms' requires a server with a clock");
}

TEST_F(topology_commands, invalid_commands_get_a_specific_error_and_change_nothing) {
    EXPECT_EQ(
        error(R"({"command":"rebalance","eject":1})"), "'eject' must be a list of node numbers");
    EXPECT_EQ(
        error(R"({"command":"rebalance","eject":[-1]})"), "'eject' must be a list of node numbers");
    EXPECT_EQ(error(R"({"command":"rebalance","eject":[7]})"), "unknown node");
    EXPECT_EQ(
        error(R"({"command":"rebalance","reject":[1]})"),
        "'reject' is not a member of this command");
    EXPECT_EQ(error(R"({"command":"rebalance_step","count":0})"), "'count' must be 1 to 1000000");
    EXPECT_EQ(
        error(R"({"command":"failover","node":1,"interval_ms":1})", &front),
        "'interval_ms' requires 'graceful'");
    EXPECT_FALSE(cluster.topology().rebalance_status().is_running);
    EXPECT_EQ(cluster.topology().nodes().size(), 3u);
}

}  // namespace topology_commands_test
