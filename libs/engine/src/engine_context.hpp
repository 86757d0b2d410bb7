#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>

#include <reprise/base/printable.hpp>
#include <reprise/base/timer_wheel.hpp>
#include <reprise/engine/client_engine.hpp>
#include <reprise/retry/random_generator.hpp>

#include "client_state.hpp"
#include "connections/connect_gate.hpp"
#include "operations/operation_history.hpp"

namespace reprise::engine {

// Data that all parts of one loop share. It decides nothing and outlives all parts. What the loops
// of a client share is in `client`.
struct engine_context {
    engine_context(client_state& shared, randomness source, time_point now)
        : client(shared),
          options(shared.options),
          loop(shared.joined_count++),
          random(source.seed),
          entropy(std::move(source.entropy)),
          client_number(random.next()),
          wheel(now),
          gate(share_of(options.connecting_count_max)),
          connection_last(loop + 1 - shared.notes.loop_count()) {
        entropy(std::as_writable_bytes(std::span(&client_number, 1)));
        if (std::uint64_t none = 0;
            !shared.client_number.compare_exchange_strong(none, client_number)) {
            client_number = none;  // that of the first loop
        }
    }
    engine_context(const engine_context&) = delete;
    engine_context& operator=(const engine_context&) = delete;

    client_state& client;
    const engine_options& options;  // the client's
    const std::size_t loop;         // its number among the client's loops
    random_generator random;
    std::function<bool(std::span<std::byte>)> entropy;
    std::uint64_t client_number;  // the client's
    bool is_closed = false;
    base::timer_wheel wheel;
    history_blocks histories;
    action_list actions;
    connect_gate gate;
    engine_statistics counters;
    std::uint64_t connection_last;

    // No other loop of the client has this id.
    [[nodiscard]] connection_id next_connection() noexcept {
        return connection_id{connection_last += client.notes.loop_count()};
    }
    // This loop's part of a limit that loops cannot share, at least 1.
    [[nodiscard]] std::size_t share_of(std::size_t limit) const noexcept {
        const std::size_t loops = client.notes.loop_count();
        return std::max<std::size_t>(1, limit / loops + (loop < limit % loops ? 1 : 0));
    }
    void tell_others(const loop_note& note) const { client.notes.post(loop, note); }
    void log(log_level level, std::string_view text) const {
        if (options.log) {
            options.log->on_message(level, base::printable(text));
        }
    }
};

}  // namespace reprise::engine
