#pragma once

/// An answer of the service that takes virtual time and can be canceled.

#include <memory>
#include <optional>
#include <utility>

#include <reprise/asio/detail/library.hpp>
#include <reprise/testing/virtual_clock.hpp>

#include "world.hpp"

namespace reprise::feature_pairs {

namespace asio = detail::asio;

template <class Handler>
class slow_answer : public std::enable_shared_from_this<slow_answer<Handler>> {
public:
    slow_answer(
        world& w, std::size_t level, asio::io_context& io, const attempt_script& script,
        Handler handler)
        : world_(w), level_(level), io_(io), script_(script), handler_(std::move(handler)) {}

    void start(testing::virtual_clock& clock) {
        auto self = this->shared_from_this();
        auto slot = asio::get_associated_cancellation_slot(*handler_);
        if (slot.is_connected() && !script_.ignores_cancellation) {
            slot.assign([weak = std::weak_ptr(self)](asio::cancellation_type_t) {
                if (auto step = weak.lock()) {
                    step->end(true);
                }
            });
        }
        clock.after(script_.time, [self] { self->end(false); });
    }

private:
    void end(bool is_cut) {
        if (!handler_) {
            return;
        }
        const reply ended = world_.answer(script_, is_cut);
        world_.finish(level_, ended);
        asio::post(
            io_, [handler = std::move(*handler_), ended]() mutable { std::move(handler)(ended); });
        handler_.reset();
    }

    world& world_;
    std::size_t level_;
    asio::io_context& io_;
    const attempt_script& script_;
    std::optional<Handler> handler_;
};

}  // namespace reprise::feature_pairs
