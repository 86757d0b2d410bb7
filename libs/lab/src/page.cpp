#include <reprise/lab/page.hpp>

#include "embedded.hpp"

namespace reprise::lab {

std::string html_text(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        switch (c) {
            case '&':
                escaped += "&amp;";
                break;
            case '<':
                escaped += "&lt;";
                break;
            case '>':
                escaped += "&gt;";
                break;
            case '"':
                escaped += "&quot;";
                break;
            default:
                escaped += c;
        }
    }
    return escaped;
}

std::string fill_in(
    std::string_view page, const std::vector<std::pair<std::string_view, std::string>>& values) {
    std::string filled;
    while (!page.empty()) {
        const std::size_t open = page.find("{{");
        const std::size_t close = page.find("}}", open == page.npos ? 0 : open);
        if (open == page.npos || close == page.npos) {
            break;
        }
        filled.append(page.substr(0, open));
        const std::string_view name = page.substr(open + 2, close - open - 2);
        for (const auto& [key, value] : values) {
            if (key == name) {
                filled.append(value);
            }
        }
        page.remove_prefix(close + 2);
    }
    return filled.append(page);
}

std::string make_page(
    std::string_view page, std::vector<std::pair<std::string_view, std::string>> values) {
    values.emplace_back("style", embedded::style());
    values.emplace_back("chart_library", embedded::chart_library());
    values.emplace_back("chart_parts", embedded::chart_parts());
    return fill_in(page, values);
}

std::string script_text(std::string_view json_text) {
    std::string escaped;
    for (const char c : json_text) {
        escaped += c == '<' ? "\\u003c" : std::string(1, c);
    }
    return escaped;
}

}  // namespace reprise::lab
