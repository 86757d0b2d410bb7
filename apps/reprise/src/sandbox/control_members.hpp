#pragma once

/// Members of a control command that are omitted if nothing was typed.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/json/value.hpp>

namespace reprise::app {

inline void set_text(json::object& command, std::string_view name, const std::string& text) {
    if (!text.empty()) {
        command.set(name, text);
    }
}

template <class Value>
void set_value(json::object& command, std::string_view name, const std::optional<Value>& value) {
    if (value) {
        command.set(name, *value);
    }
}

/// The words whose flags were typed.
[[nodiscard]] inline std::vector<std::string_view> typed_words(
    std::initializer_list<std::pair<bool, std::string_view>> flags) {
    std::vector<std::string_view> words;
    words.reserve(flags.size());
    for (const auto& [is_typed, word] : flags) {
        if (is_typed) {
            words.push_back(word);
        }
    }
    return words;
}

}  // namespace reprise::app
