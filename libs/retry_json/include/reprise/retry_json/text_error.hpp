#pragma once

/// Problems in texts that people write.

#include <cstddef>
#include <string>
#include <vector>

namespace reprise::retry_json {

/// One problem, with its place in the text.
struct text_error {
    std::size_t line = 0;  ///< Starts at 1; 0 if the problem is not in the text.
    std::string path;      ///< "services[0].nodes"; empty for text that is not JSON.
    std::string message;   ///< What is wrong and what is accepted.
};

/// "line 7: services[0].nodes: must be between 1 and 1,000"
[[nodiscard]] std::string to_string(const text_error& error);

/// One line for each error, separated by line feeds.
[[nodiscard]] std::string to_string(const std::vector<text_error>& errors);

}  // namespace reprise::retry_json
