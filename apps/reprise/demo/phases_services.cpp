#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <reprise/sandbox/services.hpp>

#include "phases.hpp"

namespace reprise::demo {

namespace {

using wire::service;

[[nodiscard]] sandbox::service_fault_rule share_of(
    service of, double probability, sandbox::service_fault_effect effect) {
    sandbox::service_fault_rule rule;
    rule.service = of;
    rule.when.probability = probability;
    rule.effect = std::move(effect);
    return rule;
}

// The permanent rules of the services: each fails in the way that its clients can retry.
[[nodiscard]] std::array<sandbox::service_fault_rule, 5> busy_rules() {
    sandbox::service_fault_answer busy;
    busy.status = 503;
    busy.headers = {{"Retry-After", "1"}};
    busy.body = R"({"errors":[{"code":1201,"msg":"queue full","retry":true}],"status":"errors"})";
    sandbox::service_fault_answer no_analytics;
    no_analytics.status = 503;
    no_analytics.body =
        R"({"errors":[{"code":23000,"msg":"temporarily unavailable"}],"status":"fatal"})";
    sandbox::service_fault_answer too_many;
    too_many.status = 429;
    too_many.body = R"({"error":"too many requests","status":"fail"})";
    return {
        share_of(service::query, 0.005, busy), share_of(service::analytics, 0.2, no_analytics),
        share_of(service::search, 0.2, too_many),
        share_of(service::views, 0.2, sandbox::service_fault_redirect{302, "/elsewhere"}),
        share_of(service::management, 0.2, sandbox::fault_close_after{})};
}

// The fate of the answer to one change, in rotation. In all cases but the redirect, the result is
// ambiguous for the client; the second closes before the change was carried out.
[[nodiscard]] sandbox::service_fault_effect cut_effect(std::size_t round) {
    switch (round % 6) {
        case 0:
            return sandbox::service_fault_close_mid_body{10};
        case 1:
            return sandbox::fault_close_before{};
        case 2:
            return sandbox::fault_close_after{};
        case 3:
            return sandbox::service_fault_wrong_length{7};
        case 4:
            return sandbox::service_fault_close_after_headers{};
        default:
            return sandbox::service_fault_redirect{302, "/elsewhere"};
    }
}

[[nodiscard]] sandbox::service_fault_rule once(sandbox::service_fault_effect effect) {
    sandbox::service_fault_rule rule;
    rule.service = service::query;
    rule.when.limit = 1;
    rule.effect = std::move(effect);
    return rule;
}

class services_phase final : public phase {
public:
    std::string_view name() const noexcept override { return "services"; }
    void begin(stage&) override { cuts_ = 0; }
    void tick(stage& on, double progress) override {
        const double wanted = progress * std::max(12.0, 3 * on.length.count());
        if (static_cast<double>(cuts_) > wanted) {
            return;
        }
        sandbox::service_fault_rule change = once(cut_effect(cuts_));
        change.context_pattern = std::string(statement_prefix) + "*";
        sandbox::service_fault_rule read = once(sandbox::service_fault_close_mid_body{20});
        read.statement_pattern = "SELECT*";
        ++cuts_;
        on.with([&](sandbox::cluster& cluster) {
            auto& services = cluster.services();
            services.forget_prepared();
            services.faults().clear();
            // The first matching rule decides, so these must precede the others.
            services.faults().add(change);
            services.faults().add(read);
            for (const auto& rule : busy_rules()) {
                services.faults().add(rule);
            }
        });
        on.note = fmt::format(
            "503, 429 and redirects; prepared statements forgotten and two answers cut off {} "
            "times",
            cuts_);
    }
    void end(stage& on) override {
        on.with([](sandbox::cluster& cluster) { cluster.services().faults().clear(); });
    }

private:
    std::size_t cuts_ = 0;
};

}  // namespace

std::unique_ptr<phase> make_services_phase() {
    return std::make_unique<services_phase>();
}

}  // namespace reprise::demo
