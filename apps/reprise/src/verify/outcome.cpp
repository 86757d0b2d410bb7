#include "verify/outcome.hpp"

#include <algorithm>
#include <initializer_list>

namespace reprise::app {

namespace {

using couchbase::errc;

[[nodiscard]] bool is_one_of(const couchbase::error& failure, std::initializer_list<errc> codes) {
    return std::ranges::any_of(
        codes, [&](errc each) { return failure.code() == make_error_code(each); });
}

}  // namespace

std::string_view to_string(check_state state) noexcept {
    switch (state) {
        case check_state::ok:
            return "ok";
        case check_state::skipped:
            return "skipped";
        case check_state::failed:
            break;
    }
    return "FAILED";
}

check_outcome passed(std::string detail) {
    return {check_state::ok, std::move(detail)};
}

check_outcome failed(std::string detail) {
    return {check_state::failed, std::move(detail)};
}

check_outcome skipped(std::string reason) {
    return {check_state::skipped, std::move(reason)};
}

check_outcome judge(const couchbase::error& failure) {
    if (is_one_of(
            failure, {errc::unsupported_operation, errc::feature_not_available,
                      errc::durability_impossible, errc::durability_level_not_available,
                      errc::service_not_available, errc::plain_http_not_allowed})) {
        return {check_state::skipped, failure.code().message(), failure};
    }
    // The first line is the summary; the report has the attempts.
    const std::string text = failure.message();
    return {check_state::failed, text.substr(0, text.find('\n')), failure};
}

check_outcome judge_privileged(const couchbase::error& failure) {
    check_outcome outcome = judge(failure);
    if (is_one_of(failure, {errc::authentication_failure})) {
        outcome.state = check_state::skipped;
        outcome.detail = "the user may not do this";
    }
    return outcome;
}

}  // namespace reprise::app
