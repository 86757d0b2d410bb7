#include <algorithm>

#include <reprise/json/write.hpp>
#include <reprise/lab/page.hpp>
#include <reprise/lab/region.hpp>
#include <reprise/lab/report.hpp>

#include "embedded.hpp"
#include "number_text.hpp"
#include "summary.hpp"

namespace reprise::lab {

namespace {

[[nodiscard]] std::string value_text(region_axis axis, double value) {
    return axis == region_axis::timeout
               ? latency_text(duration{static_cast<std::int64_t>(value * 1e9)})
               : number_text(value);
}

[[nodiscard]] std::string_view axis_title(region_axis axis) {
    switch (axis) {
        case region_axis::attempts:
            return "attempts per request";
        case region_axis::timeout:
            return "timeout of an attempt";
        case region_axis::bucket:
            return "units in each bucket";
    }
    return "";
}

/// An SVG map: below the edge the system recovers, above it stays down.
[[nodiscard]] std::string map_of(const region& found, double load) {
    constexpr double left = 64.0;
    constexpr double top = 16.0;
    constexpr double width = 640.0;
    constexpr double height = 300.0;
    const auto y = [&](double rate) { return top + height * (1.0 - rate / found.load_max); };
    const double step = width / static_cast<double>(found.points.size());
    std::string svg =
        "<svg viewBox=\"0 0 720 372\" role=\"img\" aria-label=\"Map of loads that "
        "recover; figures in the table below\">\n";
    const auto text = [&](double x, double at, std::string_view css, const std::string& words) {
        svg += "<text x=\"" + number_text(x) + "\" y=\"" + number_text(at) + "\" class=\"" +
               std::string(css) + "\">" + html_text(words) + "</text>\n";
    };
    const auto box = [&](double x, double from, double to, std::string_view css) {
        svg += "<rect x=\"" + number_text(x + 2) + "\" y=\"" + number_text(from) + "\" width=\"" +
               number_text(step - 4) + "\" height=\"" + number_text(std::max(to - from, 0.0)) +
               "\" class=\"" + std::string(css) + "\"/>\n";
    };
    for (int i = 0; i <= 4; ++i) {
        const double rate = found.load_max * i / 4.0;
        text(left - 8.0, y(rate) + 4.0, "tick right", rate_text(rate));
    }
    for (std::size_t i = 0; i < found.points.size(); ++i) {
        const region_point& point = found.points[i];
        const double x = left + step * static_cast<double>(i);
        box(x, top, y(point.recovers_up_to), "down");
        box(x, y(point.recovers_up_to), top + height, "recovers");
        const double edge = y(point.recovers_up_to);
        text(
            x + step / 2.0, edge > top + height - 20.0 ? edge - 6.0 : edge + 16.0, "figure middle",
            decimal(point.recovers_up_to, 0));
        text(
            x + step / 2.0, top + height + 18.0, "tick middle",
            value_text(found.axis, point.value));
    }
    text(
        left + width / 2.0, top + height + 42.0, "tick middle",
        std::string(axis_title(found.axis)));
    svg += "<path d=\"M" + number_text(left) + " " + number_text(y(load)) + "h" +
           number_text(width) + "\" class=\"load\"/>\n</svg>\n";
    return svg;
}

[[nodiscard]] std::string rows_of(const region& found) {
    std::string rows;
    for (const region_point& point : found.points) {
        rows += "<tr><th scope=\"row\">" + html_text(value_text(found.axis, point.value)) +
                "</th><td>" + rate_text(point.recovers_up_to) + "</td><td>" +
                (point.stays_down_from ? rate_text(*point.stays_down_from) : "-") + "</td></tr>\n";
    }
    return rows;
}

}  // namespace

std::string to_table(const region& found, const model& asked) {
    std::string text =
        std::string(axis_title(found.axis)) + "   recovers up to   stays down from\n";
    const std::size_t first = axis_title(found.axis).size();
    const auto add = [&](std::string_view cell, std::size_t width) {
        text.append(width - std::min(width, cell.size()), ' ').append(cell);
    };
    for (const region_point& point : found.points) {
        add(value_text(found.axis, point.value), first);
        add(rate_text(point.recovers_up_to), 17);
        add(point.stays_down_from ? rate_text(*point.stays_down_from) : "-", 18);
        text += '\n';
    }
    return text + "The scenario's load is " + rate_text(asked.clients.requests_per_second) +
           ", and its first service can process " + rate_text(found.load_max) + ".\n";
}

std::string to_json(
    const region& found, const scenario& about, const strategy_choice& choice,
    std::string_view command) {
    std::string text;
    json::writer out(text);
    out.begin_object()
        .member("scenario", about.name)
        .member("title", about.title)
        .member("description", describe(about.model))
        .member("strategy", choice.name)
        .member("settings", describe(choice.retries))
        .member("command", command)
        .member("axis", to_string(found.axis))
        .member("load_max_per_second", found.load_max)
        .key("points")
        .begin_array();
    for (const region_point& point : found.points) {
        out.begin_object()
            .member("value", point.value)
            .member("recovers_up_to_per_second", point.recovers_up_to)
            .key("stays_down_from_per_second");
        point.stays_down_from ? out.value(*point.stays_down_from) : out.value(nullptr);
        out.member("runs", point.runs).end_object();
    }
    out.end_array().end_object();
    return text;
}

std::string to_html(
    const region& found, const scenario& about, const strategy_choice& choice,
    std::string_view command) {
    const double load = about.model.clients.requests_per_second;
    return make_page(
        embedded::region_page(),
        {{"title", html_text(about.title)},
         {"description", html_text(describe(about.model))},
         {"strategy", html_text(choice.name + ": " + describe(choice.retries))},
         {"axis", html_text(axis_title(found.axis))},
         {"load", rate_text(load)},
         {"map", map_of(found, std::min(load, found.load_max))},
         {"rows", rows_of(found)},
         {"command", html_text(command)}});
}

}  // namespace reprise::lab
