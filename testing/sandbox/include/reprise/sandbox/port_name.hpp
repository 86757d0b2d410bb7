#pragma once

#include <string>

#include <reprise/wire/service.hpp>

namespace reprise::sandbox {

/// What the control interface and the ready file call a port: "kv", "kv_tls", "query", ...
[[nodiscard]] std::string port_name(wire::service which, wire::transport over);

}  // namespace reprise::sandbox
