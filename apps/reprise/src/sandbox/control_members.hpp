#pragma once

/// Members of a control command that are omitted if nothing was typed.

#include <optional>
#include <string>
#include <string_view>

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

}  // namespace reprise::app
