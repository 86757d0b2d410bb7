#pragma once

#include <chrono>
#include <expected>
#include <string>

#include <reprise/json/value.hpp>
#include <reprise/sandbox/cluster.hpp>

namespace reprise::sandbox {

/// Functions of the owner of sockets and clock, for some commands. A simulation has neither
/// and passes none. Called during handle_control, on the same thread.
class control_front {
public:
    /// Opens the ports of a new node, then adds it. The error is a message for people.
    virtual std::expected<node_id, std::string> add_node() = 0;
    /// Steps the rebalance that has just begun, once every `interval`, until it is over.
    virtual void run_rebalance(std::chrono::milliseconds interval) = 0;

protected:
    ~control_front() = default;
};

// The remote control of a cluster: one JSON object in, one out; the transport and who may use it
// are the front's business. `command` selects the command; unknown members are errors, so that a
// misspelt option is never silently ignored. docs/sandbox_control.md lists the commands. Answers
// have "ok":true and the command's members, or "ok":false and "error". Never throws on input.
json::value handle_control(
    cluster& cluster, const json::value& request, control_front* front = nullptr);

}  // namespace reprise::sandbox
