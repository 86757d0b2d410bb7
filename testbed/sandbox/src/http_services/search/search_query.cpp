#include "http_services/search/search_query.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "http_services/query/language.hpp"

namespace reprise::sandbox::detail {

namespace {

using word_list = std::vector<std::string>;

word_list words_of(std::string_view text) {
    word_list words;
    std::string word;
    for (const char c : text) {
        const bool is_upper = c >= 'A' && c <= 'Z';
        const bool is_part = is_upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                             static_cast<unsigned char>(c) >= 0x80;
        if (is_part) {
            word += is_upper ? static_cast<char>(c + 32) : c;
        } else if (!word.empty()) {
            words.push_back(std::exchange(word, {}));
        }
    }
    if (!word.empty()) {
        words.push_back(std::move(word));
    }
    return words;
}

std::string_view text_member(const json::value& of, std::string_view name) {
    const json::value* found = of.find(name);
    return found == nullptr ? std::string_view() : found->as_string().value_or("");
}

// Adds the words of all texts below the value. The parser limits the depth of documents.
void add_words(const json::value& from, word_list& words) {
    if (const json::array* elements = from.as_array()) {
        for (const json::value& each : *elements) {
            add_words(each, words);
        }
    } else if (const json::object* members = from.as_object()) {
        for (const json::member& each : *members) {
            add_words(each.content, words);
        }
    } else if (const auto text = from.as_string()) {
        std::ranges::move(words_of(*text), std::back_inserter(words));
    }
}

// The words of the query's field, which is a dotted path, or of the whole document.
word_list words_in(const json::value& query, const searched_document& in) {
    std::string_view path = text_member(query, "field");
    const json::value* at = &in.content;
    while (at != nullptr && !path.empty()) {
        const std::string_view name = path.substr(0, path.find('.'));
        path.remove_prefix(std::min(name.size() + 1, path.size()));
        at = at->find(name);
    }
    word_list words;
    if (at != nullptr) {
        add_words(*at, words);
    }
    return words;
}

bool has_any(const json::value& query, const searched_document& in, const word_list& wanted) {
    const word_list given = words_in(query, in);
    return std::ranges::find_first_of(given, wanted) != given.end();
}

bool fits_all(const json::value&, const searched_document&) {
    return true;
}

bool fits_match(const json::value& query, const searched_document& in) {
    return has_any(query, in, words_of(text_member(query, "match")));
}

bool fits_query_string(const json::value& query, const searched_document& in) {
    return has_any(query, in, words_of(text_member(query, "query")));
}

bool fits_term(const json::value& query, const searched_document& in) {
    return has_any(query, in, {std::string(text_member(query, "term"))});
}

constexpr search_kind kinds[] = {
    {.name = "match_all", .meaning = "every document", .fits = fits_all},
    {.name = "match", .meaning = "any of the words", .has_field = true, .fits = fits_match},
    {.name = "term", .meaning = "exactly this word", .has_field = true, .fits = fits_term},
    {.name = "query", .meaning = "any of the words; without operators", .fits = fits_query_string},
};

const search_kind* kind_of(const json::value& query) {
    const auto* const found = std::ranges::find_if(
        kinds, [&query](const search_kind& each) { return query.find(each.name) != nullptr; });
    return found == std::end(kinds) ? nullptr : found;
}

}  // namespace

std::span<const search_kind> search_kinds() noexcept {
    return kinds;
}

std::optional<std::string> find_search_problem(const json::value& query) {
    if (query.as_object() == nullptr || query.as_object()->empty()) {
        return "the query must be an object with members";
    }
    const search_kind* kind = kind_of(query);
    for (const json::member& each : *query.as_object()) {
        const bool is_own = kind != nullptr &&
                            (each.name == kind->name || (kind->has_field && each.name == "field"));
        // Many clients send members that they do not set as null.
        if (!is_own && !each.content.is_null()) {
            return not_in_sandbox_text("A search query with \"" + each.name + "\"");
        }
        if (each.name != "match_all" && !each.content.is_null() && !each.content.as_string()) {
            return "cannot unmarshal the value of " + each.name;
        }
    }
    if (kind == nullptr) {
        return "unknown query type";
    }
    // The operators of the query string language would be taken for parts of words.
    return text_member(query, "query").find_first_of("+-:\"~^*?/\\()<>=!{}[]&|") ==
                   std::string_view::npos
               ? std::nullopt
               : std::optional(not_in_sandbox_text("A query string with operators"));
}

bool fits_search(const json::value& query, const searched_document& in) {
    return kind_of(query)->fits(query, in);
}

}  // namespace reprise::sandbox::detail
