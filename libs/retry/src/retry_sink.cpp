#include <utility>

#include <reprise/retry/driver/retry_question.hpp>

#include "failure_line.hpp"

namespace reprise::driver {

namespace {

constexpr const char* dropped_text = "dropped without an answer";

}  // namespace

answer_channel::~answer_channel() = default;

deferred_answer::deferred_answer(
    std::shared_ptr<answer_channel> channel, decision_ticket ticket) noexcept
    : channel_(std::move(channel)), ticket_(ticket) {}

deferred_answer& deferred_answer::operator=(deferred_answer&& other) noexcept {
    if (this != &other) {
        if (channel_ != nullptr) {
            fail(detail::text_or_empty(dropped_text));
        }
        channel_ = std::move(other.channel_);
        ticket_ = other.ticket_;
    }
    return *this;
}

deferred_answer::~deferred_answer() {
    if (channel_ != nullptr) {
        fail(detail::text_or_empty(dropped_text));
    }
}

void deferred_answer::answer(retry_action action) noexcept {
    if (const auto channel = std::exchange(channel_, nullptr)) {
        channel->post(ticket_, action, {});
    }
}

void deferred_answer::fail(std::string cause) noexcept {
    if (const auto channel = std::exchange(channel_, nullptr)) {
        channel->post(ticket_, std::nullopt, std::move(cause));
    }
}

void retry_sink::answer(const retry_action& action) noexcept {
    if (state_ == state::open) {
        action_ = action;
        state_ = state::answered;
    }
}

void retry_sink::fail(std::string cause) noexcept {
    if (state_ == state::open) {
        cause_ = std::move(cause);
        state_ = state::failed;
    }
}

void retry_sink::on_exception(std::string cause) noexcept {
    action_.reset();
    cause_ = std::move(cause);
    state_ = state::failed;
}

deferred_answer retry_sink::defer() {
    if (state_ != state::open) {
        return {};
    }
    if (make_channel_ == nullptr) {
        fail("answered later, but this caller cannot wait");
        return {};
    }
    std::shared_ptr<answer_channel> channel = make_channel_(driver_);
    state_ = state::deferred;
    return {std::move(channel), ticket_};
}

}  // namespace reprise::driver
