#pragma once

/// A small HTTP server for a page on this machine only.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "interrupt.hpp"

namespace reprise::app {

struct local_request {
    std::string method;
    std::string target;  ///< With its query: "/run", "/?token=..."
    std::string host;
    std::string origin;  ///< Empty if the browser sent none.
    std::string token;   ///< Of the header `X-Reprise-Token`.
    std::string body;
};

struct local_response {
    unsigned status = 200;
    std::string type = "application/json";
    std::string body;
};

/// Accepts only requests of the user who has the link: with the secret, from a browser that opened
/// this server by its own name (other sites can neither read answers nor send requests).
class access_check {
public:
    access_check(std::string token, std::uint16_t port);

    /// The answer to a request that must not be served, or nothing (status 200).
    [[nodiscard]] local_response check(const local_request& request) const;
    [[nodiscard]] std::string link() const;

private:
    std::string token_;
    std::uint16_t port_;
};

/// 128 random bits in hexadecimal.
[[nodiscard]] std::string make_token();

/// Listens on 127.0.0.1 (0: any free port), calls `on_ready` with the port, and answers requests
/// one after the other until a signal arrives. Bodies are at most 1 MB, and a client that sends
/// nothing for ten seconds is disconnected. Throws `failure` if the port is taken.
void serve_locally(
    std::uint16_t port, const interrupt_watch& watch,
    const std::function<void(std::uint16_t)>& on_ready,
    const std::function<local_response(const local_request&)>& answer);

}  // namespace reprise::app
