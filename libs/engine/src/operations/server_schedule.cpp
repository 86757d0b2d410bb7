#include "operations/server_schedule.hpp"

namespace reprise::engine {
namespace {

server_backoff backoff_of(wire::retry_spec_kind kind) noexcept {
    switch (kind) {
        case wire::retry_spec_kind::constant:
            return server_backoff::constant;
        case wire::retry_spec_kind::linear:
            return server_backoff::linear;
        case wire::retry_spec_kind::exponential:
            return server_backoff::exponential;
    }
    return server_backoff::constant;
}

}  // namespace

std::optional<server_retry_rule> server_schedule::on_failure(
    std::uint16_t status, const wire::retry_spec* spec, time_point now) noexcept {
    if (status != status_) {
        *this = {};
        status_ = status;
        first_failure_ = now;
        planned_ = now;
    }
    if (spec == nullptr) {
        return std::nullopt;
    }
    server_retry_rule rule;
    rule.kind = backoff_of(spec->kind);
    rule.interval = spec->interval;
    rule.after = spec->after;
    rule.ceil = spec->ceil;
    rule.floor = spec->floor;
    rule.max_duration = spec->max_duration;
    rule.retries = retries_;
    rule.first_failure = first_failure_;
    rule.due = driver::add_saturated(planned_, spec->delay(retries_));
    planned_ = rule.due;
    ++retries_;
    return rule;
}

}  // namespace reprise::engine
