#pragma once

#include <string>
#include <string_view>

namespace reprise::wire {

// A problem in a JSON document: "nodesExt[2].services: wrong type: expected an object". `path`
// and `detail` may be empty.
[[nodiscard]] inline std::string located_text(
    std::string_view path, std::string_view problem, std::string_view detail) {
    std::string text;
    if (!path.empty()) {
        text.append(path).append(": ");
    }
    text.append(problem);
    if (!detail.empty()) {
        text.append(": ").append(detail);
    }
    return text;
}

}  // namespace reprise::wire
