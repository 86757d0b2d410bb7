#include <array>
#include <cctype>
#include <cstdio>
#include <string>
#include <system_error>

#include <reprise/retry/failure_view.hpp>

#include "failure_line.hpp"

namespace reprise::detail {

namespace {

[[nodiscard]] std::string number_text(const char* format, double value) {
    std::array<char, 48> text{};
    const int size = std::snprintf(text.data(), text.size(), format, value);
    return {text.data(), static_cast<std::size_t>(size)};
}

[[nodiscard]] bool is_upper(std::string_view text, std::size_t place) noexcept {
    return text.size() > place && std::isupper(static_cast<unsigned char>(text[place])) != 0;
}

[[nodiscard]] bool is_control(char letter) noexcept {
    const auto code = static_cast<unsigned char>(letter);
    return code < 0x20 || code == 0x7f;
}

}  // namespace

std::string text_of_thrown(const std::exception_ptr& thrown) {
    const auto* const error = find_thrown<std::exception>(thrown);
    std::string text = error == nullptr ? std::string() : std::string(error->what());
    if (const auto* const system = find_thrown<std::system_error>(thrown); system != nullptr) {
        // Its text ends with the message of its code.
        const std::string message = system->code().message();
        if (text.ends_with(message)) {
            text.replace(
                text.size() - message.size(), message.size(), text_of_code(system->code()));
        }
    }
    return text;
}

std::string failure_line(std::string_view text, std::size_t size_max) {
    std::string line(text.substr(0, size_max));
    for (char& letter : line) {
        letter = is_control(letter) ? ' ' : letter;
    }
    // "Connection refused" becomes part of a sentence; "SSL error" stays as it is.
    if (is_upper(line, 0) && !is_upper(line, 1)) {
        line[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(line[0])));
    }
    return line;
}

std::string milliseconds_text(duration time) {
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
    return number_text("%.6g ms", static_cast<double>(micros) / 1000.0);
}

void append_failure_text(std::string& out, std::string_view message, std::string_view code) {
    if (!message.empty()) {
        out.append(", ").append(message);
        if (!code.empty()) {
            out.append(" (").append(code).append(")");
        }
    } else if (!code.empty()) {
        out.append(", code ").append(code);
    }
}

void append_decision(std::string& out, const history_entry& entry, bool with_remedy) {
    if (entry.is_hedge() && entry.refusal() == refusal_reason::none) {
        out += "; hedged by another attempt";
    } else if (entry.refusal() == refusal_reason::none) {
        out += "; retried after " + milliseconds_text(entry.delay());
    } else {
        out += entry.is_hedge() ? "; not hedged: " : "; not retried: ";
        out += to_string(entry.refusal());
        const std::string_view remedy =
            with_remedy ? remedy_for(entry.refusal()) : std::string_view();
        if (!remedy.empty()) {
            out.append(" (").append(remedy).append(")");
        }
    }
    if (entry.budget_level() >= 0) {
        out += " (budget " +
               number_text("%.6g", static_cast<double>(entry.budget_level()) / 1000.0) + ")";
    }
}

}  // namespace reprise::detail
