#include <charconv>
#include <string>

#include <reprise/couchbase/ready_observers.hpp>

namespace reprise::couchbase {

namespace {

/// "host:port" or "[address]:port" as OpenTelemetry defines it: an address without brackets.
void set_server(retry_tracer::span& span, std::string_view endpoint) noexcept {
    const std::size_t colon = endpoint.rfind(':');
    if (colon == std::string_view::npos) {
        return;
    }
    std::string_view address = endpoint.substr(0, colon);
    if (address.starts_with('[') && address.ends_with(']')) {
        address = address.substr(1, address.size() - 2);
    }
    span.set_attribute("server.address", address);
    const std::string_view digits = endpoint.substr(colon + 1);
    std::int64_t port = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (read.ec == std::errc() && read.ptr == digits.data() + digits.size()) {
        span.set_attribute("server.port", port);
    }
}

/// The span that the caller put into the operation's options.
[[nodiscard]] retry_tracer::span* parent_of(const operation_start& record) noexcept {
    if (record.user_data == nullptr) {
        return nullptr;
    }
    if (const auto* lent = std::any_cast<retry_tracer::span*>(record.user_data)) {
        return *lent;
    }
    const auto* const shared = std::any_cast<std::shared_ptr<retry_tracer::span>>(record.user_data);
    return shared == nullptr ? nullptr : shared->get();
}

}  // namespace

operation_tracing::operation_tracing(std::shared_ptr<retry_tracer> tracer) noexcept
    : tracer_(std::move(tracer)) {}
operation_tracing::~operation_tracing() = default;

operation_tracing::open_operation* operation_tracing::find(const operation_identity& which) {
    const auto found = open_.find({which.client, which.id});
    return found == open_.end() ? nullptr : &found->second;
}

void operation_tracing::on_start(const operation_start& record) noexcept {
    std::string name(record.which.operation);
    if (!record.bucket.empty()) {
        name.append(" ").append(record.bucket);
    }
    const std::scoped_lock lock(mutex_);
    auto span = tracer_->start_span(name, parent_of(record));
    if (span == nullptr) {
        return;
    }
    span->set_attribute("db.system.name", std::string_view("couchbase"));
    span->set_attribute("db.operation.name", record.which.operation);
    span->set_attribute("reprise.couchbase.service", record.which.service);
    if (!record.bucket.empty()) {
        span->set_attribute("db.namespace", record.bucket);
    }
    open_[{record.which.client, record.which.id}].span = std::move(span);
}

void operation_tracing::on_attempt(const operation_attempt& record) noexcept {
    const std::scoped_lock lock(mutex_);
    open_operation* const operation = find(record.which);
    if (operation == nullptr) {
        return;
    }
    if (record.is_continued) {
        if (operation->attempt != nullptr) {
            set_server(*operation->attempt, record.endpoint);  // may be another one
        }
        return;
    }
    ++operation->attempts;
    operation->attempt = tracer_->start_span(trace_names::attempt_span, operation->span.get());
    if (operation->attempt != nullptr) {
        operation->attempt->set_attribute(
            trace_names::attempt_number, std::int64_t{record.retries} + 1);
        set_server(*operation->attempt, record.endpoint);
    }
}

void operation_tracing::on_decision(
    const operation_identity& which, const decision_record& record) noexcept {
    const std::scoped_lock lock(mutex_);
    open_operation* const operation = find(which);
    if (operation == nullptr || operation->attempt == nullptr) {
        return;
    }
    operation->attempt->set_attribute(trace_names::error_type, to_string(record.reason));
    operation->attempt->end(true);
    operation->attempt.reset();
}

void operation_tracing::on_end(const operation_end& record) noexcept {
    const std::scoped_lock lock(mutex_);
    const auto found = open_.find({record.which.client, record.which.id});
    if (found == open_.end()) {
        return;
    }
    open_operation& operation = found->second;
    const bool is_error = static_cast<bool>(record.error);
    const std::string type = is_error ? record.error.message() : std::string();
    if (operation.attempt != nullptr) {
        if (is_error) {
            operation.attempt->set_attribute(trace_names::error_type, std::string_view(type));
        }
        operation.attempt->end(is_error);
    }
    operation.span->set_attribute(trace_names::attempt_count, operation.attempts);
    if (is_error) {
        operation.span->set_attribute(trace_names::error_type, std::string_view(type));
    }
    operation.span->end(is_error);
    open_.erase(found);
}

}  // namespace reprise::couchbase
