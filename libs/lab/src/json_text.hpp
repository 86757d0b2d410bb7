#pragma once

/// Just enough JSON to write reports: objects and arrays of numbers and strings, in the order
/// given.

#include <cstdint>
#include <string>
#include <string_view>

#include "number_text.hpp"

namespace reprise::lab {

/// Quoted and escaped. `<` is escaped, too, so that the text may stand inside an HTML script
/// element.
[[nodiscard]] std::string json_string(std::string_view text);

/// Collects members of one object: `add` in order, then `str()`.
class json_object {
public:
    json_object& add(std::string_view name, std::uint64_t value) {
        return add_raw(name, std::to_string(value));
    }
    json_object& add(std::string_view name, double value) {
        return add_raw(name, json_number(value));
    }
    json_object& add(std::string_view name, std::string_view value) {
        return add_raw(name, json_string(value));
    }
    /// `json` must be JSON already.
    json_object& add_raw(std::string_view name, std::string_view json);

    [[nodiscard]] std::string str() const { return "{" + members_ + "}"; }

private:
    std::string members_;
};

/// "[...]" of one value per item, made by `to_json_text`.
template <class Items, class ToText>
[[nodiscard]] std::string json_array(const Items& items, ToText to_json_text) {
    std::string text = "[";
    for (const auto& item : items) {
        if (text.size() > 1) {
            text += ',';
        }
        text += to_json_text(item);
    }
    return text + "]";
}

}  // namespace reprise::lab
