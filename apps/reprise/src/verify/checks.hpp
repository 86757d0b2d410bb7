#pragma once

/// The checks of `reprise verify`: what a cluster must do so that this client keeps its promises.
/// They use only documents of their own.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/couchbase.hpp>

#include "kv_access.hpp"

namespace reprise::app {

enum class check_state : std::uint8_t {
    ok,
    failed,
    skipped,  // this server or bucket does not support it
};

struct check_outcome {
    check_state state = check_state::ok;
    std::string detail{};
};

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

/// What the checks share. `key` creates every key, so that `clean_up` knows them all.
class verify_session {
public:
    /// Throws `usage_error` for options that the client refuses.
    verify_session(
        kv_access access, const std::string& scope, const std::string& collection,
        std::string prefix);

    /// A unique key with the prefix of this run.
    [[nodiscard]] std::string key(std::string_view name);
    /// Removes every document of this run and returns the number of those it could not remove.
    std::size_t clean_up();

    [[nodiscard]] const kv_access& access() const noexcept { return access_; }
    [[nodiscard]] const couchbase::cluster& cluster() const noexcept { return cluster_; }
    [[nodiscard]] const couchbase::collection& documents() const noexcept { return documents_; }
    [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
    [[nodiscard]] decision_watch& decisions() const noexcept { return *decisions_; }

private:
    std::shared_ptr<decision_watch> decisions_;
    kv_access access_;
    couchbase::cluster cluster_;
    couchbase::collection documents_;
    std::string prefix_;
    std::vector<std::string> keys_;
};

struct verify_check {
    std::string_view name;
    check_outcome (*run)(verify_session& session);
};

/// In the order in which they run. Those for connecting are first: without a connection the others
/// make no sense.
[[nodiscard]] std::span<const verify_check> connection_checks() noexcept;
[[nodiscard]] std::span<const verify_check> document_checks() noexcept;
[[nodiscard]] std::span<const verify_check> retry_checks() noexcept;

/// Create outcomes.
[[nodiscard]] check_outcome passed(std::string detail = {});
[[nodiscard]] check_outcome failed(std::string detail);
/// Skipped if the error says that the server does not support it, otherwise failed.
[[nodiscard]] check_outcome judge(const couchbase::error& failure);
/// Passed if `result` failed with exactly this error.
template <class Result>
[[nodiscard]] check_outcome expect_error(
    const std::expected<Result, couchbase::error>& result, couchbase::errc wanted) {
    if (result) {
        return failed(std::string("succeeded, expected ") + std::string(to_string(wanted)));
    }
    if (result.error().code() != make_error_code(wanted)) {
        return judge(result.error());
    }
    return passed(std::string(to_string(wanted)));
}

}  // namespace reprise::app
