#pragma once

/// What a cluster says about itself: its configuration through the client, its error map by a short
/// conversation (the client does not show it).

#include <string>

#include <reprise/wire/cluster_configuration.hpp>

#include "kv_access.hpp"

namespace reprise::app {

/// The configuration of a bucket once the client has it. Throws `operation_failure`.
[[nodiscard]] wire::cluster_configuration_ptr fetch_configuration(const kv_access& access);

/// The text of the first seed's error map, inflated. Everything together, from the name to the last
/// byte, takes no longer than the access' timeout (10 s without one). Throws `failure`, after which
/// the program is expected to end.
[[nodiscard]] std::string fetch_error_map(const kv_access& access);

}  // namespace reprise::app
