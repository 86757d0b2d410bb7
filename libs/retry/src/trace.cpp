#include <cstdio>
#include <ostream>

#include <reprise/retry/trace.hpp>

namespace reprise {

decision_observer::~decision_observer() = default;

namespace {

/// Appends a duration in the unit a person would choose.
void append_duration(std::string& out, duration value) {
    char text[48];
    const double nanoseconds = static_cast<double>(value.count());
    if (value >= std::chrono::seconds{1}) {
        std::snprintf(text, sizeof text, "%.3f s", nanoseconds / 1e9);
    } else if (value >= std::chrono::milliseconds{1}) {
        std::snprintf(text, sizeof text, "%.3f ms", nanoseconds / 1e6);
    } else {
        std::snprintf(text, sizeof text, "%.3f us", nanoseconds / 1e3);
    }
    out += text;
}

void append_entry(std::string& out, const trace_entry& entry) {
    out += "attempt " + std::to_string(entry.attempt);
    out += entry.attempted ? " failed at +" : " not made at +";
    append_duration(out, entry.offset);
    if (entry.code != 0) {
        out += ", code " + std::to_string(entry.code);
    }
    out += entry.timeout ? ", timeout" : "";
    out += entry.throttling ? ", throttled" : "";
    if (entry.refusal == refusal_reason::none) {
        out += ": retried after ";
        append_duration(out, entry.delay);
    } else {
        out += ": gave up, ";
        out += to_string(entry.refusal);
    }
    if (entry.budget_level >= 0) {
        char text[48];
        std::snprintf(
            text, sizeof text, " (budget %.3f)", static_cast<double>(entry.budget_level) / 1000.0);
        out += text;
    }
    out += '\n';
}

}  // namespace

std::string to_string(const decision_trace& trace) {
    std::string out;
    const auto& entries = trace.entries();
    constexpr std::size_t first = 8;
    for (std::size_t index = 0; index < entries.size(); ++index) {
        if (index == first && entries.dropped() != 0) {
            out += "... " + std::to_string(entries.dropped()) + " attempts left out ...\n";
        }
        append_entry(out, entries[index]);
    }
    return out.empty() ? "no attempt failed\n" : out;
}

std::ostream& operator<<(std::ostream& out, const decision_trace& trace) {
    return out << to_string(trace);
}

}  // namespace reprise
