#include <algorithm>
#include <array>
#include <cstdio>
#include <ostream>

#include <reprise/retry/retry_history.hpp>

#include "failure_line.hpp"

namespace reprise {

std::string_view driver::to_string(attempt_stage stage) noexcept {
    switch (stage) {
        case driver::attempt_stage::dispatch:
            return "dispatch";
        case driver::attempt_stage::network:
            return "network";
        case driver::attempt_stage::response:
            return "response";
    }
    return "unknown";
}

std::string_view driver::place_of(
    const retry_history& history, const retry_history::entry& entry) noexcept {
    const bool is_known = history.protocol && entry.place() < history.protocol->places.size();
    return is_known ? std::string_view(history.protocol->places[entry.place()])
                    : std::string_view();
}

std::string_view driver::problem_of(
    const retry_history& history, const retry_history::entry& entry) noexcept {
    const bool is_known = history.protocol && entry.stage() == driver::attempt_stage::dispatch &&
                          entry.place() < history.protocol->problems.size();
    return is_known ? std::string_view(history.protocol->problems[entry.place()])
                    : std::string_view();
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

std::string retry_history::message_of(const entry& about) const {
    if (about.text() != 0 && about.text() <= texts.size()) {
        return texts[about.text() - 1U];
    }
    const std::size_t index = about.category();
    if (index == 0 || categories[index - 1] == nullptr) {
        return {};
    }
    return detail::failure_line(
        detail::text_of_code({static_cast<int>(about.code()), *categories[index - 1]}),
        text_size_max);
}

namespace {

using detail::append_decision;
using detail::milliseconds_text;

[[nodiscard]] std::string code_of(const retry_history& history, const retry_history::entry& entry) {
    return history.protocol && history.protocol->code_text != nullptr
               ? history.protocol->code_text(entry.code())
               : detail::code_text(entry.code(), entry.category() != 0);
}

[[nodiscard]] bool has_reasons(const retry_history& history) noexcept {
    return history.protocol && history.protocol->reason_name != nullptr;
}

// Appends what failed: the protocol's reason, or the number of the attempt.
void append_failure(
    std::string& text, const retry_history& history, const retry_history::entry& entry) {
    if (has_reasons(history)) {
        text += history.protocol->reason_name(entry.reason_code());
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

// Appends the place and the stage of the failure.
void append_place(
    std::string& text, const retry_history& history, const retry_history::entry& entry) {
    if (const std::string_view name = driver::place_of(history, entry); !name.empty()) {
        text += " at ";
        text += name;
    }
    if (const std::string_view problem = driver::problem_of(history, entry); !problem.empty()) {
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
        const retry_history::entry& entry = entries[index];
        text += "+" + milliseconds_text(entry.offset()) + "  ";
        append_failure(text, history, entry);
        append_place(text, history, entry);
        // A client's reasons have their own explanations.
        append_decision(text, entry, !has_reasons(history));
        text += '\n';
    }
    return text;
}

namespace {

// The size of the character that `text` begins with; 0 if its first byte begins no valid UTF-8.
[[nodiscard]] std::size_t character_size(std::string_view text) noexcept {
    const auto byte = [&](std::size_t index) {
        return index < text.size() ? static_cast<unsigned char>(text[index]) : 0U;
    };
    const unsigned first = byte(0);
    if (first < 0x80U) {
        return 1;
    }
    // The narrower bounds exclude overlong forms, surrogates, and what is above U+10FFFF.
    const unsigned second_min = first == 0xe0U ? 0xa0U : first == 0xf0U ? 0x90U : 0x80U;
    const unsigned second_max = first == 0xedU ? 0x9fU : first == 0xf4U ? 0x8fU : 0xbfU;
    if (first < 0xc2U || first > 0xf4U || byte(1) < second_min || byte(1) > second_max) {
        return 0;
    }
    const std::size_t size = first < 0xe0U ? 2 : first < 0xf0U ? 3 : 4;
    for (std::size_t index = 2; index < size; ++index) {
        if ((byte(index) & 0xc0U) != 0x80U) {
            return 0;
        }
    }
    return size;
}

// A text between quotation marks, with everything escaped that JSON does not allow there. Bytes
// that are not UTF-8 become replacement characters.
void append_quoted(std::string& json, std::string_view text) {
    json += '"';
    while (!text.empty()) {
        const std::size_t size = character_size(text);
        const char first = text.front();
        if (size == 0) {
            json += "\\ufffd";
        } else if (first == '"' || first == '\\') {
            json += '\\';
            json += first;
        } else if (static_cast<unsigned char>(first) < 0x20U) {
            std::array<char, 8> escaped{};
            std::snprintf(escaped.data(), escaped.size(), "\\u%04x", unsigned(first));
            json += escaped.data();
        } else {
            json += text.substr(0, size);
        }
        text.remove_prefix(std::max<std::size_t>(size, 1));
    }
    json += '"';
}

void append_text(std::string& json, std::string_view name, std::string_view text) {
    if (!text.empty()) {
        json += ",\"" + std::string(name) + "\":";
        append_quoted(json, text);
    }
}

void append_number(std::string& json, std::string_view name, std::int64_t value) {
    json += ",\"" + std::string(name) + "\":" + std::to_string(value);
}

[[nodiscard]] std::int64_t microseconds(duration time) noexcept {
    return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

void append_entry(
    std::string& json, const retry_history& history, const retry_history::entry& entry) {
    json += "{\"attempt\":" + std::to_string(entry.attempt());
    append_number(json, "offset_us", microseconds(entry.offset()));
    if (!entry.is_attempt()) {
        append_text(json, "kind", entry.is_hedge() ? "hedge" : "not made");
    }
    if (has_reasons(history)) {
        append_text(json, "reason", history.protocol->reason_name(entry.reason_code()));
    }
    append_text(json, "failure", history.message_of(entry));
    if (entry.code() != 0) {
        json += ",\"code\":" + detail::code_text(entry.code(), entry.category() != 0);
    }
    append_text(json, "place", driver::place_of(history, entry));
    append_text(json, "problem", driver::problem_of(history, entry));
    if (const auto stage = entry.stage()) {
        append_text(json, "stage", to_string(*stage));
    }
    json += entry.is_timeout() ? ",\"timeout\":true" : "";
    json += entry.is_throttling() ? ",\"throttling\":true" : "";
    if (entry.refusal() != refusal_reason::none) {
        append_text(json, "refusal", to_string(entry.refusal()));
    } else if (!entry.is_hedge()) {
        append_number(json, "delay_us", microseconds(entry.delay()));
    }
    if (entry.budget_level() >= 0) {
        append_number(json, "budget_milli_units", entry.budget_level());
    }
    json += '}';
}

}  // namespace

std::string to_json(const retry_history& history) {
    std::string json = "{\"failed_attempts\":" + std::to_string(history.failed_attempts());
    append_number(json, "dropped", static_cast<std::int64_t>(history.entries.dropped()));
    json += ",\"entries\":[";
    bool is_first = true;
    for (const retry_history::entry& entry : history) {
        json += is_first ? "" : ",";
        is_first = false;
        append_entry(json, history, entry);
    }
    return json + "]}";
}

std::ostream& operator<<(std::ostream& out, const retry_history& history) {
    return out << to_string(history);
}

}  // namespace reprise
