#include "connections/connect_gate.hpp"

#include <utility>

namespace reprise::engine {

void connect_gate::ask(connect_request& request, connect_need need) noexcept {
    if (request.list() == &needed_now_ || (is_queued(request) && need == connect_need::later)) {
        return;
    }
    withdraw(request);
    (need == connect_need::now ? needed_now_ : needed_later_).push_back(request);
}

void connect_gate::withdraw(connect_request& request) noexcept {
    if (request.list() != nullptr) {
        request.list()->erase(request);
    }
}

connect_request* connect_gate::enter() noexcept {
    connect_request* next = nullptr;
    if (taken_count_ < place_count_) {
        next = needed_now_.pop_front();
    }
    if (next == nullptr && taken_count_ < later_count_max_) {
        next = needed_later_.pop_front();
    }
    taken_count_ += next != nullptr ? 1U : 0U;
    return next;
}

void connect_gate::admit(time_point now) {
    while (connect_request* next = enter()) {
        if (!starters_[static_cast<std::size_t>(next->what())]->begin_connect(*next, now)) {
            leave();
        }
    }
}

void connect_gate::end_opening(bool& is_opening, time_point now) {
    if (std::exchange(is_opening, false)) {
        leave();
        admit(now);
    }
}

void connect_gate::leave() noexcept {
    REPRISE_ASSERT(taken_count_ > 0);
    --taken_count_;
}

void connect_gate::clear() noexcept {
    while (needed_now_.pop_front() != nullptr) {
    }
    while (needed_later_.pop_front() != nullptr) {
    }
}

}  // namespace reprise::engine
