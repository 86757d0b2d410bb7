#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include <reprise/retry/driver/retry_strategy.hpp>

#include "failure_line.hpp"

namespace reprise {

driver::retry_strategy::~retry_strategy() = default;

driver::decision driver::retry_strategy::on_start(
    driver::token_state& token, const driver::decision_context&) {
    token = driver::token_state{};
    return {};
}

void driver::retry_strategy::on_success(
    const driver::token_state&, const driver::decision_context&) {}

bool driver::retry_strategy::note_failure(const driver::retry_question&) {
    return false;
}

std::optional<duration> driver::retry_strategy::minimum_wait(
    const driver::retry_question& question) {
    return question.facts.minimum_wait;
}

driver::retry_budget* driver::retry_strategy::paying_budget() noexcept {
    return nullptr;
}

void driver::retry_strategy::ask(
    const driver::retry_question& question, driver::retry_sink& sink) noexcept {
#if defined(__cpp_exceptions)
    try {
        retry_after(question, sink);
    } catch (const std::exception& thrown) {
        sink.on_exception(detail::text_or_empty(thrown.what()));
    } catch (...) {
        sink.on_exception(detail::text_or_empty("threw something other than a std::exception"));
    }
#else
    retry_after(question, sink);
#endif
    if (sink.current() == driver::retry_sink::state::open) {
        sink.fail(detail::text_or_empty("returned without an answer"));
    }
}

driver::decision driver::retry_strategy::guarded_start(
    driver::token_state& token, const driver::decision_context& at) noexcept {
    return detail::result_or(detail::strategy_failed(), [&] { return on_start(token, at); });
}

void driver::retry_strategy::guarded_success(
    const driver::token_state& token, const driver::decision_context& at) noexcept {
    static_cast<void>(detail::result_or(false, [&] {
        on_success(token, at);
        return true;
    }));
}

driver::retry_action detail::ask(
    driver::retry_strategy& strategy, const driver::retry_question& question) noexcept {
    driver::retry_sink sink(nullptr, nullptr);
    strategy.ask(question, sink);
    return sink.action().value_or(driver::retry_action::no(refusal_reason::strategy_failed));
}

std::uint64_t detail::next_issuer_id() noexcept {
    static std::atomic<std::uint64_t> last{0};  // 0 is reserved for "no issuer".
    // Where several plugins have a copy of this library, each counts in a range of its own: the
    // address of its counter distinguishes them.
    const auto range = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&last));
    return (range << 16U) + last.fetch_add(1, std::memory_order_relaxed) + 1;
}

}  // namespace reprise
