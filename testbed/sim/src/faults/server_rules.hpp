#pragma once

#include <optional>

#include <reprise/sandbox/fault_rule.hpp>
#include <reprise/sandbox/ids.hpp>
#include <reprise/sim/scenario.hpp>

// Fault rules of the servers for planned faults. The fault's `detail` determines everything that
// the plan does not name.

namespace reprise::sim {

// For the kinds server_rule, bootstrap_rule and own_rule.
[[nodiscard]] sandbox::fault_rule make_server_rule(
    const planned_fault& fault, sandbox::node_id node);

// The error map counts consecutive answers with one status: another status in between must end the
// count. Returns a rule for that other status, if the error map counts the status of `rule`.
[[nodiscard]] std::optional<sandbox::fault_rule> make_partner_rule(const sandbox::fault_rule& rule);

// During the takeover of a vbucket, neither of its nodes owns it.
[[nodiscard]] sandbox::fault_rule make_takeover_rule();

}  // namespace reprise::sim
