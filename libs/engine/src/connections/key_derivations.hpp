#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <reprise/engine/driver_action.hpp>
#include <reprise/engine/ids.hpp>
#include <reprise/wire/scram.hpp>

#include "limited_places.hpp"

namespace reprise::engine {

// The keys that logins need: known, being derived, or queued. Connections that need the same key
// share one derivation. The places for running derivations are the client's, so that servers cannot
// occupy the machine.
//
//     find -> known
//          -> want -> begin: derive_key_action -> on_derived: the logins that waited
//
class key_derivations {
public:
    // How many different keys may be pending at once.
    static constexpr std::size_t wanted_count_max = 1024;

    explicit key_derivations(limited_places& places) noexcept : places_(places) {}

    [[nodiscard]] std::optional<std::string> find(const wire::key_derivation& wanted) {
        return known_.find(wanted);
    }
    // Returns false if too many keys are pending already.
    [[nodiscard]] bool want(const wire::key_derivation& wanted, connection_id by);
    // The connection no longer needs its key. A queued derivation that no connection needs is
    // dropped.
    void forget(connection_id by);
    // Appends the derivations that may start now: those with the fewest rounds first, so that
    // servers that ask for many do not delay the logins to others, and equal ones in the order in
    // which they were requested.
    void begin(action_list& out);
    // Stores the key unless it is empty. Returns the connections that waited for it; none if the id
    // is unknown.
    [[nodiscard]] std::vector<connection_id> on_derived(
        derivation_id derivation, const std::string& key);

private:
    struct job {
        derivation_id id{};
        wire::key_derivation wanted{};
        std::vector<connection_id> waiting{};
        bool is_running = false;
    };

    limited_places& places_;
    std::vector<job> jobs_;  // in the order in which they were requested
    std::uint64_t id_last_ = 0;
    wire::salted_password_cache known_;
};

}  // namespace reprise::engine
