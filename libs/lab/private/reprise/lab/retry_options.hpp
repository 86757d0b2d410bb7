#pragma once

/// How one layer retries its calls: the settings that `strategy_from_json` reads.

#include <reprise/retry_json/retry_options.hpp>

namespace reprise::lab {

using retry_json::bucket_options;
using retry_json::budget_options;
using retry_json::find_retry_preset;
using retry_json::hedge_options;
using retry_json::retry_options;
using retry_json::retry_preset;
using retry_json::retry_presets;
using retry_json::sharing;
using retry_json::wake_options;

}  // namespace reprise::lab
