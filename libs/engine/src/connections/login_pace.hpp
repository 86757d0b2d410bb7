#pragma once

#include <mutex>
#include <optional>
#include <utility>

#include <reprise/retry/time.hpp>

namespace reprise::engine {

// Limits how often the client logs in to one server. A server that receives a proof of the password
// without giving its own collects material for guessing the password with every login, whatever it
// does next: refuse, close, or answer something else. Until it proves that it knows the password,
// it gets only one login per pause. All loops of a client share it.
class login_pace {
public:
    static constexpr duration pause = std::chrono::seconds{10};

    [[nodiscard]] bool has_to_wait() const noexcept {
        const std::lock_guard lock(mutex_);
        return next_.has_value();
    }
    // Empty if a login may start now. Otherwise the time at which to ask again. After a pause one
    // login is allowed, and the next pause starts.
    [[nodiscard]] std::optional<time_point> try_begin(time_point now) noexcept {
        const std::lock_guard lock(mutex_);
        if (!next_) {
            return std::nullopt;
        }
        if (now < *next_) {
            return next_;
        }
        next_ = driver::add_saturated(now, pause);
        return std::nullopt;
    }
    void on_unproved(time_point now) noexcept {
        const std::lock_guard lock(mutex_);
        hold_back(now);
    }
    // The server refused the credentials, as an honest one does with a wrong password.
    void on_refused(time_point now) noexcept {
        const std::lock_guard lock(mutex_);
        is_refused_ = !next_ || is_refused_;
        next_ = driver::add_saturated(now, pause);
    }
    // The connection ended before the server could answer the proof, as it does when a server
    // restarts. The first such end in a pause does not count.
    void on_lost(time_point now) noexcept {
        const std::lock_guard lock(mutex_);
        if (lost_last_ && now < driver::add_saturated(*lost_last_, pause)) {
            hold_back(now);
        }
        lost_last_ = now;
    }
    // A refusal of the old credentials does not count for the new ones. A server that gave no proof
    // still waits.
    void on_new_credentials() noexcept {
        const std::lock_guard lock(mutex_);
        if (std::exchange(is_refused_, false)) {
            next_.reset();
        }
    }
    // Returns whether logins had to wait.
    bool on_proved() noexcept {
        const std::lock_guard lock(mutex_);
        is_refused_ = false;
        lost_last_.reset();
        return std::exchange(next_, std::nullopt).has_value();
    }

private:
    void hold_back(time_point now) noexcept {
        next_ = driver::add_saturated(now, pause);
        is_refused_ = false;
    }

    mutable std::mutex mutex_;
    std::optional<time_point> next_;       // empty: logins need not wait
    std::optional<time_point> lost_last_;  // when a connection last ended after a proof
    bool is_refused_ = false;              // only because of refusals
};

}  // namespace reprise::engine
