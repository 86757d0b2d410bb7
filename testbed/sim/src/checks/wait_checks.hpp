#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "checks/client_views.hpp"
#include "world/operation_records.hpp"

namespace reprise::sim {

// Not-my-vbucket: a newer map always ends an operation's wait early this many times; after that,
// the client may wait this long if maps closely follow each other.
inline constexpr std::uint32_t hurry_count_free = 3;
inline constexpr duration hurry_distance = std::chrono::milliseconds{100};

// Retries are made neither too early nor too late.
class wait_checks {
public:
    wait_checks(world& owner, const client_views& views);

    // A retry was decided, and waits.
    void begin(const operation_record& record);
    // A strategy has answered later than it was asked.
    void on_late_answer(const operation_record& record);
    // A retry waits as long as planned. Only the end of its cause may wake it earlier.
    void check_not_early(const operation_record& record);
    void after_engine_run(std::uint32_t client, bool is_new_map);

private:
    // An operation that backs off until then.
    struct wait {
        time_point due{};
        std::uint32_t operation = 0;
    };
    // Both lists may contain operations that have ended.
    struct client_waits {
        std::vector<wait> waiting;            // a heap: the earliest first
        std::vector<std::uint32_t> answered;  // operations with deferred answers
    };
    static bool is_later(const wait& left, const wait& right) noexcept {
        return left.due > right.due;
    }

    void check_late_answers(std::uint32_t client);
    // Whether the operation still waits as it did when the entry was made.
    [[nodiscard]] bool is_current(const wait& each) const;
    // Operations that a new map, or a new connection, must have woken.
    void check_wake_ups(std::uint32_t client, bool is_new_map, bool is_new_connection);
    // Whether the first one that still waits should no longer do so. Drops those that have ended.
    [[nodiscard]] bool has_overdue(std::uint32_t client);
    static void drop_first(std::vector<wait>& waiting);

    world& world_;
    const client_views& views_;
    std::vector<client_waits> waits_;  // by client
};

}  // namespace reprise::sim
