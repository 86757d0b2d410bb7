#pragma once

/// An answer of the service that takes virtual time and can be canceled.

#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <reprise/testing/virtual_clock.hpp>

#include "crew.hpp"
#include "world.hpp"

namespace reprise::feature_pairs {

template <class Handler>
class slow_answer : public std::enable_shared_from_this<slow_answer<Handler>> {
public:
    slow_answer(
        world& w, std::size_t level, asio::io_context& io, const attempt_script& script,
        Handler handler)
        : world_(w), level_(level), io_(io), script_(script), handler_(std::move(handler)) {}

    void start(testing::virtual_clock& clock) {
        started_ = clock.now();
        auto self = this->shared_from_this();
        auto slot = asio::get_associated_cancellation_slot(*handler_);
        can_be_canceled_ = slot.is_connected() && !script_.ignores_cancellation;
        if (can_be_canceled_) {
            slot.assign([&w = world_, &clock, weak = std::weak_ptr(self),
                         over = is_over_](asio::cancellation_type_t type) {
                w.on_attempt_signal(static_cast<std::uint32_t>(type), *over);
                if (auto step = weak.lock()) {
                    step->cancel(clock, static_cast<std::uint32_t>(type));
                }
            });
        }
        clock.after(script_.time, [self] { self->end(false); });
    }

private:
    void cancel(testing::virtual_clock& clock, std::uint32_t type) {
        has_callers_signal_ = has_callers_signal_ || std::has_single_bit(type);
        if ((type & script_.heeds) == 0) {
            return;
        }
        if (script_.late_by == duration::zero()) {
            end(true);
        } else {
            clock.after(script_.late_by, [self = this->shared_from_this()] { self->end(false); });
        }
    }

    void end(bool is_cut) {
        if (!handler_) {
            return;
        }
        if (can_be_canceled_ && !has_callers_signal_) {
            world_.on_end_without_signal(started_);
        }
        const reply ended = world_.answer(script_, is_cut);
        world_.finish(level_, ended);
        const auto place = asio::get_associated_executor(*handler_, io_.get_executor());
        auto call = [handler = std::move(*handler_), ended, over = is_over_]() mutable {
            *over = true;
            std::move(handler)(ended);
        };
        handler_.reset();
        // Other handlers may be called from any thread.
        if (can_be_canceled_ || world_.plan().has(feature::coroutine)) {
            asio::post(place, std::move(call));
        } else {
            asio::post(io_, std::move(call));
        }
    }

    world& world_;
    std::size_t level_;
    asio::io_context& io_;
    const attempt_script& script_;
    std::optional<Handler> handler_;
    std::shared_ptr<bool> is_over_ = std::make_shared<bool>(false);
    time_point started_{};
    bool can_be_canceled_ = false;
    bool has_callers_signal_ = false;  // The loop's own signals are of all types at once.
};

}  // namespace reprise::feature_pairs
