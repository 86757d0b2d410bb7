#pragma once

#include <optional>
#include <utility>

#include <reprise/retry/time.hpp>

namespace reprise::engine {

// When one server may be logged in to. A server that takes a proof of the password and gives none
// collects material for guessing it with every login: it gets one login in a while until it proves
// that it knows the password.
class login_pace {
public:
    static constexpr duration pause = std::chrono::seconds{10};

    // Nothing: a login may begin now. Otherwise the time at which to ask again. After a pause one
    // login gets through, and the next pause begins.
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
    std::optional<time_point> next_;  // absent: nobody has to wait
};

}  // namespace reprise::engine
