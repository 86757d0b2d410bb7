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

[[nodiscard]] std::string attempts_text(const run_result& result) {
    return grouped(result.totals().sent) + " attempts for " + grouped(result.totals().succeeded) +
           " successes" +
           (result.finished_at > duration::zero()
                ? " in " + decimal(to_seconds(result.finished_at), 1) + " s"
                : "");
}

[[nodiscard]] std::string verdict_of(const shown_warning& shown) {
    const run_result& result = shown.result;
    if (shown.with_jitter) {
        return attempts_text(result) + "; with delays and full jitter " +
               attempts_text(*shown.with_jitter);
    }
    return std::string(result.recovery.has_recovered() ? "recovers" : "does not recover") + " (" +
           decimal(result.worst_amplification_at(0), 1) +
           " attempts per request in the worst second)";
}

/// The part of a run in which something happens.
[[nodiscard]] duration shown_length(const shown_warning& shown) {
    duration last = shown.result.finished_at;
    if (shown.with_jitter) {
        last = std::max(last, shown.with_jitter->finished_at);
    }
    return last > duration::zero() ? std::min<duration>(last + slot_length, shown.shown.length)
                                   : shown.shown.length;
}

[[nodiscard]] std::span<const slot> shown_slots(const shown_warning& shown, const run_result& of) {
    const std::vector<slot>& all = of.services.front().slots;
    const auto count = static_cast<std::size_t>(shown_length(shown) / slot_length);
    return std::span(all).first(std::min(all.size(), std::max<std::size_t>(count, 1)));
}

/// 1, 2 or 5 times a power of ten, so that `range` has at most `count` steps.
[[nodiscard]] double nice_step(double range, int count) {
    double step = 1.0;
    while (range / step > count) {
        for (const double factor : {2.0, 2.5, 2.0}) {
            step *= range / step > count ? factor : 1.0;
        }
    }
    return step;
}

/// The highest rate to draw: all of the curves, or the range that matters if one leaves it.
[[nodiscard]] double top_of(const shown_warning& shown, const rate_curve& load) {
    return shown.with_jitter ? std::max(load.top, 1.0)
                             : 5.0 * shown.shown.clients.requests_per_second;
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

/// Bands where there is trouble; `scale` is the width of a second.
[[nodiscard]] std::string svg_troubles(const model& of, double scale) {
    std::string svg;
    for (const trouble& each : of.troubles) {
        const double left = svg_left + to_seconds(each.start) * scale;
        const double width = to_seconds(each.length) * scale;
        svg += "<rect x=\"" + decimal(left, 1) + "\" y=\"" + decimal(svg_top, 1) + "\" width=\"" +
               decimal(std::max(width, 2.0), 1) + "\" height=\"" + decimal(svg_height, 1) +
               "\" class=\"trouble\"/>\n";
        svg += svg_text(left + width / 2.0, svg_top - 7.0, "tick middle", "trouble");
    }
    return svg;
}

[[nodiscard]] std::string svg_axes(double top, double seconds, double scale) {
    std::string svg;
    const double rate_step = nice_step(top, 5);
    for (int line = 0; line * rate_step <= top; ++line) {
        const double rate = line * rate_step;
        const double y = svg_top + svg_height * (1.0 - rate / top);
        svg += "<path d=\"M" + decimal(svg_left, 1) + " " + decimal(y, 1) + "h" +
               decimal(svg_width, 1) + "\" class=\"grid\"/>\n";
        svg += svg_text(svg_left - 8.0, y + 4.0, "tick right", decimal(rate, 0));
    }
    const double time_step = nice_step(seconds, 8);
    for (int line = 0; line * time_step <= seconds; ++line) {
        const double at = line * time_step;
        svg += svg_text(
            svg_left + at * scale, svg_top + svg_height + 18.0, "tick middle",
            decimal(at, 0) + " s");
    }
    return svg;
}

[[nodiscard]] std::string svg_of(const shown_warning& shown) {
    const auto curve = [&](const run_result& of, counter counted) {
        return curve_of(shown_slots(shown, of), counted, curve_points);
    };
    const rate_curve load = curve(shown.result, &slot::attempts);
    const double top = top_of(shown, load);
    const double seconds = to_seconds(shown_length(shown));
    const double scale = svg_width / seconds;
    std::string svg =
        "<svg viewBox=\"0 0 720 228\" role=\"img\" aria-label=\"Load and useful answers over "
        "time: " +
        html_text(verdict_of(shown)) + "\">\n" + svg_troubles(shown.shown, scale) +
        svg_axes(top, seconds, scale);
    if (shown.with_jitter) {
        svg += svg_line(curve(*shown.with_jitter, &slot::attempts), top, "jitter");
    }
    return svg + svg_line(load, top, "attempts") +
           svg_line(curve(shown.result, &slot::useful), top, "useful") + "</svg>\n";
}

[[nodiscard]] std::string section_of(const shown_warning& shown) {
    return "<section>\n<h2><code>" + html_text(shown.warning.field) + "</code> " +
           html_text(shown.warning.message) + "</h2>\n<p class=\"hint\">" +
           html_text(shown.strategy + ": " + describe(shown.settings)) +
           "</p>\n<figure><figcaption><b>" + html_text(verdict_of(shown)) + "</b><br>" +
           html_text(describe(shown.shown)) +
           "<br><span class=\"key attempts\"></span>attempts that arrive, per second &emsp;<span "
           "class=\"key useful\"></span>answers that reach a waiting client" +
           (shown.with_jitter ? " &emsp;<span class=\"key jitter\"></span>attempts with full jitter"
                              : "") +
           "</figcaption>\n" + svg_of(shown) + "</figure>\n</section>\n";
}

/// Writers of one record retry until they succeed, with the delays of these settings and with the
/// same delays (or some, if there are none) under full jitter.
[[nodiscard]] shown_warning show_herd(
    const strategy_choice& choice, const retry_options& settings, settings_warning warning) {
    model herd = gallery_scenario("jitter_herd").model;
    retry_options& retries = herd.clients.retries;
    retries = settings;
    retries.attempts_max.reset();
    retries.budget = std::monostate{};
    retries.attempt_timeout.reset();
    retries.deadline.reset();
    run_result result = run(herd);
    model spread = herd;
    driver::backoff_options& backoff = spread.clients.retries.backoff;
    backoff.jitter = jitter::full;
    if (backoff.cap == duration::zero()) {  // Without a delay, there is nothing to spread.
        backoff.base = std::chrono::milliseconds{5};
        backoff.cap = std::chrono::seconds{2};
    }
    return {choice.name,     settings,          std::move(warning),
            std::move(herd), std::move(result), run(spread)};
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
                found.push_back(show_herd(choice, own.clients.retries, std::move(warning)));
                continue;
            }
            result = result ? std::move(result) : run(own);
            found.push_back(
                {choice.name, own.clients.retries, std::move(warning), own, *result, {}});
        }
    }
    return found;
}

std::string to_text(std::span<const shown_warning> warnings) {
    std::string text;
    for (const shown_warning& each : warnings) {
        const auto slots = shown_slots(each, each.result);
        const rate_curve load = curve_of(slots, &slot::attempts, text_columns);
        const rate_curve useful = curve_of(slots, &slot::useful, text_columns);
        const double top = top_of(each, load);
        const double useful_top = each.with_jitter ? top : each.shown.clients.requests_per_second;
        text += each.strategy + ": " + each.warning.field + ": " + each.warning.message + "\n";
        text += "    " + describe(each.shown) + ": " + verdict_of(each) + "\n";
        text += "    load   |" + to_blocks(load, top) + "| to " + rate_text(top) + "\n";
        text +=
            "    useful |" + to_blocks(useful, useful_top) + "| to " + rate_text(useful_top) + "\n";
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
