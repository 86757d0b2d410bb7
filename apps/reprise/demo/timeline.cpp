#include "timeline.hpp"

#include <map>
#include <utility>

#include <reprise/json/write.hpp>

namespace reprise::demo {

namespace {

[[nodiscard]] double p99_ms(const figures& of) {
    return std::chrono::duration<double, std::milli>(of.percentile(0.99)).count();
}

/// A series for each name that occurs, with one value per sample.
using named_series = std::map<std::string, std::vector<std::uint64_t>>;

void write_series(json::writer& out, std::string_view name, const named_series& series) {
    out.key(name).begin_object();
    for (const auto& [each, values] : series) {
        out.key(each).begin_array();
        for (const std::uint64_t value : values) {
            out.value(value);
        }
        out.end_array();
    }
    out.end_object();
}

}  // namespace

void timeline::add_sample(std::chrono::duration<double> elapsed, const traffic_figures& recent) {
    sampled_ = elapsed;
    samples_.push_back({elapsed.count(), recent});
}

void timeline::add_phase(
    std::string name, std::chrono::duration<double> start, std::chrono::duration<double> end) {
    sections_.push_back({std::move(name), start.count(), end.count()});
}

std::string timeline::to_json(const run_result& result) const {
    named_series retries;
    named_series errors;
    const auto add = [&](named_series& to, std::string_view name, std::size_t at,
                         std::uint64_t count) {
        std::vector<std::uint64_t>& values = to[std::string(name)];
        values.resize(samples_.size());
        values[at] += count;
    };
    std::string text;
    json::writer out(text);
    const auto write_numbers = [&](std::string_view name, auto number_of) {
        out.key(name).begin_array();
        for (const sample& each : samples_) {
            out.value(number_of(each));
        }
        out.end_array();
    };
    for (std::size_t i = 0; i < samples_.size(); ++i) {
        for (const figures* of : {&samples_[i].recent.key_value, &samples_[i].recent.http}) {
            for (const auto& facts : couchbase::all_retry_reasons()) {
                if (const auto count = of->retries[static_cast<std::size_t>(facts.reason)]) {
                    add(retries, facts.name, i, count);
                }
            }
            for (const auto& [name, count] : of->errors_by_name) {
                add(errors, name, i, count);
            }
        }
    }
    out.begin_object()
        .member("elapsed_s", sections_.empty() ? 0.0 : sections_.back().end)
        .key("sections")
        .begin_array();
    for (const section& each : sections_) {
        out.begin_object()
            .member("name", each.name)
            .member("start_s", each.start)
            .member("end_s", each.end)
            .end_object();
    }
    out.end_array().key("samples").begin_object();
    write_numbers("time_s", [](const sample& each) { return each.time; });
    write_numbers(
        "operations", [](const sample& each) { return each.recent.key_value.operations; });
    write_numbers(
        "http_operations", [](const sample& each) { return each.recent.http.operations; });
    write_numbers("p99_ms", [](const sample& each) { return p99_ms(each.recent.key_value); });
    write_numbers("http_p99_ms", [](const sample& each) { return p99_ms(each.recent.http); });
    write_series(out, "retries", retries);
    write_series(out, "errors", errors);
    out.end_object().key("result").raw(demo::to_json(result)).end_object();
    return text;
}

}  // namespace reprise::demo
