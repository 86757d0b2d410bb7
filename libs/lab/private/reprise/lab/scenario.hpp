#pragma once

/// Scenarios: a model and the retry settings to compare in it, from files that people write. The
/// format is described in docs/guide/lab.md.
/// ```
///     const auto read = reprise::lab::read_scenario(text);
///     if (!read) {
///         fail(to_string(read.error()));  // "line 7: services[0].nodes: must be between ..."
///     }
///     const reprise::lab::comparison compared = reprise::lab::compare(*read);
/// ```

#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/lab/model.hpp>
#include <reprise/lab/run.hpp>
#include <reprise/retry_json/strategy_from_json.hpp>

namespace reprise::lab {

/// Retry settings with a name, to be compared with others in the same model.
struct strategy_choice {
    std::string name;  ///< As shown in reports.
    retry_options retries{};
    /// Services use these settings for their own calls, too. Otherwise only clients do.
    bool is_in_every_layer = false;
};

struct scenario {
    std::string name;  ///< Of the file or the gallery's entry; may be empty.
    std::string title = "A scenario";
    std::string summary{};  ///< What happens and what to look at; may be empty.
    lab::model model{};
    std::vector<strategy_choice> strategies{};  ///< 1 to 8.
};

/// The model with a strategy in place of the clients' retries (or all layers'). Timeouts and
/// deadlines that the strategy leaves open stay as they are in the model.
[[nodiscard]] model with_strategy(const scenario& in, const strategy_choice& choice);

/// A problem in a scenario's text; its line is 0 if it is in an override.
using scenario_error = retry_json::text_error;

/// Replaces one value of a file before it is read: {"clients.count", "1000"}. A value that is not
/// JSON is taken as a string, so "500ms" needs no quotes.
struct scenario_override {
    std::string path;
    std::string value;
};

/// Reads a scenario; never throws on bad input. Text above 1 MB is refused.
[[nodiscard]] std::expected<scenario, scenario_error> read_scenario(
    std::string_view text, std::span<const scenario_override> overrides = {});

/// One result for each strategy, with the same arrivals.
struct strategy_result {
    strategy_choice strategy;
    run_result result;
};
struct comparison {
    lab::scenario scenario;
    std::vector<strategy_result> results;
};

/// Runs all strategies one after the other. Throws `invalid_settings` for a model that `check`
/// rejects.
[[nodiscard]] comparison compare(const scenario& asked);

/// A scenario that comes with the lab.
struct gallery_entry {
    std::string_view name;  ///< As typed on the command line.
    std::string_view text;  ///< The commented file.
};

/// In the order in which to read them.
[[nodiscard]] std::span<const gallery_entry> gallery();

/// Returns null if there is no entry with that name.
[[nodiscard]] const gallery_entry* find_gallery_entry(std::string_view name);

/// A small commented file to start from.
[[nodiscard]] std::string_view new_scenario();

}  // namespace reprise::lab
