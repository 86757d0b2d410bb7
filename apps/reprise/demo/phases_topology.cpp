#include <algorithm>

#include <fmt/format.h>

#include <reprise/sandbox/services.hpp>

#include "phases.hpp"

namespace reprise::demo {

namespace {

using std::chrono::milliseconds;

// No rebalance takes longer than this, even on a slow machine.
constexpr milliseconds rebalance_time_max{30'000};
constexpr std::chrono::duration<double> slow_time_max{0.2};
// Earlier than the operations' timeout, as with automatic failover.
constexpr std::chrono::duration<double> failover_after_max{1.2};

// With this interval between steps, a rebalance takes about half of the phase.
[[nodiscard]] milliseconds step_interval(const stage& on) {
    constexpr double steps = 250;
    const double ms = on.length.count() * 1000 * 0.5 / steps;
    return milliseconds{std::clamp<long long>(static_cast<long long>(ms), 1, 20)};
}

[[nodiscard]] std::string describe_progress(sandbox::embedded_cluster& servers) {
    std::string text;
    servers.with_cluster([&](sandbox::cluster& cluster) {
        const auto status = cluster.topology().rebalance_status();
        text = fmt::format("{} of {} vbuckets moved", status.moves_done, status.moves_total);
    });
    return text;
}

class steady_phase final : public phase {
public:
    explicit steady_phase(std::string_view name) noexcept : name_(name) {}
    std::string_view name() const noexcept override { return name_; }

private:
    std::string_view name_;
};

class rebalance_phase final : public phase {
public:
    std::string_view name() const noexcept override { return "rebalance"; }
    void begin(stage& on) override {
        const sandbox::node_id leaving = on.any_node();
        const auto added = on.servers.add_node();
        if (!added) {
            on.note = added.error();
            return;
        }
        is_running_ = on.servers.rebalance({.eject = {leaving}}, step_interval(on)).has_value();
        what_ = fmt::format("node {} joins, node {} leaves", added->node.value, leaving.value);
    }
    void tick(stage& on, double) override {
        if (is_running_) {
            on.note = fmt::format("{}: {}", what_, describe_progress(on.servers));
        }
    }
    void end(stage& on) override {
        static_cast<void>(on.servers.wait_rebalance(rebalance_time_max));
        tick(on, 1);
        is_running_ = false;
    }

private:
    bool is_running_ = false;
    std::string what_;
};

class node_loss_phase final : public phase {
public:
    std::string_view name() const noexcept override { return "node lost"; }
    void begin(stage& on) override {
        node_ = on.any_node();
        step_ = step::slow;
        // A node rarely dies without warning: it first answers late, so that requests are in flight
        // when its connections are reset.
        sandbox::fault_rule late;
        late.node = node_;
        late.effect = sandbox::fault_delay{std::chrono::seconds{2}};
        sandbox::service_fault_rule late_service;
        late_service.node = node_;
        late_service.effect = sandbox::fault_delay{std::chrono::seconds{2}};
        on.with([&](sandbox::cluster& cluster) {
            late_ = cluster.faults().add(late);
            late_service_ = cluster.services().faults().add(late_service);
        });
        on.note = fmt::format("node {} answers late", node_.value);
    }
    void tick(stage& on, double progress) override {
        const double kill_at = std::min(0.05, slow_time_max / on.length);
        const double failover_at = kill_at + std::min(0.2, failover_after_max / on.length);
        if (step_ == step::slow && progress >= kill_at) {
            step_ = step::killed;
            on.with([&](sandbox::cluster& cluster) {
                cluster.faults().remove(late_);
                cluster.services().faults().remove(late_service_);
                on.check(cluster.topology().kill(node_));
            });
            on.note = fmt::format("node {} killed", node_.value);
        } else if (step_ == step::killed && progress >= failover_at) {
            step_ = step::failed_over;
            on.with(
                [&](sandbox::cluster& cluster) { on.check(cluster.topology().failover(node_)); });
            on.note = fmt::format("node {} killed and failed over", node_.value);
        } else if (step_ == step::failed_over && progress >= 0.45) {
            step_ = step::back;
            on.with(
                [&](sandbox::cluster& cluster) { on.check(cluster.topology().add_back(node_)); });
            on.check(on.servers.rebalance({}, step_interval(on)));
        } else if (step_ == step::back) {
            on.note = fmt::format(
                "node {} killed, failed over, back: {}", node_.value,
                describe_progress(on.servers));
        }
    }
    void end(stage& on) override {
        // Catch up on the steps that a short phase skipped.
        while (step_ != step::back) {
            tick(on, 1);
        }
        static_cast<void>(on.servers.wait_rebalance(rebalance_time_max));
        tick(on, 1);
    }

private:
    enum class step : std::uint8_t { slow, killed, failed_over, back };
    sandbox::node_id node_{};
    std::uint64_t late_ = 0;
    std::uint64_t late_service_ = 0;
    step step_ = step::slow;
};

class graceful_phase final : public phase {
public:
    std::string_view name() const noexcept override { return "graceful failover"; }
    void begin(stage& on) override {
        node_ = on.any_node();
        is_back_ = false;
        on.check(on.servers.graceful_failover(node_, step_interval(on)));
    }
    void tick(stage& on, double progress) override {
        on.note = fmt::format(
            "node {} {}: {}", node_.value, is_back_ ? "comes back" : "is failed over",
            describe_progress(on.servers));
        if (!is_back_ && progress >= 0.5) {
            come_back(on);
        }
    }
    void end(stage& on) override {
        if (!is_back_) {
            come_back(on);
        }
        static_cast<void>(on.servers.wait_rebalance(rebalance_time_max));
        tick(on, 1);
    }

private:
    void come_back(stage& on) {
        static_cast<void>(on.servers.wait_rebalance(rebalance_time_max));
        on.with([&](sandbox::cluster& cluster) { on.check(cluster.topology().add_back(node_)); });
        on.check(on.servers.rebalance({}, step_interval(on)));
        is_back_ = true;
    }

    sandbox::node_id node_{};
    bool is_back_ = false;
};

class restart_phase final : public phase {
public:
    std::string_view name() const noexcept override { return "restarts"; }
    void begin(stage&) override { done_ = 0; }
    void tick(stage& on, double progress) override {
        constexpr std::size_t restarts = 4;
        if (progress * restarts < static_cast<double>(done_) || done_ == restarts) {
            return;
        }
        ++done_;
        const sandbox::node_id node = on.any_node();
        on.with([&](sandbox::cluster& cluster) {
            on.check(cluster.topology().restart(node, sandbox::restart_kind::with_data));
        });
        on.note = fmt::format("node {} restarted, {} of {}", node.value, done_, restarts);
    }

private:
    std::size_t done_ = 0;
};

}  // namespace

sandbox::node_id stage::any_node() {
    std::vector<sandbox::node_id> nodes;
    servers.with_cluster([&](sandbox::cluster& cluster) { nodes = cluster.topology().nodes(); });
    return nodes[random.next() % nodes.size()];
}

std::string stage::remark() const {
    return refused_count == 0
               ? note
               : fmt::format("{} (refused {} times: {})", note, refused_count, refusal);
}

std::unique_ptr<phase> make_steady_phase(std::string_view name) {
    return std::make_unique<steady_phase>(name);
}
std::unique_ptr<phase> make_rebalance_phase() {
    return std::make_unique<rebalance_phase>();
}
std::unique_ptr<phase> make_node_loss_phase() {
    return std::make_unique<node_loss_phase>();
}
std::unique_ptr<phase> make_graceful_phase() {
    return std::make_unique<graceful_phase>();
}
std::unique_ptr<phase> make_restart_phase() {
    return std::make_unique<restart_phase>();
}

}  // namespace reprise::demo
