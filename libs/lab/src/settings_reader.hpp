#pragma once

/// Reads the retry settings of one layer from JSON. Everything about the format of settings is
/// here and in `settings_reader.cpp` and `foreign_settings.cpp`; scenarios only call it.

#include <reprise/lab/retry_options.hpp>

#include "object_reader.hpp"

namespace reprise::lab::detail {

/// Accepts the name of a preset, an object of this library, a gRPC service config (or one of its
/// policies), or an Envoy retry policy. The result has been checked.
[[nodiscard]] retry_options read_retries(
    const json::value& content, const json_path& path, reading_problem& problem);

/// Whether an object is a gRPC service config, or has its `retryPolicy`, `hedgingPolicy` or
/// `retryThrottling`.
[[nodiscard]] bool is_grpc_config(const json::value& content);
[[nodiscard]] retry_options read_grpc_config(
    const json::value& content, const json_path& path, reading_problem& problem);

/// Whether an object is an Envoy `retry_policy`, or contains one.
[[nodiscard]] bool is_envoy_policy(const json::value& content);
[[nodiscard]] retry_options read_envoy_policy(
    const json::value& content, const json_path& path, reading_problem& problem);

}  // namespace reprise::lab::detail
