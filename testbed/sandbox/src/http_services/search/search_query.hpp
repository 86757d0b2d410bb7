#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <reprise/json/value.hpp>

namespace reprise::sandbox::detail {

// Queries of the search service over whole documents. Texts are split into lower-case words of
// ASCII letters, digits and non-ASCII characters. The client sends queries as they are, so that
// the few kinds that it composes are enough to test it.

struct searched_document {
    std::string id{};
    json::value content{};
    std::string collection{};
};

// A kind of query, identified by the member that only this kind has.
struct search_kind {
    std::string_view name;
    std::string_view meaning;
    bool has_field = false;  // may have the member `field`
    // Requires a well-formed `query`.
    bool (*fits)(const json::value& query, const searched_document& in) = nullptr;
};

std::span<const search_kind> search_kinds() noexcept;
// Members of requests that real servers have and the sandbox refuses by name.
std::span<const std::string_view> missing_search_members() noexcept;

// Returns what is malformed or not in the sandbox; empty: the query can run.
std::optional<std::string> find_search_problem(const json::value& query);
// Requires a query without a problem.
bool fits_search(const json::value& query, const searched_document& in);

}  // namespace reprise::sandbox::detail
