#pragma once

#include <chrono>
#include <expected>
#include <string>

#include <reprise/json/value.hpp>

namespace reprise::sandbox {

// Where a server's remote control is; see server_addresses.
struct control_target {
    std::string url;    // http://127.0.0.1:p/control
    std::string token;  // bearer token
};

// Sends one command (see sandbox/control.hpp) and waits for the answer, at most `timeout`. An
// answer with "ok":false is an error with the server's words; so are a refused connection, a wrong
// token and an answer that is no JSON. One connection for each call.
std::expected<json::value, std::string> call_control(
    const control_target& target, const json::value& command,
    std::chrono::milliseconds timeout = std::chrono::seconds(10));

}  // namespace reprise::sandbox
