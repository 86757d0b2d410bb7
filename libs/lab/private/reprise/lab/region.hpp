#pragma once

/// The safe region: up to which load a system recovers from its trouble, for several values of one
/// setting.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/lab/scenario.hpp>

namespace reprise::lab {

/// The setting that varies, for the clients.
enum class region_axis : std::uint8_t {
    attempts,  ///< `attempts_max`
    timeout,   ///< `attempt_timeout`, in seconds
    bucket,    ///< Capacity of the bucket, in units; needs a budget with a bucket.
};

/// "attempts"
[[nodiscard]] std::string_view to_string(region_axis axis) noexcept;

struct region_point {
    double value = 0.0;           ///< Of the setting.
    double recovers_up_to = 0.0;  ///< Requests per second; 0: not even at the lowest load tried.
    /// Requests per second; absent: it recovers at the highest load tried.
    std::optional<double> stays_down_from{};
    std::uint32_t runs = 0;
};

struct region {
    region_axis axis = region_axis::attempts;
    double load_max = 0.0;  ///< The highest load tried: what the first service can process.
    std::vector<region_point> points;
};

/// Values to try if nobody chose any.
[[nodiscard]] std::vector<double> usual_values(const model& asked, region_axis axis);

/// Why this axis does not apply to the model, or nothing. Needs open arrivals, a capacity of the
/// first service, and trouble to recover from.
[[nodiscard]] std::optional<driver::settings_error> check_region(
    const model& asked, region_axis axis, double value);

/// Finds the edge between recovering and staying down by bisection, to 1 % of `load_max`. `asked`
/// contains the strategy (`with_strategy`). Recovery must become less likely with load, as it does
/// unless the model is unusual. Returns nothing if `monitor` stops it.
[[nodiscard]] std::optional<region_point> find_edge(
    const model& asked, region_axis axis, double value, const run_monitor& monitor = {});

/// Returns an aligned table. It ends with a newline.
[[nodiscard]] std::string to_table(const region& found, const model& asked);
[[nodiscard]] std::string to_json(
    const region& found, const scenario& about, const strategy_choice& choice,
    std::string_view command);
/// Returns a self-contained HTML file with the map.
[[nodiscard]] std::string to_html(
    const region& found, const scenario& about, const strategy_choice& choice,
    std::string_view command);

}  // namespace reprise::lab
