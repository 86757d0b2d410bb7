#include "verify/session.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace reprise::app {

namespace {

using couchbase::errc;
using couchbase::ping_state;
using namespace std::chrono_literals;

// A document may still be locked; its lock ends within this time.
constexpr auto remove_timeout = 11s;

[[nodiscard]] kv_access with_log(kv_access access, const std::shared_ptr<decision_watch>& log) {
    access.client.log = log;
    return access;
}

}  // namespace

bool decision_watch::wait_for(couchbase::retry_reason reason, std::chrono::milliseconds time_max) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time_max, [&] { return seen_.contains(reason); });
}

void decision_watch::forget() {
    const std::lock_guard lock(mutex_);
    seen_ = {};
}

void decision_watch::on_decision(
    couchbase::log_level level, const couchbase::decision_record& record) noexcept {
    if (record.is_retried) {
        const std::lock_guard lock(mutex_);
        seen_.insert(record.reason);
        changed_.notify_all();
    }
    if (next_) {
        next_->on_decision(level, record);
    }
}

void decision_watch::on_message(couchbase::log_level level, std::string_view text) noexcept {
    if (next_) {
        next_->on_message(level, text);
    }
}

verify_session::verify_session(
    kv_access access, const std::string& scope, const std::string& collection, std::string prefix)
    : decisions_(std::make_shared<decision_watch>(access.client.log)),
      access_(with_log(std::move(access), decisions_)),
      cluster_(connect(access_)),
      scope_(scope),
      collection_(collection),
      documents_(documents_of(cluster_)),
      prefix_(std::move(prefix)) {}

std::string verify_session::key(std::string_view name) {
    std::string key = prefix_ + std::string(name);
    remove_later(key);
    return key;
}

void verify_session::remove_later(const std::string& key) {
    undo_later("document " + key, [this, key]() -> std::expected<void, couchbase::error> {
        const auto removed = documents_.remove(key, {.timeout = remove_timeout});
        if (!removed && removed.error().code() != make_error_code(errc::document_not_found)) {
            return std::unexpected(removed.error());
        }
        return {};
    });
}

void verify_session::undo_later(std::string what, undo_action action) {
    undos_.push_back({std::move(what), std::move(action)});
}

std::vector<std::string> verify_session::clean_up() {
    std::vector<std::string> left;
    while (!undos_.empty()) {
        undo_entry last = std::move(undos_.back());
        undos_.pop_back();
        if (!last.action()) {
            left.push_back(std::move(last.what));
        }
    }
    return left;
}

void verify_session::require(couchbase::service_kind service) {
    if (!services_) {
        services_ = need(bucket().ping({.timeout = 5s}));
    }
    const couchbase::service_ping* worst = nullptr;
    for (const couchbase::service_ping& each : services_->services) {
        if (each.service != service) {
            continue;
        }
        if (each.state == ping_state::ok) {
            return;
        }
        worst = &each;
    }
    if (worst == nullptr || worst->state == ping_state::not_offered) {
        throw check_end{skipped(fmt::format("no node offers {}", to_string(service)))};
    }
    throw check_end{judge(*worst->failure)};
}

couchbase::collection verify_session::documents_of(const couchbase::cluster& client) const {
    return client.bucket(access_.bucket).scope(scope_).collection(collection_);
}

std::string verify_session::keyspace() const {
    return fmt::format("`{}`.`{}`.`{}`", access_.bucket, scope_, collection_);
}

std::string verify_session::name(std::string_view what) const {
    std::string name = prefix_ + std::string(what);
    std::ranges::replace(name, '-', '_');
    return name;
}

}  // namespace reprise::app
