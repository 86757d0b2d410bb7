#pragma once

/// The checks of `reprise verify`: what a cluster must do for this client to keep its promises.
/// They touch nothing but documents of their own.

#include <cstdint>
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
    skipped,  // this server or bucket does not have it
};

struct check_outcome {
    check_state state = check_state::ok;
    std::string detail{};
};

/// What the checks share. Every key comes from `key`, so that all of them are known to `clean_up`.
class verify_session {
public:
    verify_session(
        kv_access access, couchbase::cluster cluster, couchbase::collection documents,
        std::string prefix)
        : access_(std::move(access)),
          cluster_(std::move(cluster)),
          documents_(std::move(documents)),
          prefix_(std::move(prefix)) {}

    /// A key that no other program has, under the prefix of this run.
    [[nodiscard]] std::string key(std::string_view name);
    /// Removes every document of this run; gives the number of those that could not be.
    std::size_t clean_up();

    [[nodiscard]] const kv_access& access() const noexcept { return access_; }
    [[nodiscard]] const couchbase::cluster& cluster() const noexcept { return cluster_; }
    [[nodiscard]] const couchbase::collection& documents() const noexcept { return documents_; }
    [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }

private:
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

/// In the order in which they are to be run. Those of connecting come first: without them the
/// others make no sense.
[[nodiscard]] std::span<const verify_check> connection_checks() noexcept;
[[nodiscard]] std::span<const verify_check> document_checks() noexcept;
[[nodiscard]] std::span<const verify_check> retry_checks() noexcept;

/// The building blocks of outcomes.
[[nodiscard]] check_outcome passed(std::string detail = {});
[[nodiscard]] check_outcome failed(std::string detail);
/// Skipped if the error says that the server does not have it, otherwise failed.
[[nodiscard]] check_outcome judge(const couchbase::error& failure);
/// Passed if `result` is this very error, told before a second has passed.
template <class Result>
[[nodiscard]] check_outcome expect_error(
    const std::expected<Result, couchbase::error>& result, couchbase::errc wanted,
    std::chrono::steady_clock::duration took) {
    if (result) {
        return failed(std::string("succeeded, expected ") + std::string(to_string(wanted)));
    }
    if (result.error().code() != make_error_code(wanted)) {
        return judge(result.error());
    }
    if (took > std::chrono::seconds{1}) {
        return failed("told late");
    }
    return passed(std::string(to_string(wanted)));
}

}  // namespace reprise::app
