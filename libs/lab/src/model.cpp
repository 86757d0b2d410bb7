#include <reprise/lab/model.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

#include <reprise/base/enum_table.hpp>
#include <reprise/lab/slot.hpp>
#include <settings_text.hpp>

namespace reprise::lab {

namespace {

using namespace std::chrono_literals;
using retry_json::detail::invalid_option;
using retry_json::detail::refuse;
using retry_json::detail::under;

[[nodiscard]] bool is_rate(double value) {
    return std::isfinite(value) && value > 0.0 && value <= 10'000'000.0;
}
[[nodiscard]] bool is_share(double value) {
    return value >= 0.0 && value <= 1.0;
}
[[nodiscard]] bool is_within(duration value, duration low, duration high) {
    return value >= low && value <= high;
}

[[nodiscard]] invalid_option check_clients(const client_options& clients) {
    if (clients.count == 0 || clients.count > 1'000'000) {
        return refuse("count", "must be between 1 and 1,000,000");
    }
    const bool is_open = clients.arrivals == arrivals::open;
    if (is_open && !is_rate(clients.requests_per_second)) {
        return refuse("requests_per_second", "must be above 0 and at most 10,000,000");
    }
    if (!is_within(clients.think_time, duration::zero(), 24h)) {
        return refuse("think_time", "must be between 0 and 1 day");
    }
    if (!is_open && !clients.requests_each && clients.think_time < 1ms) {
        return refuse("think_time", "must be at least 1 ms unless requests_each limits the run");
    }
    if (clients.requests_each == 0U) {
        return refuse("requests_each", "must be at least 1");
    }
    if (clients.restart_interval && !is_within(*clients.restart_interval, 1s, 24h)) {
        return refuse("restart_interval", "must be between 1 s and 1 day");
    }
    return under("retries", check(clients.retries));
}

[[nodiscard]] invalid_option check_work(const service_options& service) {
    if (service.capacity_per_second && !is_rate(*service.capacity_per_second)) {
        return refuse("capacity_per_second", "must be above 0 and at most 10,000,000");
    }
    if (!is_within(service.work_mean, duration::zero(), 1h)) {
        return refuse("work_mean", "must be between 0 and 1 h");
    }
    if (service.capacity_per_second && service.work_mean > duration::zero()) {
        return refuse("work_mean", "follows from the capacity; give one of both");
    }
    if (service.concurrency == 0 || service.concurrency > 10'000) {
        return refuse("concurrency", "must be between 1 and 10,000");
    }
    if (service.nodes == 0 || service.nodes > 1'000) {
        return refuse("nodes", "must be between 1 and 1,000");
    }
    if (std::uint64_t{service.nodes} * service.concurrency > 100'000) {
        return refuse("concurrency", "times nodes must be at most 100,000");
    }
    if (service.queue_limit && *service.queue_limit > 10'000'000) {
        return refuse("queue_limit", "must be at most 10,000,000");
    }
    if (service.is_contended_record && (service.capacity_per_second || !service.calls.empty())) {
        return refuse("is_contended_record", "excludes a capacity and calls");
    }
    return std::nullopt;
}

[[nodiscard]] invalid_option check_service(const service_options& service) {
    if (service.name.empty() || service.name.size() > 60) {
        return refuse("name", "must have 1 to 60 characters");
    }
    if (auto error = check_work(service)) {
        return error;
    }
    if (service.shed_after && !is_within(*service.shed_after, duration::zero(), 1h)) {
        return refuse("shed_after", "must be between 0 and 1 h");
    }
    if (!is_share(service.failure_share)) {
        return refuse("failure_share", "must be between 0 and 1");
    }
    if (!is_share(service.slow_share)) {
        return refuse("slow_share", "must be between 0 and 1");
    }
    if (!is_within(service.slow_delay, duration::zero(), 1h)) {
        return refuse("slow_delay", "must be between 0 and 1 h");
    }
    if (!is_within(service.network_delay, duration::zero(), 10s)) {
        return refuse("network_delay", "must be between 0 and 10 s");
    }
    if (!is_within(service.network_jitter, duration::zero(), 10s)) {
        return refuse("network_jitter", "must be between 0 and 10 s");
    }
    for (const call_target& call : service.calls) {
        if (call.count == 0 || call.count > 100) {
            return refuse("calls", "must each be made 1 to 100 times");
        }
    }
    return under("retries", check(service.retries));
}

[[nodiscard]] std::size_t index_of(const model& in, std::string_view name) {
    const auto found = std::ranges::find(in.services, name, &service_options::name);
    return static_cast<std::size_t>(found - in.services.begin());
}

/// Retries without limit and without any delay would never let time advance.
[[nodiscard]] bool never_advances(const retry_options& retries, const service_options& to) {
    const bool has_delay = retries.delays.empty() ? retries.backoff.base > duration::zero() ||
                                                        retries.backoff.step > duration::zero()
                                                  : retries.delays.back() > duration::zero();
    return !retries.attempts_max && !has_delay && to.network_delay == duration::zero();
}

enum class mark : std::uint8_t { unseen, open, done };

/// Follows calls from a service; returns the one that closes a cycle, or the number of services.
[[nodiscard]] std::size_t find_cycle(const model& in, std::size_t from, std::vector<mark>& marks) {
    marks[from] = mark::open;
    for (const call_target& call : in.services[from].calls) {
        const std::size_t to = index_of(in, call.service);
        if (marks[to] == mark::open) {
            return from;
        }
        if (marks[to] == mark::unseen) {
            if (const std::size_t found = find_cycle(in, to, marks); found < in.services.size()) {
                return found;
            }
        }
    }
    marks[from] = mark::done;
    return in.services.size();
}

[[nodiscard]] invalid_option check_services(const model& in) {
    if (in.services.empty() || in.services.size() > 20) {
        return refuse("services", "must be 1 to 20");
    }
    for (std::size_t i = 0; i < in.services.size(); ++i) {
        const service_options& service = in.services[i];
        const std::string path = "services[" + std::to_string(i) + "]";
        if (auto error = check_service(service)) {
            return under(path, std::move(error));
        }
        if (index_of(in, service.name) != i) {
            return refuse(path + ".name", "'" + service.name + "' is used twice");
        }
        for (const call_target& call : service.calls) {
            const std::size_t to = index_of(in, call.service);
            if (to == in.services.size()) {
                return refuse(path + ".calls", "there is no service '" + call.service + "'");
            }
            if (never_advances(service.retries, in.services[to])) {
                return refuse(
                    path + ".retries", "unlimited attempts need a delay or a network delay");
            }
        }
    }
    std::vector<mark> marks(in.services.size(), mark::unseen);
    for (std::size_t i = 0; i < in.services.size(); ++i) {
        const std::size_t found =
            marks[i] == mark::unseen ? find_cycle(in, i, marks) : in.services.size();
        if (found < in.services.size()) {
            return refuse(
                "services[" + std::to_string(found) + "].calls",
                "services call each other in a "
                "cycle");
        }
    }
    return std::nullopt;
}

[[nodiscard]] invalid_option check_trouble(const trouble& what, const model& in) {
    if (!what.service.empty() && index_of(in, what.service) == in.services.size()) {
        return refuse("service", "there is no service '" + what.service + "'");
    }
    if (!is_within(what.start, 2s, 24h)) {
        return refuse("start", "must be between 2 s and 1 day");
    }
    if (what.length <= duration::zero() || what.length > 24h) {
        return refuse("length", "must be above 0 and at most 1 day");
    }
    if (what.start + what.length + 5s > in.length) {
        return refuse("length", "must leave at least 5 s of the run after the trouble");
    }
    if (!(what.factor >= 1.0 && what.factor <= 1000.0)) {
        return refuse("factor", "must be between 1 and 1,000");
    }
    const bool is_loss = what.kind == trouble_kind::capacity_loss;
    if (!is_share(what.share) || (is_loss && what.share >= 1.0)) {
        return refuse("share", is_loss ? "must be between 0 and below 1" : "must be 0 to 1");
    }
    if (!is_within(what.delay, duration::zero(), 1h)) {
        return refuse("delay", "must be between 0 and 1 h");
    }
    if (what.burst > 1'000) {
        return refuse("burst", "must be at most 1,000");
    }
    if (what.kind == trouble_kind::spike && in.clients.arrivals == arrivals::closed) {
        return refuse("kind", "'spike' needs open arrivals");
    }
    return std::nullopt;
}

[[nodiscard]] double attempts_below(const model& in, std::size_t service) {
    double sum = 1.0;
    for (const call_target& call : in.services[service].calls) {
        sum += call.count * attempts_below(in, index_of(in, call.service));
    }
    return sum;
}

}  // namespace

std::string_view to_string(trouble_kind kind) noexcept {
    return base::name_of(kind);
}

double expected_requests(const model& asked) noexcept {
    const client_options& clients = asked.clients;
    const std::chrono::duration<double> length = asked.length;
    double extra = 0.0;
    if (clients.arrivals == arrivals::open) {
        for (const trouble& each : asked.troubles) {
            const std::chrono::duration<double> spike = each.length;
            extra += each.kind == trouble_kind::spike
                         ? clients.requests_per_second * (each.factor - 1.0) * spike.count()
                         : 0.0;
            extra += each.kind == trouble_kind::deploy
                         ? static_cast<double>(clients.count) * each.burst
                         : 0.0;
        }
        return clients.requests_per_second * length.count() + extra;
    }
    const std::chrono::duration<double> pause = clients.think_time;
    const double each = pause.count() > 0.0 ? 1.0 + length.count() / pause.count() : 1e12;
    const double limit = clients.requests_each.value_or(0xffff'ffffU);
    return clients.count * std::min(each, limit);
}

double expected_attempts(const model& asked) {
    return expected_requests(asked) * attempts_below(asked, 0);
}

trouble_window window_of(const model& asked) noexcept {
    if (asked.troubles.empty()) {
        return {};
    }
    duration start = duration::max();
    duration end{};
    for (const trouble& each : asked.troubles) {
        start = std::min(start, each.start);
        end = std::max(end, each.start + each.length);
    }
    return {start, end - start};
}

std::optional<driver::settings_error> check(const model& in) {
    if (in.length <= duration::zero() || in.length > 24h ||
        in.length % slot_length != duration::zero()) {
        return refuse("length", "must be a multiple of 100 ms, above 0 and at most 1 day");
    }
    if (auto error = check_clients(in.clients)) {
        return under("clients", std::move(error));
    }
    if (auto error = check_services(in)) {
        return error;
    }
    if (never_advances(in.clients.retries, in.services.front())) {
        return refuse("clients.retries", "unlimited attempts need a delay or a network delay");
    }
    if (in.troubles.size() > 20) {
        return refuse("troubles", "must be at most 20");
    }
    for (std::size_t i = 0; i < in.troubles.size(); ++i) {
        if (auto error = check_trouble(in.troubles[i], in)) {
            return under("troubles[" + std::to_string(i) + "]", std::move(error));
        }
    }
    if (expected_attempts(in) > requests_per_run_max) {
        return refuse("clients", "would send more than 50 million requests in one run");
    }
    return std::nullopt;
}

}  // namespace reprise::lab
