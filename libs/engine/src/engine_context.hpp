#pragma once

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

namespace reprise::engine {

// Data that all parts of one loop share. It decides nothing and outlives all parts. What the loops
// of a client share is in `client`.
struct engine_context {
    engine_context(client_state& shared, randomness source, time_point now)
        : client(shared),
          options(shared.options),
          random(source.seed),
          entropy(std::move(source.entropy)),
          client_number(random.next()),
          wheel(now),
          gate(options.connecting_count_max) {
        entropy(std::as_writable_bytes(std::span(&client_number, 1)));
    }
    engine_context(const engine_context&) = delete;
    engine_context& operator=(const engine_context&) = delete;

    client_state& client;
    const engine_options& options;  // the client's
    random_generator random;
    std::function<bool(std::span<std::byte>)> entropy;
    std::uint64_t client_number;  // sent in HELLO
    bool is_closed = false;
    base::timer_wheel wheel;
    action_list actions;
    connect_gate gate;
    engine_statistics counters;
    std::uint64_t connection_last = 0;

    [[nodiscard]] connection_id next_connection() noexcept {
        return connection_id{++connection_last};
    }
    void log(log_level level, std::string_view text) const {
        if (options.log) {
            options.log->on_message(level, base::printable(text));
        }
    }
};

}  // namespace reprise::engine
