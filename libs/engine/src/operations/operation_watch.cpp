#include "operations/operation_watch.hpp"

namespace reprise::engine {

operation_identity operation_watch::identity_of(const operation_names& which) const noexcept {
    return {
        context_.client_number, which.id.value, wire::facts_of(which.service).report_name,
        which.operation};
}

std::string_view operation_watch::name_of(std::int32_t endpoint) const noexcept {
    return endpoint < 0 ? std::string_view() : std::string_view(endpoints_[endpoint].name);
}

void operation_watch::on_start(
    const operation_names& which, std::string_view bucket,
    const std::any* user_data) const noexcept {
    const operation_start record{identity_of(which), bucket, user_data};
    for (const auto& observer : context_.options.operation_observers) {
        observer->on_start(record);
    }
}

void operation_watch::on_attempt(
    const operation_names& which, const operation_base& operation,
    const sent_attempt& sent) const noexcept {
    const operation_attempt record{
        .which = identity_of(which),
        .retries = operation.progress.retries(),
        .endpoint = name_of(operation.endpoint),
        .connection = sent.connection,
        .opaque = sent.opaque,
        .is_idempotent = sent.is_idempotent,
        .is_continued = sent.is_continued,
        .sent = sent.at};
    for (const auto& observer : context_.options.operation_observers) {
        observer->on_attempt(record);
    }
}

void operation_watch::on_decision(
    const operation_names& which, const decision_record& record) const noexcept {
    const operation_identity identity = identity_of(which);
    for (const auto& observer : context_.options.operation_observers) {
        observer->on_decision(identity, record);
    }
}

void operation_watch::on_end(
    const operation_names& which, const operation_base& operation, std::error_code error,
    time_point now) const noexcept {
    operation_end record;
    record.which = identity_of(which);
    record.error = error;
    record.retries = operation.progress.retries();
    record.last_reason = operation.last_reason;
    record.ended = now;
    record.total_time = now - operation.started;
    record.endpoint = name_of(operation.endpoint);
    for (const auto& observer : context_.options.operation_observers) {
        observer->on_end(record);
    }
}

}  // namespace reprise::engine
