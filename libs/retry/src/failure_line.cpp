#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <string>
#include <system_error>

#include <reprise/retry/failure_facts.hpp>

#include "failure_line.hpp"

namespace reprise::detail {

namespace {

[[nodiscard]] bool is_upper(std::string_view text, std::size_t place) noexcept {
    return text.size() > place && std::isupper(static_cast<unsigned char>(text[place])) != 0;
}

[[nodiscard]] bool is_control(char letter) noexcept {
    const auto code = static_cast<unsigned char>(letter);
    return code < 0x20 || code == 0x7f;
}

/// The size of the longest beginning of `text` within `size_max` that ends with a whole character.
[[nodiscard]] std::size_t whole_characters(std::string_view text, std::size_t size_max) noexcept {
    if (text.size() <= size_max) {
        return text.size();
    }
    constexpr std::size_t character_size_max = 4;
    for (std::size_t cut = 0; cut < character_size_max && cut < size_max; ++cut) {
        const auto next = static_cast<unsigned char>(text[size_max - cut]);
        if ((next & 0xc0U) != 0x80U) {  // It begins a character.
            return size_max - cut;
        }
    }
    return size_max;  // not UTF-8
}

template <class Number>
[[nodiscard]] std::string number_line(Number thrown) {
    return "thrown number " + std::to_string(thrown);
}

/// The text of a thrown object of a built-in type, or of one of the standard's texts.
[[nodiscard]] std::string text_of_thrown_value(const std::exception_ptr& thrown) {
#if defined(__cpp_exceptions)
    try {
        std::rethrow_exception(thrown);
    } catch (const char* text) {
        return text == nullptr ? std::string() : std::string(text);
    } catch (const std::string& text) {
        return text;
    } catch (std::string_view text) {
        return std::string(text);
    } catch (int number) {
        return number_line(number);
    } catch (unsigned number) {
        return number_line(number);
    } catch (long number) {
        return number_line(number);
    } catch (unsigned long number) {
        return number_line(number);
    } catch (long long number) {
        return number_line(number);
    } catch (unsigned long long number) {
        return number_line(number);
    } catch (...) {  // it has no text
    }
#else
    static_cast<void>(thrown);
#endif
    return {};
}

}  // namespace

std::string text_of_thrown(const std::exception_ptr& thrown) {
    std::string text;
    const auto of_code = [&text](const std::error_code& code) { text = text_of_code(code); };
    const auto of_exception = [&text](const std::exception& error) { text = error.what(); };
    if (visit_thrown<std::error_code>(thrown, of_code)) {
        return text;
    }
    if (!visit_thrown<std::exception>(thrown, of_exception)) {
        return thrown == nullptr ? std::string() : text_of_thrown_value(thrown);
    }
    visit_thrown<std::system_error>(thrown, [&text](const std::system_error& system) {
        // Its text ends with the message of its code.
        const std::string message = system.code().message();
        if (text.ends_with(message)) {
            text.replace(text.size() - message.size(), message.size(), text_of_code(system.code()));
        }
    });
    return text;
}

std::string text_of_failure(const failure_view& failure, const failure_facts& facts) {
    std::string text = failure.text();
    if (text.empty() && facts.category != nullptr) {
        return text_of_code({static_cast<int>(facts.code), *facts.category});
    }
    const auto* const thrown = failure.get_if<std::exception_ptr>();
    const bool is_unknown = text.empty() && thrown != nullptr && *thrown != nullptr &&
                            !visit_thrown<std::exception>(*thrown, [](const auto&) {});
    return is_unknown ? "exception of an unknown type" : text;
}

std::string text_or_empty(const char* text) noexcept {
    return guarded(std::string(), [&] { return std::string(text); });
}

std::string one_line(std::string_view text) {
    std::string line(text);
    std::ranges::replace_if(line, is_control, ' ');
    return line;
}

std::string failure_line(std::string_view text, std::size_t size_max) {
    std::string line = one_line(text.substr(0, whole_characters(text, size_max)));
    // "Connection refused" becomes part of a sentence; "SSL error" stays as it is.
    if (is_upper(line, 0) && !is_upper(line, 1)) {
        line[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(line[0])));
    }
    return line;
}

std::string code_text(std::uint32_t code, bool has_category) {
    return has_category ? std::to_string(static_cast<std::int32_t>(code)) : std::to_string(code);
}

std::string number_text(const char* format, double value) {
    std::array<char, 48> buffer{};
    const int size = std::snprintf(buffer.data(), buffer.size(), format, value);
    std::string text(buffer.data(), static_cast<std::size_t>(size));
    // Where the program has chosen another locale, the point is a comma or several bytes.
    const std::size_t point = text.find_first_not_of("+-0123456789abefinx");
    if (point != std::string::npos) {
        const std::size_t fraction = text.find_first_of("0123456789", point);
        text.replace(point, fraction - point, ".");
    }
    return text;
}

std::string milliseconds_text(duration time) {
    const auto micros = std::chrono::duration_cast<std::chrono::microseconds>(time).count();
    return number_text("%.6g", static_cast<double>(micros) / 1000.0) + " ms";
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

void append_decision(std::string& out, const retry_history::entry& entry, bool with_remedy) {
    if (entry.is_hedge() && entry.refusal() == refusal_reason::none) {
        out += "; hedged by another attempt";
    } else if (entry.refusal() == refusal_reason::none) {
        out += "; retried after " + milliseconds_text(entry.delay());
    } else {
        out += entry.is_hedge() ? "; not hedged: " : "; not retried: ";
        out += to_string(entry.refusal());
        const std::string_view remedy =
            with_remedy ? detail::remedy_for(entry.refusal()) : std::string_view();
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
