#include <reprise/sim/shrink.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace reprise::sim {

namespace {

// Tries changes of a failing scenario and keeps those that still produce a finding of the same
// checker.
class shrinker {
public:
    shrinker(
        const scenario& plan, std::size_t run_count_max, const std::function<bool()>& should_stop)
        : best_{plan, run_scenario(plan), 1},
          should_stop_(should_stop),
          run_count_max_(run_count_max) {
        if (!best_.report.findings.empty()) {
            wanted_ = best_.report.findings.front().what;
        }
    }

    [[nodiscard]] bool fails() const noexcept { return !best_.report.findings.empty(); }

    // Returns true if the changed scenario still fails in the same way; it is the best one then.
    bool attempt(scenario&& changed) {
        if (should_stop_ && should_stop_()) {
            run_count_max_ = best_.run_count;
        }
        if (best_.run_count >= run_count_max_) {
            return false;
        }
        ++best_.run_count;
        run_report report = run_scenario(changed);
        const bool is_same = std::ranges::any_of(
            report.findings, [this](const finding& each) { return each.what == wanted_; });
        if (is_same) {
            best_.plan = std::move(changed);
            best_.report = std::move(report);
        }
        return is_same;
    }
    // Tries a change on a copy; returns false if it did not help.
    bool attempt_with(const std::function<void(scenario&)>& change) {
        scenario changed = best_.plan;
        change(changed);
        return attempt(std::move(changed));
    }

    // Leaves out ranges of elements: all, halves, quarters, ..., single ones.
    template <class Element>
    void drop(std::vector<Element> scenario::* list) {
        std::size_t size = (best_.plan.*list).size();
        while (size > 0 && best_.run_count < run_count_max_) {
            for (std::size_t first = 0; first < (best_.plan.*list).size();) {
                scenario changed = best_.plan;
                std::vector<Element>& elements = changed.*list;
                const std::size_t last = std::min(first + size, elements.size());
                elements.erase(
                    elements.begin() + static_cast<std::ptrdiff_t>(first),
                    elements.begin() + static_cast<std::ptrdiff_t>(last));
                if (!attempt(std::move(changed))) {
                    first += size;
                }
            }
            size /= 2;
        }
    }

    // Events after the finding do not matter.
    void cut_end() {
        const duration end = best_.report.findings.front().at;
        attempt_with([end](scenario& plan) {
            std::erase_if(plan.operations, [end](const auto& each) { return each.at > end; });
            std::erase_if(plan.calls, [end](const auto& each) { return each.at > end; });
            std::erase_if(plan.faults, [end](const auto& each) { return each.at > end; });
        });
    }
    // The numbers of later clients decrease.
    bool drop_client(std::size_t number) {
        return attempt_with([number](scenario& plan) {
            plan.clients.erase(plan.clients.begin() + static_cast<std::ptrdiff_t>(number));
            const auto is_its = [number](const auto& each) { return each.client == number; };
            std::erase_if(plan.operations, is_its);
            std::erase_if(plan.calls, is_its);
            std::erase_if(plan.faults, is_its);
            const auto move_up = [number](auto& each) {
                if (each.client > number) {
                    --each.client;
                }
            };
            std::ranges::for_each(plan.operations, move_up);
            std::ranges::for_each(plan.calls, move_up);
            std::ranges::for_each(plan.faults, move_up);
        });
    }
    void drop_clients() {
        for (std::size_t number = best_.plan.clients.size(); number > 0; --number) {
            if (best_.plan.clients.size() > 1) {
                drop_client(number - 1);
            }
        }
    }
    void drop_spare_nodes() {
        if (best_.plan.spare_node_count != 0) {
            attempt_with([](scenario& plan) { plan.spare_node_count = 0; });
        }
    }
    void shorten_faults() {
        for (std::size_t index = 0; index < best_.plan.faults.size(); ++index) {
            while (best_.plan.faults[index].length > std::chrono::milliseconds{1} &&
                   attempt_with([index](scenario& plan) { plan.faults[index].length /= 2; })) {
            }
        }
    }
    void simplify_network() {
        attempt_with([](scenario& plan) {
            plan.network.tail = 0;
            plan.network.split = 0;
            plan.network.slow_report = 0;
        });
        attempt_with([](scenario& plan) { plan.network.jitter = duration::zero(); });
        attempt_with([](scenario& plan) { plan.network.send_room = std::size_t{256} * 1024; });
    }
    void simplify_clients() {
        const planned_client usual;
        for (std::size_t index = 0; index < best_.plan.clients.size(); ++index) {
            const auto set = [this, index](auto member, auto value) {
                if (best_.plan.clients[index].*member != value) {
                    attempt_with([&](scenario& plan) { plan.clients[index].*member = value; });
                }
            };
            if (best_.plan.clients[index].breaker) {
                attempt_with([index](scenario& plan) { plan.clients[index].breaker.reset(); });
            }
            set(&planned_client::not_my_vbucket_delay, std::optional<duration>{});
            set(&planned_client::budget_units, 0.0);
            set(&planned_client::srv, srv_answer::honest);
            set(&planned_client::uses_srv, false);
            set(&planned_client::hello_last, false);
            set(&planned_client::has_compression, false);
            set(&planned_client::uses_scram, false);
            set(&planned_client::uses_bearer, false);
            if (!best_.plan.clients[index].uses_bearer) {  // a token needs TLS
                set(&planned_client::uses_tls, false);
            }
            set(&planned_client::loop_count, usual.loop_count);
            set(&planned_client::connections_per_node, usual.connections_per_node);
            set(&planned_client::pipeline_credit, usual.pipeline_credit);
            set(&planned_client::parked_count_max, usual.parked_count_max);
            set(&planned_client::ready_count_max, usual.ready_count_max);
            set(&planned_client::write_size_max, usual.write_size_max);
            set(&planned_client::http_connections_max, usual.http_connections_max);
            set(&planned_client::strategy, strategy_choice::terminal_error);
        }
    }
    void simplify_operations() {
        for (std::size_t index = 0; index < best_.plan.operations.size(); ++index) {
            const auto set = [this, index](auto member, auto value) {
                if (best_.plan.operations[index].*member != value) {
                    attempt_with([&](scenario& plan) { plan.operations[index].*member = value; });
                }
            };
            set(&planned_operation::strategy, std::optional<strategy_choice>{});
            set(&planned_operation::cancel_after, duration::zero());
            set(&planned_operation::timeout, duration::zero());
            set(&planned_operation::durability, std::uint8_t{0});
            set(&planned_operation::collection, std::uint8_t{0});
        }
    }

    void simplify_calls() {
        for (std::size_t index = 0; index < best_.plan.calls.size(); ++index) {
            const auto set = [this, index](auto member, auto value) {
                if (best_.plan.calls[index].*member != value) {
                    attempt_with([&](scenario& plan) { plan.calls[index].*member = value; });
                }
            };
            set(&planned_call::strategy, std::optional<strategy_choice>{});
            set(&planned_call::cancel_after, duration::zero());
            set(&planned_call::timeout, duration::zero());
            set(&planned_call::prepared, prepared_choice::plain);
            set(&planned_call::taking, row_taking::at_end);
            set(&planned_call::rows_room, std::uint32_t{0});
            set(&planned_call::row_count, std::uint32_t{3});
        }
    }

    shrunk_scenario take() { return std::move(best_); }

private:
    shrunk_scenario best_;
    const std::function<bool()>& should_stop_;
    std::size_t run_count_max_;
    checker wanted_{};
};

}  // namespace

shrunk_scenario shrink(
    const scenario& plan, std::size_t run_count_max, const std::function<bool()>& should_stop) {
    shrinker at_work(plan, run_count_max, should_stop);
    if (!at_work.fails()) {
        return at_work.take();
    }
    at_work.cut_end();
    at_work.drop(&scenario::faults);
    at_work.drop(&scenario::operations);
    at_work.drop(&scenario::calls);
    at_work.drop_clients();
    at_work.drop_spare_nodes();
    at_work.shorten_faults();
    at_work.simplify_network();
    at_work.simplify_clients();
    // Usually few are left; simplify them one at a time.
    at_work.simplify_operations();
    at_work.simplify_calls();
    at_work.drop(&scenario::faults);
    return at_work.take();
}

}  // namespace reprise::sim
