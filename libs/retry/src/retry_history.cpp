#include <array>
#include <cctype>
#include <cstdio>
#include <ostream>

#include <reprise/retry/retry_history.hpp>

namespace reprise {

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
    return entry.endpoint() < endpoints.size() ? std::string_view(endpoints[entry.endpoint()])
                                               : std::string_view();
}

std::string_view retry_history::problem_of(const history_entry& entry) const noexcept {
    const bool is_known =
        entry.stage() == attempt_stage::dispatch && entry.endpoint() < problems.size();
    return is_known ? std::string_view(problems[entry.endpoint()]) : std::string_view();
}

std::uint8_t retry_history::index_of(const std::error_category* category) noexcept {
    if (category == nullptr) {
        return 0;
    }
    for (std::size_t index = 0; index < categories.size(); ++index) {
        if (categories[index] == nullptr) {
            categories[index] = category;
        }
        if (categories[index] == category) {
            return static_cast<std::uint8_t>(index + 1);
        }
    }
    return 0;
}

std::string retry_history::message_of(const history_entry& entry) const {
    const std::size_t index = entry.category();
    if (index == 0 || categories[index - 1] == nullptr) {
        return {};
    }
    std::string message = categories[index - 1]->message(static_cast<int>(entry.code()));
    // "Connection refused" becomes part of a sentence; "SSL error" stays as it is.
    const auto is_upper = [&](std::size_t place) {
        return message.size() > place &&
               std::isupper(static_cast<unsigned char>(message[place])) != 0;
    };
    if (is_upper(0) && !is_upper(1)) {
        message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
    }
    return message;
}

namespace {

[[nodiscard]] std::string number_text(const char* format, double value) {
    std::array<char, 48> text{};
    const int size = std::snprintf(text.data(), text.size(), format, value);
    return {text.data(), static_cast<std::size_t>(size)};
}

[[nodiscard]] std::string milliseconds_text(duration time) {
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
    return number_text("%.6g ms", static_cast<double>(micros) / 1000.0);
}

[[nodiscard]] std::string code_text(const retry_history& history, std::uint32_t code) {
    if (!history.has_hexadecimal_codes) {
        return std::to_string(code);
    }
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "0x%02x", unsigned{code});
    return text.data();
}

// Appends what failed: the protocol's reason, or the number of the attempt.
void append_failure(std::string& text, const retry_history& history, const history_entry& entry) {
    if (history.reason_name != nullptr) {
        text += history.reason_name(entry.reason_code());
        if (entry.code() != 0) {
            text += " (" + code_text(history, entry.code()) + ")";
        }
        return;
    }
    text += "attempt " + std::to_string(entry.attempt());
    if (entry.is_hedge()) {
        text += " still running";
        return;
    }
    text += entry.is_attempt() ? " failed" : " not made";
    if (entry.code() == 0) {
        return;
    }
    const std::string code = code_text(history, entry.code());
    const std::string message = history.message_of(entry);
    text += message.empty() ? ", code " + code : ", " + message + " (" + code + ")";
}

// Appends the endpoint and the stage of the failure.
void append_place(std::string& text, const retry_history& history, const history_entry& entry) {
    if (const std::string_view name = history.endpoint_of(entry); !name.empty()) {
        text += " at ";
        text += name;
    }
    if (const std::string_view problem = history.problem_of(entry); !problem.empty()) {
        text += " (";
        text += problem;
        text += ")";
    }
    if (const auto stage = entry.stage()) {
        text += ", ";
        text += to_string(*stage);
    }
    text += entry.is_timeout() ? ", timeout" : "";
    text += entry.is_throttling() ? ", throttled" : "";
}

void append_decision(std::string& text, const retry_history& history, const history_entry& entry) {
    if (entry.is_hedge() && entry.refusal() == refusal_reason::none) {
        text += "; hedged by another attempt";
    } else if (entry.refusal() == refusal_reason::none) {
        text += "; retried after " + milliseconds_text(entry.delay());
    } else {
        text += entry.is_hedge() ? "; not hedged: " : "; not retried: ";
        text += to_string(entry.refusal());
        // A client's reasons have their own explanations.
        const std::string_view remedy =
            history.reason_name == nullptr ? remedy_for(entry.refusal()) : std::string_view();
        if (!remedy.empty()) {
            text.append(" (").append(remedy).append(")");
        }
    }
    if (entry.budget_level() >= 0) {
        text += " (budget " +
                number_text("%.6g", static_cast<double>(entry.budget_level()) / 1000.0) + ")";
    }
}

}  // namespace

std::string to_string(const retry_history& history) {
    std::string text;
    const auto& entries = history.entries;
    for (std::size_t index = 0; index < entries.size(); ++index) {
        if (index == entries.first_capacity && entries.dropped() != 0) {
            text += "... " + std::to_string(entries.dropped()) + " more ...\n";
        }
        const history_entry& entry = entries[index];
        text += "+" + milliseconds_text(entry.offset()) + "  ";
        append_failure(text, history, entry);
        append_place(text, history, entry);
        append_decision(text, history, entry);
        text += '\n';
    }
    return text;
}

std::ostream& operator<<(std::ostream& out, const retry_history& history) {
    return out << to_string(history);
}

}  // namespace reprise
