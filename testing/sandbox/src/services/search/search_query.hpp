#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <reprise/json/value.hpp>

namespace reprise::sandbox::detail {

// Queries of the search service over whole documents. Texts are split into lower-case words of
// ASCII letters, digits and whatever is beyond ASCII; nothing else is analysed.

struct searched_document {
    std::string id{};
    json::value content{};
    std::string collection{};
};

// A kind of query, told by the member that only it has.
struct search_kind {
    std::string_view name;
    std::string_view members;  // what it may have beside `name`, separated by blanks
    std::string_view meaning;
    // `query` is well-formed.
    bool (*fits)(const json::value& query, const searched_document& in);
    // What is wrong with a query of this kind; null: nothing can be.
    std::optional<std::string> (*find_problem)(const json::value& query, std::size_t depth);
};

std::span<const search_kind> search_kinds() noexcept;

// What is not in the sandbox, or malformed; empty: the query can be asked.
std::optional<std::string> find_search_problem(const json::value& query, std::size_t depth = 0);
// Only for queries without a problem.
bool fits_search(const json::value& query, const searched_document& in);

// The value at a dotted path; null: none.
const json::value* find_dotted(const json::value& in, std::string_view path);

}  // namespace reprise::sandbox::detail
