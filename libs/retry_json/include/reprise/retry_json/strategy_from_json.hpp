#pragma once

/// Strategies from files: a gRPC service config, an Envoy retry policy, the name of a preset, or an
/// object with the members of `retry_options`. The lab reads settings with the same reader, so the
/// file that was simulated is the file that runs.
/// ```
///     const auto loaded = reprise::strategy_from_json(text);
///     if (!loaded) {
///         std::cerr << to_string(loaded.error()) << '\n';  // "line 4: ...: did you mean ..."
///         return 1;
///     }
///     ...
///     reprise::retry(*loaded->strategy, ...);
/// ```

#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/retry/call_options.hpp>
#include <reprise/retry/composed_strategy.hpp>
#include <reprise/retry_json/detail/configured_policies.hpp>
#include <reprise/retry_json/retry_options.hpp>
#include <reprise/retry_json/text_error.hpp>

namespace reprise {

/// A strategy whose backoff, budget and breaker come from options. Like `standard_strategy`, create
/// one for each service, keep it, and share it between threads.
using configured_strategy = composed_strategy<
    stated_safety, retry_json::detail::configured_backoff, retry_json::detail::configured_budget,
    driver::shared_parts>;

/// Throws `invalid_settings` for options that `check` rejects.
[[nodiscard]] std::unique_ptr<configured_strategy> make_strategy(
    const retry_json::retry_options& options, const safety_options& safety = {});

/// The content of a file.
struct loaded_strategy {
    std::shared_ptr<configured_strategy> strategy;
    /// The settings that were read. A strategy does not hedge; if `options.hedge` is set, pass its
    /// delay to `hedged` (`<reprise/asio/hedge.hpp>`).
    retry_json::retry_options options;
    /// Paths of members that were accepted and have no effect on the strategy: for example
    /// `retryableStatusCodes`, since the facts of a failure decide what is retried. Log them.
    std::vector<std::string> without_effect;

    /// Options for a call: the file's deadline and its timeout for one attempt.
    [[nodiscard]] call_options call() const;
};

/// Reads a strategy from JSON, in which comments are accepted; never throws on bad input. All
/// problems are reported, up to 100, each with its line and path. Unknown members and text above
/// 1 MB are problems. `safety` decides about failures without facts.
[[nodiscard]] std::expected<loaded_strategy, std::vector<retry_json::text_error>>
strategy_from_json(std::string_view text, const safety_options& safety = {});

namespace retry_json {

/// Reads the settings without creating a strategy.
[[nodiscard]] std::expected<retry_options, std::vector<text_error>> read_retry_options(
    std::string_view text);

}  // namespace retry_json

}  // namespace reprise
