#pragma once

#include <chrono>
#include <expected>
#include <string>

#include <reprise/json/value.hpp>

namespace reprise::sandbox {

/// The address of a server's remote control; see server_addresses.
struct control_target {
    std::string url;    // http://127.0.0.1:p/control
    std::string token;  // bearer token
};

/// Sends one command (see sandbox/control.hpp) and waits at most `timeout` for the answer. Fails
/// with the server's message if the answer has "ok":false; also fails if the connection or the
/// token is refused, or if the answer is not JSON. Each call opens a connection.
std::expected<json::value, std::string> call_control(
    const control_target& target, const json::value& command,
    std::chrono::milliseconds timeout = std::chrono::seconds(10));

}  // namespace reprise::sandbox
