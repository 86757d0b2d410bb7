#include <cstdlib>
#include <utility>

#include <reprise/retry/circuit_breaker.hpp>
#include <reprise/retry/outcome.hpp>

namespace reprise {

circuit_breaker::circuit_breaker(
    const options& chosen, failure_predicate counts, state_listener on_change)
    : fsm_(detail::checked(chosen)), counts_(std::move(counts)), on_change_(std::move(on_change)) {}

driver::breaker_permit circuit_breaker::try_acquire(time_point now) noexcept {
    if (state() == circuit_state::closed) {
        return driver::breaker_permit::regular();
    }
    const std::lock_guard lock(mutex_);
    const circuit_state before = fsm_.state();
    if (before == circuit_state::closed) {
        return driver::breaker_permit::regular();
    }
    const bool is_probe = fsm_.on_due(now);
    publish(before);
    return is_probe ? driver::breaker_permit::probe(++probe_number_)
                    : driver::breaker_permit::refused();
}

bool circuit_breaker::would_allow(time_point when) const noexcept {
    if (state() == circuit_state::closed) {
        return true;
    }
    const std::lock_guard lock(mutex_);
    const std::optional<time_point> due = fsm_.next_due();
    return !due || (*due <= when && fsm_.state() == circuit_state::open);
}

void circuit_breaker::on_success(driver::breaker_permit permit, time_point now) noexcept {
    conclude(permit, false, now);
}

void circuit_breaker::on_failure(
    driver::breaker_permit permit, const failure_facts& facts, time_point now) noexcept {
    const bool counts = detail::result_or(
        true, [&] { return counts_ ? counts_(facts) : facts.fault != failure_fault::client; });
    conclude(permit, counts, now);
}

void circuit_breaker::on_canceled(driver::breaker_permit permit, time_point now) noexcept {
    if (permit.is_probe()) {
        conclude(permit, true, now);
    }
}

void circuit_breaker::conclude(
    driver::breaker_permit permit, bool has_failed, time_point now) noexcept {
    const std::lock_guard lock(mutex_);
    const circuit_state before = fsm_.state();
    if (permit.is_regular()) {
        fsm_.on_outcome(has_failed, now);
    } else if (
        before == circuit_state::half_open &&
        permit == driver::breaker_permit::probe(probe_number_)) {
        if (has_failed) {
            fsm_.on_probe_lost(now);
        } else {
            fsm_.close();
        }
    }
    publish(before);
}

void detail::throw_circuit_open() {
#if defined(__cpp_exceptions)
    throw retry_error(retry_errc::circuit_open);
#else
    std::abort();  // Not called: such loops make the attempt.
#endif
}

void circuit_breaker::publish(circuit_state before) noexcept {
    const circuit_state after = fsm_.state();
    if (after == before) {
        return;
    }
    state_.store(after, std::memory_order_relaxed);
    if (on_change_) {
        on_change_(before, after);
    }
}

}  // namespace reprise
