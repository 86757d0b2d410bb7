#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>

#include <reprise/retry/retry_history.hpp>

#include "failure_line.hpp"

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

std::uint8_t retry_history::index_of(std::string_view text) {
    if (text.empty()) {
        return 0;
    }
    const std::string kept = detail::failure_line(text, text_size_max);
    const auto found = std::find(texts.begin(), texts.end(), kept);
    const auto index = static_cast<std::size_t>(found - texts.begin());
    if (found == texts.end()) {
        if (texts.size() == text_count_max) {
            return 0;
        }
        texts.push_back(kept);
    }
    return static_cast<std::uint8_t>(index + 1);
}

std::string retry_history::message_of(const history_entry& entry) const {
    if (entry.text() != 0 && entry.text() <= texts.size()) {
        return texts[entry.text() - 1U];
    }
    const std::size_t index = entry.category();
    if (index == 0 || categories[index - 1] == nullptr) {
        return {};
    }
    return detail::failure_line(
        detail::text_of_code({static_cast<int>(entry.code()), *categories[index - 1]}),
        text_size_max);
}

namespace {

using detail::append_decision;
using detail::milliseconds_text;

[[nodiscard]] std::string code_of(const retry_history& history, const history_entry& entry) {
    if (!history.has_hexadecimal_codes) {
        return detail::code_text(entry.code(), entry.category() != 0);
    }
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "0x%02x", unsigned{entry.code()});
    return text.data();
}

// Appends what failed: the protocol's reason, or the number of the attempt.
void append_failure(std::string& text, const retry_history& history, const history_entry& entry) {
    if (history.reason_name != nullptr) {
        text += history.reason_name(entry.reason_code());
        if (entry.code() != 0) {
            text += " (" + code_of(history, entry) + ")";
        }
        return;
    }
    text += "attempt " + std::to_string(entry.attempt());
    if (entry.is_hedge()) {
        text += " still running";
        return;
    }
    text += entry.is_attempt() ? " failed" : " not made";
    const std::string message = history.message_of(entry);
    detail::append_failure_text(
        text, message, entry.code() == 0 ? std::string() : code_of(history, entry));
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
        // A client's reasons have their own explanations.
        append_decision(text, entry, history.reason_name == nullptr);
        text += '\n';
    }
    return text;
}

std::ostream& operator<<(std::ostream& out, const retry_history& history) {
    return out << to_string(history);
}

}  // namespace reprise
