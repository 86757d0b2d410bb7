#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <reprise/retry/time.hpp>

#include "intrusive_list.hpp"

namespace reprise::engine {

// How near the need for a connection is.
enum class connect_need : std::uint8_t {
    later,  // nobody waits; it shall be there when somebody comes
    now,    // operations wait for it
};

// Something that opens connections: a key-value link or a pool of HTTP connections, which
// derive from it.
class connect_wish : public list_hook {
public:
    enum class kind : std::uint8_t { link, pool };
    explicit connect_wish(kind given) noexcept : kind_(given) {}
    [[nodiscard]] kind what() const noexcept { return kind_; }

private:
    kind kind_;
};

// Opens connections for the wishes of one kind.
class connect_starter {
public:
    virtual ~connect_starter() = default;
    // The wish has a place at the gate: open one connection. False: not now, or not needed.
    virtual bool begin_connect(connect_wish& wish, time_point now) = 0;
};

// Paces connecting: so many connections are being opened at once and no more, whatever a
// configuration names. Those that operations wait for come first; the others leave a quarter of the
// places free for them, so that dead nodes that nobody needs hold up nobody.
//
//     ask -> admit: begin_connect of the starter -> end_opening (it is open, or has failed)
//
class connect_gate {
public:
    // `place_count` is at least 1.
    explicit connect_gate(std::size_t place_count) noexcept
        : place_count_(place_count), later_count_max_(place_count - place_count / 4) {}

    // Who opens connections for wishes of this kind. Set once, before the first `admit`.
    void set_starter(connect_wish::kind kind, connect_starter& starter) noexcept {
        starters_[static_cast<std::size_t>(kind)] = &starter;
    }

    // Queues the wish; one that is queued already moves only if its need has come nearer.
    void ask(connect_wish& wish, connect_need need) noexcept;
    // No effect if it is not queued.
    void withdraw(connect_wish& wish) noexcept;
    // Everyone for whom there is a place begins to connect.
    void admit(time_point now);
    // The connection with this flag is open, or has failed: its place is free. Without effect if
    // the flag says that it has none.
    void end_opening(bool& is_opening, time_point now);
    // The next wish leaves the queue with a place. Null: there is none, or no place.
    [[nodiscard]] connect_wish* enter() noexcept;
    void leave() noexcept;
    // Nobody waits any more.
    void clear() noexcept;

    [[nodiscard]] bool is_queued(const connect_wish& wish) const noexcept {
        return wish.list() != nullptr;
    }
    [[nodiscard]] std::size_t taken_count() const noexcept { return taken_count_; }

private:
    std::size_t place_count_;
    std::size_t later_count_max_;
    std::size_t taken_count_ = 0;
    std::array<connect_starter*, 2> starters_{};
    intrusive_list<connect_wish> needed_now_;
    intrusive_list<connect_wish> needed_later_;
};

}  // namespace reprise::engine
