#include <algorithm>
#include <bit>
#include <utility>

#include <fmt/format.h>

#include <reprise/wire/error_map.hpp>

#include "phases.hpp"

namespace reprise::demo {

namespace {

// A status from the range that servers reserve for tests. Only the error map explains it.
constexpr std::uint16_t mapped_code = 0x7ff0;

class lock_phase final : public phase {
public:
    std::string_view name() const noexcept override { return "locks"; }
    void begin(stage& on) override {
        on.users.set_lock_time(true);
        on.note = "twelve users compete for locks on the same four documents";
    }
    void end(stage& on) override { on.users.set_lock_time(false); }
};

class pressure_phase final : public phase {
public:
    std::string_view name() const noexcept override { return "pressure"; }
    void begin(stage& on) override {
        closed_ = 0;
        on.with([&](sandbox::cluster& cluster) { busy_ = cluster.faults().add(busy_rule()); });
    }
    // From time to time a write is applied and never answered, which a client must not repeat. This
    // is rare, because connections that live for less than 5 s are reopened with growing delays.
    void tick(stage& on, double progress) override {
        const double wanted = progress * std::max(6.0, on.length.count());
        if (static_cast<double>(closed_) > wanted) {
            return;
        }
        ++closed_;
        sandbox::fault_rule cut;
        cut.ops = {closed_ % 3 == 0 ? wire::opcode::increment : wire::opcode::set};
        cut.when.limit = 1;
        cut.effect = sandbox::fault_close_after{};
        on.with([&](sandbox::cluster& cluster) {
            auto& faults = cluster.faults();
            faults.remove(std::exchange(cut_, 0));
            // The first matching rule decides, so this one must precede the other.
            faults.remove(busy_);
            cut_ = faults.add(cut);
            busy_ = faults.add(busy_rule());
        });
        on.note = fmt::format(
            "one request in seven fails temporarily; {} connections closed after a write", closed_);
    }
    void end(stage& on) override {
        on.with([](sandbox::cluster& cluster) { cluster.faults().clear(); });
    }

private:
    [[nodiscard]] static sandbox::fault_rule busy_rule() {
        sandbox::fault_rule busy;
        busy.ops = {
            wire::opcode::get, wire::opcode::set, wire::opcode::increment,
            wire::opcode::get_locked};
        busy.when.probability = 0.15;
        busy.effect = sandbox::fault_status{.status = wire::status::etmpfail, .context = {}};
        return busy;
    }

    std::uint64_t busy_ = 0;
    std::uint64_t cut_ = 0;
    std::size_t closed_ = 0;
};

class error_map_phase final : public phase {
public:
    std::string_view name() const noexcept override { return "corrupt error map"; }
    void begin(stage& on) override {
        is_corrupt_ = false;
        wire::error_map_entry entry;
        entry.code = mapped_code;
        entry.name = "DEMO_BUSY";
        entry.description = "only the error map explains it";
        entry.attributes = {wire::error_attribute::temp, wire::error_attribute::retry_later};
        on.with([&](sandbox::cluster& cluster) {
            cluster.error_codes().put(entry);
            reconnect(on, cluster);
            cluster.faults().add(unknown_status());
        });
        on.note = "a status that only the error map explains is retried";
    }
    void tick(stage& on, double progress) override {
        if (is_corrupt_ || progress < 0.5) {
            return;
        }
        is_corrupt_ = true;
        on.with([&](sandbox::cluster& cluster) {
            // Without a map the status would be reported as unknown, which is correct but not the
            // point here.
            cluster.faults().clear();
            for (const auto node : cluster.topology().nodes()) {
                on.check(cluster.disturbances().set_error_map_corruption(node, true));
            }
            reconnect(on, cluster);
        });
        on.note = "every node sends half a map: clients reconnect without it";
    }
    void end(stage& on) override {
        on.with([&](sandbox::cluster& cluster) {
            cluster.faults().clear();
            for (const auto node : cluster.topology().nodes()) {
                on.check(cluster.disturbances().set_error_map_corruption(node, false));
            }
            on.check(cluster.error_codes().drop(mapped_code));
        });
    }

private:
    [[nodiscard]] static sandbox::fault_rule unknown_status() {
        sandbox::fault_rule rule;
        rule.ops = {wire::opcode::get, wire::opcode::set};
        rule.when.skip = 200;  // connections that are about to close do not have the code yet
        rule.when.probability = 0.05;
        rule.effect = sandbox::fault_status{
            .status = std::bit_cast<wire::status>(mapped_code), .context = {}};
        return rule;
    }
    // Clients read the map when they connect.
    static void reconnect(stage& on, sandbox::cluster& cluster) {
        for (const auto node : cluster.topology().nodes()) {
            on.check(cluster.topology().restart(node, sandbox::restart_kind::with_data));
        }
    }

    bool is_corrupt_ = false;
};

class collection_phase final : public phase {
public:
    std::string_view name() const noexcept override { return "collection recreated"; }
    void begin(stage&) override { done_ = 0; }
    void tick(stage& on, double progress) override {
        constexpr double times = 4;
        if (progress * times < static_cast<double>(done_)) {
            return;
        }
        ++done_;
        on.with([&](sandbox::cluster& cluster) {
            on.check(cluster.buckets().recreate_collection(bucket_name, scope_name, scratch_name));
            on.writes.forget_documents(scratch_prefix);
        });
        on.note =
            fmt::format("{}.{} dropped and recreated {} times", scope_name, scratch_name, done_);
    }

private:
    std::size_t done_ = 0;
};

}  // namespace

std::unique_ptr<phase> make_lock_phase() {
    return std::make_unique<lock_phase>();
}
std::unique_ptr<phase> make_pressure_phase() {
    return std::make_unique<pressure_phase>();
}
std::unique_ptr<phase> make_error_map_phase() {
    return std::make_unique<error_map_phase>();
}
std::unique_ptr<phase> make_collection_phase() {
    return std::make_unique<collection_phase>();
}

std::vector<scheduled_phase> make_demo_phases() {
    std::vector<scheduled_phase> phases;
    phases.push_back({make_steady_phase("steady"), 1});
    phases.push_back({make_rebalance_phase(), 2});
    phases.push_back({make_node_loss_phase(), 2});
    phases.push_back({make_lock_phase(), 1});
    phases.push_back({make_collection_phase(), 1});
    phases.push_back({make_error_map_phase(), 1});
    phases.push_back({make_pressure_phase(), 1.5});
    phases.push_back({make_services_phase(), 1.5});
    phases.push_back({make_steady_phase("quiet end"), 1});
    return phases;
}

}  // namespace reprise::demo
