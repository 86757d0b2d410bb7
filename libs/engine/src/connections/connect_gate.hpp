#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <reprise/retry/time.hpp>

#include "intrusive_list.hpp"

namespace reprise::engine {

// How urgently a connection is needed.
enum class connect_need : std::uint8_t {
    later,  // no operation waits yet
    now,    // operations wait for it
};

// The base class of everything that opens connections: key-value links and pools of HTTP
// connections.
class connect_request : public list_hook {
public:
    enum class kind : std::uint8_t { link, pool };
    explicit connect_request(kind given) noexcept : kind_(given) {}
    [[nodiscard]] kind what() const noexcept { return kind_; }

private:
    kind kind_;
};

// Opens connections for the requests of one kind.
class connect_starter {
public:
    virtual ~connect_starter() = default;
    // Opens one connection for a request that was admitted. Returns false if it cannot or need not.
    virtual bool begin_connect(connect_request& request, time_point now) = 0;
};

// Limits how many connections are being opened at once, however many nodes a configuration names.
// Connections that operations wait for are opened first. The others leave a quarter of the places
// free, so that dead nodes without traffic do not delay the operations of others.
//
//     ask -> admit: begin_connect of the starter -> end_opening (it is open, or has failed)
//
class connect_gate {
public:
    // `place_count` is at least 1.
    explicit connect_gate(std::size_t place_count) noexcept
        : place_count_(place_count), later_count_max_(place_count - place_count / 4) {}

    // Sets what opens connections for requests of this kind. Call it once, before the first
    // `admit`.
    void set_starter(connect_request::kind kind, connect_starter& starter) noexcept {
        starters_[static_cast<std::size_t>(kind)] = &starter;
    }

    // Queues the request. A request that is queued already moves only if it has become more urgent.
    void ask(connect_request& request, connect_need need) noexcept;
    // Has no effect if the request is not queued.
    void withdraw(connect_request& request) noexcept;
    // Starts as many queued connections as there are free places.
    void admit(time_point now);
    // Frees the place of a connection that has opened or failed, and clears its flag. Has no effect
    // if the flag is not set.
    void end_opening(bool& is_opening, time_point now);
    // Removes the next request from the queue and takes a place for it. Null if the queue is empty
    // or no place is free.
    [[nodiscard]] connect_request* enter() noexcept;
    void leave() noexcept;
    // Empties the queue.
    void clear() noexcept;

    [[nodiscard]] bool is_queued(const connect_request& request) const noexcept {
        return request.list() != nullptr;
    }
    [[nodiscard]] std::size_t taken_count() const noexcept { return taken_count_; }

private:
    std::size_t place_count_;
    std::size_t later_count_max_;
    std::size_t taken_count_ = 0;
    std::array<connect_starter*, 2> starters_{};
    intrusive_list<connect_request> needed_now_;
    intrusive_list<connect_request> needed_later_;
};

}  // namespace reprise::engine
