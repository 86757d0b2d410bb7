#pragma once

#include <cstddef>
#include <cstdint>

#include "intrusive_list.hpp"

namespace reprise::engine {

// How near the need for a connection is.
enum class connect_need : std::uint8_t {
    later,  // nobody waits; it shall be there when somebody comes
    now,    // operations wait for it
};

// Something that opens connections: a key-value link or a pool of HTTP connections, which
// derive from it.
class connect_wish : public list_hook<connect_wish> {
public:
    enum class kind : std::uint8_t { link, pool };
    explicit connect_wish(kind given) noexcept : kind_(given) {}
    [[nodiscard]] kind what() const noexcept { return kind_; }

private:
    kind kind_;
};

// Paces connecting: so many connections are being opened at once and no more, whatever a
// configuration names. Those that operations wait for come first; the others leave a quarter of the
// places free for them, so that dead nodes that nobody needs hold up nobody.
//
//     ask -> enter (has a place; opens one connection) -> leave (it is open, or has failed)
//
class connect_gate {
public:
    // `place_count` is at least 1.
    explicit connect_gate(std::size_t place_count) noexcept
        : place_count_(place_count), later_count_max_(place_count - place_count / 4) {}

    // Queues the wish; one that is queued already moves only if its need has come nearer.
    void ask(connect_wish& wish, connect_need need) noexcept;
    // No effect if it is not queued.
    void withdraw(connect_wish& wish) noexcept;
    // Whose turn it is: it leaves the queue with a place. Null: nobody's.
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
    intrusive_list<connect_wish> needed_now_;
    intrusive_list<connect_wish> needed_later_;
};

}  // namespace reprise::engine
