#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <reprise/json/value.hpp>

namespace reprise::sandbox::detail {

// Queries of the search service over whole documents. Texts are split into lower-case words of
// ASCII letters, digits and non-ASCII characters, without the stop words of the standard analyzer.

struct searched_document {
    std::string id{};
    json::value content{};
    std::string collection{};
};

// A kind of query, identified by the member that only this kind has.
struct search_kind {
    std::string_view name;
    std::string_view members;  // further members, separated by spaces
    std::string_view meaning;
    // Requires a well-formed `query`.
    bool (*fits)(const json::value& query, const searched_document& in);
    // Returns what is wrong with a query of this kind; null: nothing can be wrong.
    std::optional<std::string> (*find_problem)(const json::value& query, std::size_t depth);
};

std::span<const search_kind> search_kinds() noexcept;
// Members of queries and of requests that real servers have and the sandbox refuses by name.
std::span<const std::string_view> missing_query_members() noexcept;
std::span<const std::string_view> missing_search_members() noexcept;

// Returns what is malformed or not in the sandbox; empty: the query can run.
std::optional<std::string> find_search_problem(const json::value& query, std::size_t depth = 0);
// Requires a query without a problem.
bool fits_search(const json::value& query, const searched_document& in);

// The value at a dotted path; null: none.
const json::value* find_dotted(const json::value& in, std::string_view path);

}  // namespace reprise::sandbox::detail
