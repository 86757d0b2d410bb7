#pragma once

/// Fetches what a cluster publishes about itself: the configuration through the client, the error
/// map through a short conversation (the client does not expose it).

#include <string>

#include <reprise/wire/cluster_configuration.hpp>

#include "kv_access.hpp"

namespace reprise::app {

/// Returns the configuration of a bucket once the client has it. Throws `operation_failure`.
[[nodiscard]] wire::cluster_configuration_ptr fetch_configuration(const kv_access& access);

/// Returns the text of the first seed's error map, uncompressed. From name resolution to the last
/// byte it takes no longer than the timeout of `access` (10 s by default). Throws `failure`; the
/// program is expected to end after that.
[[nodiscard]] std::string fetch_error_map(const kv_access& access);

}  // namespace reprise::app
