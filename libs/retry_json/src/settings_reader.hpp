#pragma once

/// The formats of others. `settings_reader.cpp` has the one of this library.

#include <reprise/json/object_reader.hpp>
#include <reprise/retry_json/retry_options.hpp>

namespace reprise::retry_json::detail {

/// Whether an object is a gRPC service config, or has its `retryPolicy`, `hedgingPolicy` or
/// `retryThrottling`.
[[nodiscard]] bool is_grpc_config(const json::value& content);
[[nodiscard]] retry_options read_grpc_config(
    const json::value& content, const json::value_path& path, json::reading_report& report);

/// Whether an object is an Envoy `retry_policy`, or contains one.
[[nodiscard]] bool is_envoy_config(const json::value& content);
[[nodiscard]] retry_options read_envoy_config(
    const json::value& content, const json::value_path& path, json::reading_report& report);

}  // namespace reprise::retry_json::detail
