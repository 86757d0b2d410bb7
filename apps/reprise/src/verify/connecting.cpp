#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <reprise/wire/error_map.hpp>

#include "config_fetch.hpp"
#include "verify/checks.hpp"

namespace reprise::app {

namespace {

using couchbase::errc;
using couchbase::ping_state;
using namespace std::chrono_literals;

constexpr auto ready_timeout = 10s;
constexpr auto ping_time_max = 5s;

check_outcome check_ready(verify_session& session) {
    const auto ready = session.bucket().wait_until_ready(ready_timeout);
    if (!ready) {
        check_outcome outcome = judge(ready.error());
        outcome.state = check_state::failed;
        return outcome;
    }
    return passed(session.access().connection);
}

check_outcome check_configuration(verify_session& session) {
    const auto configuration = fetch_configuration(session.access());
    return passed(fmt::format(
        "{} nodes, {} vbuckets", configuration->nodes().size(), configuration->vbucket_count()));
}

check_outcome check_error_map(verify_session& session) {
    const auto map = wire::parse_error_map(fetch_error_map(session.access()));
    if (!map) {
        return failed(fmt::format("cannot be read: {}", to_string(map.error())));
    }
    return passed(fmt::format(
        "version {}, revision {}, {} codes", map->version(), map->revision(),
        map->entries().size()));
}

// A service that would receive the password in clear text is not asked; that is not its fault.
[[nodiscard]] bool is_at_fault(const couchbase::service_ping& answer) {
    return answer.state != ping_state::ok && answer.state != ping_state::not_offered &&
           !(answer.failure && answer.failure->code() == errc::plain_http_not_allowed);
}

check_outcome judge_ping(const std::expected<couchbase::ping_report, couchbase::error>& report) {
    if (!report) {
        return judge(report.error());
    }
    const auto& answers = report->services;
    if (const auto bad = std::ranges::find_if(answers, is_at_fault); bad != answers.end()) {
        check_outcome outcome = judge(*bad->failure);
        outcome.state = check_state::failed;
        outcome.detail = fmt::format("{}: {}", to_string(bad->service), outcome.detail);
        return outcome;
    }
    return passed(fmt::format(
        "{} answers",
        std::ranges::count(answers, ping_state::ok, &couchbase::service_ping::state)));
}

check_outcome check_cluster_ping(verify_session& session) {
    return judge_ping(session.cluster().ping({.timeout = ping_time_max}));
}

check_outcome check_bucket_ping(verify_session& session) {
    return judge_ping(session.bucket().ping({.timeout = ping_time_max}));
}

constexpr std::array connecting{
    verify_check{"connect and bootstrap", check_ready},
    verify_check{"configuration", check_configuration},
    verify_check{"error map", check_error_map},
    verify_check{"ping of the cluster", check_cluster_ping},
    verify_check{"ping of the bucket", check_bucket_ping},
};

}  // namespace

std::span<const verify_check> connection_checks() noexcept {
    return connecting;
}

}  // namespace reprise::app
