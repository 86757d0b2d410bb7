#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <reprise/wire/cluster_configuration.hpp>

namespace reprise::engine {

// Something that one loop of a client found out and that concerns the others.
struct loop_note {
    enum class subject : std::uint8_t {
        terminal_states,   // some flag of `terminal_states` was set or cleared
        configuration,     // a newer configuration of the bucket `name`
        breaker_closed,    // requests may go to the endpoint `name` again
        logins_held_back,  // the endpoint `name` gave no proof: pending logins to it end
        logins_allowed,    // the endpoint `name` gave it: logins no longer wait
        credentials,       // they were replaced
        derivation_ended,  // another key may be derived
    };
    subject what{};
    std::string name{};
    wire::cluster_configuration_ptr configuration{};
};

// Carries notes between the loops of one client. Any thread may post; each loop takes its own. A
// client with one loop never stores a note.
class loop_notes {
public:
    explicit loop_notes(std::size_t loop_count);

    [[nodiscard]] std::size_t loop_count() const noexcept { return boxes_.size(); }
    // For every loop except `from`. Calls their hooks.
    void post(std::size_t from, const loop_note& note);
    // The notes since the last call, in the order in which they were posted.
    [[nodiscard]] std::vector<loop_note> take(std::size_t loop);
    // `hook` is called on the thread of the loop that posts, until `close` of this loop returns.
    void set_hook(std::size_t loop, std::function<void()> hook);
    // Drops this loop's notes, further ones, and its hook.
    void close(std::size_t loop) noexcept;

private:
    struct box {
        std::mutex mutex;
        std::vector<loop_note> notes;
        std::function<void()> hook;
        bool is_closed = false;
    };
    std::vector<std::unique_ptr<box>> boxes_;
};

}  // namespace reprise::engine
