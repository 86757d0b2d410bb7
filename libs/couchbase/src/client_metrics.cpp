#include <algorithm>
#include <utility>

#include <reprise/couchbase/ready_observers.hpp>

#include "slow_operations.hpp"

namespace reprise::couchbase {

namespace {

void add_one(std::atomic<std::uint64_t>& counter) noexcept {
    counter.fetch_add(1, std::memory_order_relaxed);
}

[[nodiscard]] std::uint64_t load(const std::atomic<std::uint64_t>& counter) noexcept {
    return counter.load(std::memory_order_relaxed);
}

/// Adds to the counter of an enumerator; values outside the enumeration are ignored.
template <class Enum, std::size_t Count>
void add_one(std::array<std::atomic<std::uint64_t>, Count>& counters, Enum which) noexcept {
    if (const auto index = static_cast<std::size_t>(which); index < Count) {
        add_one(counters[index]);
    }
}

/// Samples of the counters that are not zero, each labelled with its enumerator's name.
template <class Enum, std::size_t Count>
void write_reasons(
    reprise::driver::prometheus_text& out, std::string_view name,
    const std::array<std::atomic<std::uint64_t>, Count>& counters) {
    for (std::size_t index = 0; index < Count; ++index) {
        if (const std::uint64_t count = load(counters[index]); count != 0) {
            const std::string_view reason = to_string(static_cast<Enum>(index));
            out.sample(name, reprise::driver::prometheus_text::label_of("reason", reason), count);
        }
    }
}

/// The value of the label `service`.
[[nodiscard]] std::string_view label_of(std::size_t index) noexcept {
    return index < detail::used_services.size() ? detail::used_services[index].report_name
                                                : "other";
}

}  // namespace

client_metrics::client_metrics(slow_operation_options slow) {
    if (slow.report) {
        slow_ = std::make_unique<detail::slow_operations>(std::move(slow));
    }
}

client_metrics::~client_metrics() {
    flush_slow_operations();
}

std::size_t client_metrics::index_of(std::string_view service) noexcept {
    const auto* const found =
        std::ranges::find(detail::used_services, service, &detail::used_service::report_name);
    return static_cast<std::size_t>(found - detail::used_services.begin());
}

void client_metrics::on_decision(
    const operation_identity& /*which*/, const decision_record& record) noexcept {
    if (record.is_retried) {
        add_one(retries_, record.reason);
    } else {
        add_one(refusals_, record.refusal);
    }
}

void client_metrics::on_end(const operation_end& record) noexcept {
    service_counters& of = by_service_[index_of(record.which.service)];
    add_one(record.error ? of.failures : of.successes);
    of.times.record(record.total_time);
    if (slow_) {
        slow_->on_end(record);
    }
}

void client_metrics::on_orphan(const orphan_record& /*record*/) noexcept {
    add_one(orphans_);
}

std::uint64_t client_metrics::successes(std::string_view service) const noexcept {
    return load(by_service_[index_of(service)].successes);
}

std::uint64_t client_metrics::failures(std::string_view service) const noexcept {
    return load(by_service_[index_of(service)].failures);
}

std::uint64_t client_metrics::retries(retry_reason reason) const noexcept {
    const auto index = static_cast<std::size_t>(reason);
    return index < retries_.size() ? load(retries_[index]) : 0;
}

std::uint64_t client_metrics::orphans() const noexcept {
    return load(orphans_);
}

std::string client_metrics::to_prometheus(const driver::prometheus_options& options) const {
    using text = reprise::driver::prometheus_text;
    text out(options);
    const auto for_each_used = [&](auto&& write) {
        for (std::size_t index = 0; index < by_service_.size(); ++index) {
            const service_counters& of = by_service_[index];
            if (load(of.successes) + load(of.failures) != 0) {
                write(text::label_of("service", label_of(index)), of);
            }
        }
    };
    out.family("operations_total", "counter", "Operations that have ended.");
    for_each_used([&](const std::string& label, const service_counters& of) {
        out.sample("operations_total", label + ",outcome=\"success\"", load(of.successes));
        out.sample("operations_total", label + ",outcome=\"failure\"", load(of.failures));
    });
    out.family("retries_total", "counter", "Retries, by the reason for them.");
    write_reasons<retry_reason>(out, "retries_total", retries_);
    out.family("refusals_total", "counter", "Retries that were refused, by reason.");
    write_reasons<refusal_reason>(out, "refusals_total", refusals_);
    out.family("orphans_total", "counter", "Answers to requests that had already ended.");
    out.sample("orphans_total", "", orphans());
    out.family(
        "operation_duration_seconds", "histogram",
        "Time of an operation with all attempts and waits.");
    for_each_used([&](const std::string& label, const service_counters& of) {
        out.histogram("operation_duration_seconds", label, of.times);
    });
    return out.take();
}

void client_metrics::flush_slow_operations() {
    if (slow_) {
        slow_->flush();
    }
}

}  // namespace reprise::couchbase
