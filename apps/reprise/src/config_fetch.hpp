#pragma once

/// What a cluster says of itself: its configuration through the client, its error map by a short
/// conversation of our own (the client does not show it).

#include <string>

#include <reprise/wire/cluster_configuration.hpp>

#include "kv_access.hpp"

namespace reprise::app {

/// The configuration of a bucket once the client has it. Throws `failure` with the client's error.
[[nodiscard]] wire::cluster_configuration_ptr fetch_configuration(const kv_access& access);

/// The text of the first seed's error map, inflated. Throws `failure`.
[[nodiscard]] std::string fetch_error_map(const kv_access& access);

}  // namespace reprise::app
