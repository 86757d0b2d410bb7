#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <reprise/engine/client_engine.hpp>

namespace reprise::sim {

// The loops of one client: an engine each, with what its driver keeps for it.
class sim_loops {
public:
    // `on_wake` is called when something arrives for the engine from elsewhere.
    void add(std::unique_ptr<engine::client_engine> made, const std::function<void()>& on_wake);
    [[nodiscard]] std::size_t size() const noexcept { return loops_.size(); }

    [[nodiscard]] engine::client_engine& operator[](std::size_t loop) noexcept {
        return *loops_[loop]->engine;
    }
    // The loop that requested the connection, and its engine.
    [[nodiscard]] std::size_t number_of(engine::connection_id id) const noexcept {
        return (id.value - 1) % loops_.size();
    }
    [[nodiscard]] engine::client_engine& of(engine::connection_id id) noexcept {
        return (*this)[number_of(id)];
    }
    // The newest one that a loop has: `known` if no loop has a newer one. Null: none.
    [[nodiscard]] const wire::cluster_configuration_ptr& configuration(
        std::string_view bucket, const wire::cluster_configuration_ptr& known = {}) const;
    [[nodiscard]] engine::engine_statistics statistics() const;
    // The earliest time at which a loop needs its timer.
    [[nodiscard]] std::optional<time_point> next_due() const;

    [[nodiscard]] engine::keyspace_id keyspace(std::size_t loop, std::uint8_t collection);
    // The loop's current question to the name service.
    [[nodiscard]] engine::resolution_id& resolution(std::size_t loop) noexcept {
        return loops_[loop]->resolution;
    }

    void on_time(time_point now);
    // Each loop that was woken takes what arrived for it. Returns whether one was.
    [[nodiscard]] bool take_wakes(time_point now);
    void close(time_point now);
    // Destroys the engines.
    void destroy() noexcept;

private:
    struct loop_state {
        std::unique_ptr<engine::client_engine> engine;
        bool is_woken = false;
        engine::resolution_id resolution{};
        std::vector<engine::keyspace_id> keyspaces;
    };
    std::vector<std::unique_ptr<loop_state>> loops_;
};

}  // namespace reprise::sim
