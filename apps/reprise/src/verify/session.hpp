#pragma once

/// What the checks of `reprise verify` share.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/couchbase.hpp>

#include "kv_access.hpp"
#include "verify/outcome.hpp"

namespace reprise::app {

/// Records the retry decisions of the client, so that a check can wait for one instead of sleeping.
/// Forwards everything to `next`, which may be null.
class decision_watch final : public couchbase::log_sink {
public:
    explicit decision_watch(std::shared_ptr<couchbase::log_sink> next) : next_(std::move(next)) {}

    /// Returns true once an operation has been retried for `reason` since `forget`; false after
    /// `time_max`.
    [[nodiscard]] bool wait_for(couchbase::retry_reason reason, std::chrono::milliseconds time_max);
    void forget();

private:
    void on_decision(
        couchbase::log_level level, const couchbase::decision_record& record) noexcept override;
    void on_message(couchbase::log_level level, std::string_view text) noexcept override;

    std::shared_ptr<couchbase::log_sink> next_;
    std::mutex mutex_;
    std::condition_variable changed_;
    couchbase::retry_reason_set seen_;
};

/// The client under test and everything that a check creates. A check creates documents under keys
/// from `key`, and registers how everything else is removed before or right after creating it, so
/// that `clean_up` removes it however the check ends.
class verify_session {
public:
    /// Throws `usage_error` for options that the client refuses.
    verify_session(
        kv_access access, const std::string& scope, const std::string& collection,
        std::string prefix);

    /// A unique key with the prefix of this run. `clean_up` removes its document.
    [[nodiscard]] std::string key(std::string_view name);
    /// `clean_up` removes this document, too.
    void remove_later(const std::string& key);
    /// Removes something. "It does not exist" is reported as success.
    using undo_action = std::move_only_function<std::expected<void, couchbase::error>()>;
    /// `clean_up` calls `action`; `what` names the thing in its report.
    void undo_later(std::string what, undo_action action);
    /// Removes what was created since the last call, in reverse order. Returns the names of what it
    /// could not remove.
    std::vector<std::string> clean_up();

    /// Ends the check if no node can be asked for this service.
    void require(couchbase::service_kind service);

    [[nodiscard]] const kv_access& access() const noexcept { return access_; }
    [[nodiscard]] const couchbase::cluster& cluster() const noexcept { return cluster_; }
    [[nodiscard]] const couchbase::collection& documents() const noexcept { return documents_; }
    /// The same collection as another client sees it.
    [[nodiscard]] couchbase::collection documents_of(const couchbase::cluster& client) const;
    [[nodiscard]] couchbase::bucket bucket() const { return cluster_.bucket(access_.bucket); }
    /// The keyspace of `documents` for a statement: its three names, quoted.
    [[nodiscard]] std::string keyspace() const;
    [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
    /// A name for a scope or an index of this run: letters, digits and underscores.
    [[nodiscard]] std::string name(std::string_view what) const;
    [[nodiscard]] decision_watch& decisions() const noexcept { return *decisions_; }

private:
    struct undo_entry {
        std::string what;
        undo_action action;
    };
    std::shared_ptr<decision_watch> decisions_;
    kv_access access_;
    couchbase::cluster cluster_;
    std::string scope_;
    std::string collection_;
    couchbase::collection documents_;
    std::string prefix_;
    std::vector<undo_entry> undos_;
    std::optional<couchbase::ping_report> services_;
};

}  // namespace reprise::app
