#include <reprise/lab/lint_report.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include <reprise/json/write.hpp>
#include <reprise/lab/page.hpp>
#include <reprise/lab/report.hpp>

#include "embedded.hpp"
#include "number_text.hpp"

namespace reprise::lab {

namespace {

constexpr std::size_t text_columns = 60;
constexpr std::size_t curve_points = 240;

using counter = std::uint32_t slot::*;

[[nodiscard]] scenario gallery_scenario(std::string_view name) {
    const gallery_entry* entry = find_gallery_entry(name);
    auto read = read_scenario(entry != nullptr ? entry->text : "{}");
    return read ? *std::move(read) : scenario{};
}

/// Events per second over time.
struct rate_curve {
    std::vector<double> rates;
    double step_seconds = 0.1;
    double top = 0.0;
};

[[nodiscard]] rate_curve curve_of(
    std::span<const slot> slots, counter counted, std::size_t points) {
    const std::size_t factor = std::max<std::size_t>(slots.size() / points, 1);
    rate_curve curve;
    curve.step_seconds =
        std::chrono::duration<double>(slot_length).count() * static_cast<double>(factor);
    for (const slot& each : join_slots(slots, factor)) {
        curve.rates.push_back(static_cast<double>(each.*counted) / curve.step_seconds);
        curve.top = std::max(curve.top, curve.rates.back());
    }
    return curve;
}

/// One character for each column, from ' ' to a full block; rates above `top` are full.
[[nodiscard]] std::string to_blocks(const rate_curve& curve, double top) {
    static constexpr const char* levels[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    std::string text;
    for (const double rate : curve.rates) {
        const double share = top > 0.0 ? rate / top : 0.0;
        text += levels[static_cast<std::size_t>(std::clamp(share * 8.0 + 0.5, 0.0, 8.0))];
    }
    return text;
}

[[nodiscard]] std::string verdict_of(const shown_warning& shown) {
    const run_result& result = shown.result;
    if (result.recovery.outcome == recovery_outcome::no_outage) {
        return number_text(static_cast<double>(result.totals().sent)) + " attempts for " +
               number_text(static_cast<double>(result.totals().succeeded)) + " successes";
    }
    return std::string(result.recovery.has_recovered() ? "recovers" : "does not recover") + " (" +
           decimal(result.worst_amplification_at(0), 1) +
           " attempts per request in the worst second)";
}

/// The highest rate to draw: all of the curves, or the range that matters if one leaves it.
[[nodiscard]] double top_of(const shown_warning& shown, const rate_curve& load) {
    const double offered = shown.shown.clients.requests_per_second;
    return offered > 0.0 && shown.result.recovery.outcome != recovery_outcome::no_outage
               ? 5.0 * offered
               : std::max(load.top, 1.0);
}

constexpr double svg_left = 64.0;
constexpr double svg_top = 22.0;
constexpr double svg_width = 640.0;
constexpr double svg_height = 180.0;

[[nodiscard]] std::string svg_text(
    double x, double y, std::string_view css, std::string_view words) {
    return "<text x=\"" + decimal(x, 1) + "\" y=\"" + decimal(y, 1) + "\" class=\"" +
           std::string(css) + "\">" + html_text(words) + "</text>\n";
}

[[nodiscard]] std::string svg_line(const rate_curve& curve, double top, std::string_view css) {
    std::string path;
    const double step =
        svg_width / static_cast<double>(std::max<std::size_t>(curve.rates.size(), 1));
    for (std::size_t i = 0; i < curve.rates.size(); ++i) {
        const double share = std::min(curve.rates[i] / top, 1.0);
        path += (i == 0 ? "M" : "L") +
                decimal(svg_left + (static_cast<double>(i) + 0.5) * step, 1) + " " +
                decimal(svg_top + svg_height * (1.0 - share), 1);
    }
    return "<path d=\"" + path + "\" class=\"" + std::string(css) + "\"/>\n";
}

/// Bands where there is trouble.
[[nodiscard]] std::string svg_troubles(const model& of) {
    std::string svg;
    const double scale = svg_width / std::chrono::duration<double>(of.length).count();
    for (const trouble& each : of.troubles) {
        const double left = svg_left + std::chrono::duration<double>(each.start).count() * scale;
        const double width = std::chrono::duration<double>(each.length).count() * scale;
        svg += "<rect x=\"" + decimal(left, 1) + "\" y=\"" + decimal(svg_top, 1) + "\" width=\"" +
               decimal(std::max(width, 2.0), 1) + "\" height=\"" + decimal(svg_height, 1) +
               "\" class=\"trouble\"/>\n";
        svg += svg_text(left + width / 2.0, svg_top - 7.0, "tick middle", "trouble");
    }
    return svg;
}

[[nodiscard]] std::string svg_of(const shown_warning& shown) {
    const std::vector<slot>& slots = shown.result.services.front().slots;
    const rate_curve load = curve_of(slots, &slot::attempts, curve_points);
    const rate_curve useful = curve_of(slots, &slot::useful, curve_points);
    const double top = top_of(shown, load);
    const double seconds = std::chrono::duration<double>(shown.shown.length).count();
    std::string svg =
        "<svg viewBox=\"0 0 720 244\" role=\"img\" aria-label=\"Load and useful "
        "answers over time: " +
        html_text(verdict_of(shown)) + "\">\n" + svg_troubles(shown.shown);
    for (int i = 0; i <= 4; ++i) {
        const double y = svg_top + svg_height * (1.0 - i / 4.0);
        svg += "<path d=\"M" + decimal(svg_left, 1) + " " + decimal(y, 1) + "h" +
               decimal(svg_width, 1) + "\" class=\"grid\"/>\n";
        svg += svg_text(svg_left - 8.0, y + 4.0, "tick right", decimal(top * i / 4.0, 0));
        svg += svg_text(
            svg_left + svg_width * i / 4.0, svg_top + svg_height + 18.0,
            i == 4 ? "tick right" : "tick middle", decimal(seconds * i / 4.0, 0) + " s");
    }
    return svg + svg_line(load, top, "attempts") + svg_line(useful, top, "useful") + "</svg>\n";
}

[[nodiscard]] std::string section_of(const shown_warning& shown) {
    return "<section>\n<h2><code>" + html_text(shown.warning.field) + "</code> " +
           html_text(shown.warning.message) + "</h2>\n<p class=\"hint\">" +
           html_text(shown.strategy + ": " + describe(shown.settings)) +
           "</p>\n<figure><figcaption><b>" + html_text(verdict_of(shown)) + "</b><br>" +
           html_text(describe(shown.shown)) +
           "<br><span class=\"key attempts\"></span>attempts that arrive, per second &emsp;<span "
           "class=\"key useful\"></span>answers that reach a waiting client</figcaption>\n" +
           svg_of(shown) + "</figure>\n</section>\n";
}

}  // namespace

scenario scenario_of_settings(const retry_options& settings) {
    // Hedges hurt in a slow-down, and everything else after an outage.
    scenario shown = gallery_scenario(settings.hedge ? "slow_down" : "metastable");
    shown.strategies = {{"these settings", settings, false}};
    return shown;
}

std::vector<shown_warning> find_warnings(const scenario& in) {
    lint_context context;
    context.load = in.model.clients.requests_per_second;
    context.service_capacity = in.model.services.front().capacity_per_second.value_or(0.0);
    std::vector<shown_warning> found;
    for (const strategy_choice& choice : in.strategies) {
        const model own = with_strategy(in, choice);
        std::optional<run_result> result;
        for (settings_warning& warning : lint(own.clients.retries, context)) {
            if (warning.field == "backoff.jitter") {
                const model herd = with_strategy(gallery_scenario("jitter_herd"), choice);
                found.push_back(
                    {choice.name, own.clients.retries, std::move(warning), herd, run(herd)});
                continue;
            }
            result = result ? std::move(result) : run(own);
            found.push_back({choice.name, own.clients.retries, std::move(warning), own, *result});
        }
    }
    return found;
}

std::string to_text(std::span<const shown_warning> warnings) {
    std::string text;
    for (const shown_warning& each : warnings) {
        const std::vector<slot>& slots = each.result.services.front().slots;
        const rate_curve load = curve_of(slots, &slot::attempts, text_columns);
        const double top = top_of(each, load);
        const double useful_top =
            std::max(each.shown.clients.requests_per_second, load.top > 0.0 ? 1.0 : 0.0);
        const rate_curve useful = curve_of(slots, &slot::useful, text_columns);
        text += each.strategy + ": " + each.warning.field + ": " + each.warning.message + "\n";
        text += "    " + describe(each.shown) + ": " + verdict_of(each) + "\n";
        text += "    load   |" + to_blocks(load, top) + "| to " + rate_text(top) + "\n";
        text += "    useful |" + to_blocks(useful, std::max(useful_top, useful.top)) + "| to " +
                rate_text(std::max(useful_top, useful.top)) + "\n";
    }
    return text.empty() ? "No warnings.\n" : text;
}

std::string to_json(std::span<const shown_warning> warnings) {
    std::string text;
    json::writer out(text);
    out.begin_object().key("warnings").begin_array();
    for (const shown_warning& each : warnings) {
        out.begin_object()
            .member("strategy", each.strategy)
            .member("field", each.warning.field)
            .member("message", each.warning.message)
            .member("shown_in", describe(each.shown))
            .member("result", verdict_of(each))
            .end_object();
    }
    out.end_array().end_object();
    return text;
}

std::string to_html(
    std::span<const shown_warning> warnings, std::string_view name, std::string_view command) {
    std::string sections;
    for (const shown_warning& each : warnings) {
        sections += section_of(each);
    }
    const std::string count =
        std::to_string(warnings.size()) + (warnings.size() == 1 ? " warning" : " warnings");
    return make_page(
        embedded::lint_page(), {{"name", html_text(name)},
                                {"count", warnings.empty() ? "No warnings" : count},
                                {"sections", sections},
                                {"command", html_text(command)}});
}

}  // namespace reprise::lab
