#pragma once

#include <string>

#include <reprise/wire/service.hpp>

namespace reprise::sandbox {

/// The name of a port in the control interface and the ready file: "kv", "kv_tls", "query", ...
[[nodiscard]] std::string port_name(wire::service which, wire::transport over);

}  // namespace reprise::sandbox
