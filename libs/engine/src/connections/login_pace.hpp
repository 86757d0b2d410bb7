#pragma once

#include <optional>
#include <utility>

#include <reprise/retry/time.hpp>

namespace reprise::engine {

// Limits how often the client logs in to one server. A server that accepts a proof of the password
// without giving its own collects material for guessing the password with every login. Until it
// proves that it knows the password, it gets only one login per pause.
class login_pace {
public:
    static constexpr duration pause = std::chrono::seconds{10};

    // Empty if a login may start now. Otherwise the time at which to ask again. After a pause one
    // login is allowed, and the next pause starts.
    [[nodiscard]] std::optional<time_point> try_begin(time_point now) noexcept {
        if (!next_) {
            return std::nullopt;
        }
        if (now < *next_) {
            return next_;
        }
        on_unproved(now);
        return std::nullopt;
    }
    void on_unproved(time_point now) noexcept { next_ = add_saturated(now, pause); }
    // Returns whether logins had to wait.
    bool on_proved() noexcept { return std::exchange(next_, std::nullopt).has_value(); }

private:
    std::optional<time_point> next_;  // empty: logins need not wait
};

}  // namespace reprise::engine
