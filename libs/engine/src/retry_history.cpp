#include <array>
#include <cstdio>

#include <reprise/base/printable.hpp>
#include <reprise/engine/retry_history.hpp>

namespace reprise::engine {
namespace {

std::string milliseconds_text(duration time) {
    std::array<char, 32> text{};
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
    const int size =
        std::snprintf(text.data(), text.size(), "%.6g ms", static_cast<double>(micros) / 1000.0);
    return {text.data(), static_cast<std::size_t>(size)};
}

std::string entry_text(const retry_history& history, const history_entry& entry) {
    std::string text = "+" + milliseconds_text(entry.offset()) + "  ";
    text += to_string(entry.reason);
    if (entry.status != 0 && history.has_http_statuses) {
        text += " (" + std::to_string(entry.status) + ")";
    } else if (entry.status != 0) {
        std::array<char, 16> status{};
        std::snprintf(status.data(), status.size(), " (0x%02x)", unsigned{entry.status});
        text += status.data();
    }
    if (const std::string_view name = history.endpoint_of(entry); !name.empty()) {
        text += " at ";
        text += base::printable(name);
    }
    if (const std::string_view problem = history.problem_of(entry); !problem.empty()) {
        text += " (";
        text += problem;
        text += ")";
    }
    text += ", ";
    text += to_string(entry.stage);
    if (entry.refusal != refusal_reason::none) {
        text += "; not retried: ";
        text += to_string(entry.refusal);
    } else {
        text += "; retried after " + milliseconds_text(entry.delay());
    }
    return text;
}

}  // namespace

std::string_view to_string(attempt_stage stage) noexcept {
    switch (stage) {
        case attempt_stage::dispatch:
            return "dispatch";
        case attempt_stage::network:
            return "network";
        case attempt_stage::response:
            return "response";
    }
    return "unknown";
}

std::string_view retry_history::endpoint_of(const history_entry& entry) const noexcept {
    return entry.endpoint < endpoints.size() ? std::string_view(endpoints[entry.endpoint])
                                             : std::string_view();
}

std::string_view retry_history::problem_of(const history_entry& entry) const noexcept {
    const bool is_told = entry.stage == attempt_stage::dispatch && entry.endpoint < problems.size();
    return is_told ? std::string_view(problems[entry.endpoint]) : std::string_view();
}

std::string to_string(const retry_history& history) {
    std::string text;
    for (std::size_t index = 0; index < history.entries.size(); ++index) {
        if (index == 8 && history.entries.dropped() != 0) {
            text += "... " + std::to_string(history.entries.dropped()) + " more ...\n";
        }
        text += entry_text(history, history.entries[index]);
        text += '\n';
    }
    return text;
}

}  // namespace reprise::engine
