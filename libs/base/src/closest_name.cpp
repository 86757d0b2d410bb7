#include <reprise/base/closest_name.hpp>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace reprise::base {

namespace {

// The Levenshtein distance, computed one row at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t column = 0; column <= b.size(); ++column) {
        row[column] = column;
    }
    for (std::size_t line = 1; line <= a.size(); ++line) {
        std::size_t diagonal = std::exchange(row[0], line);
        for (std::size_t column = 1; column <= b.size(); ++column) {
            const std::size_t change = diagonal + (a[line - 1] == b[column - 1] ? 0 : 1);
            diagonal = row[column];
            row[column] = std::min({change, row[column] + 1, row[column - 1] + 1});
        }
    }
    return row.back();
}

}  // namespace

std::string_view closest_name(std::string_view word, std::span<const std::string_view> candidates) {
    // A long word is not a typo of a short name. Skipping it limits the work on hostile input.
    constexpr std::size_t word_size_max = 64;
    if (word.size() > word_size_max) {
        return {};
    }
    std::string_view closest;
    std::size_t closest_distance = std::numeric_limits<std::size_t>::max();
    for (const std::string_view candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance * 3 <= candidate.size() && distance < closest_distance) {
            closest = candidate;
            closest_distance = distance;
        }
    }
    return closest;
}

}  // namespace reprise::base
