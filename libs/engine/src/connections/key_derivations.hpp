#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <reprise/engine/driver_action.hpp>
#include <reprise/engine/ids.hpp>
#include <reprise/wire/scram.hpp>

namespace reprise::engine {

// Keys that logins need: known, being derived, and waiting to be. Connections that need the same
// key share one derivation; two are under way at most, so that servers cannot occupy a machine.
//
//     find -> known
//          -> want -> begin: derive_key_action -> on_derived: who waited
//
class key_derivations {
public:
    static constexpr std::size_t running_count_max = 2;
    // Different keys that are wanted at once.
    static constexpr std::size_t wanted_count_max = 1024;

    [[nodiscard]] std::optional<std::string> find(const wire::key_derivation& wanted) {
        return known_.find(wanted);
    }
    // False: too many are wanted already.
    [[nodiscard]] bool want(const wire::key_derivation& wanted, connection_id by);
    // It waits no longer. What has not begun, and nobody waits for, never begins.
    void forget(connection_id by);
    // Appends what may begin now, the first wanted first.
    void begin(action_list& out);
    // Remembers the key unless it is empty; says who waited for it. An unknown id: nobody.
    [[nodiscard]] std::vector<connection_id> on_derived(
        derivation_id derivation, const std::string& key);

private:
    struct job {
        derivation_id id{};
        wire::key_derivation wanted{};
        std::vector<connection_id> waiting{};
        bool is_running = false;
    };

    std::vector<job> jobs_;  // in the order in which they were wanted
    std::size_t running_count_ = 0;
    std::uint64_t id_last_ = 0;
    wire::salted_password_cache known_;
};

}  // namespace reprise::engine
