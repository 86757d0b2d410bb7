#include "services/search/search_query.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <reprise/sandbox/fault_rule.hpp>

#include "services/query/language.hpp"

namespace reprise::sandbox::detail {

namespace {

constexpr std::size_t query_depth_max = 32;

using word_list = std::vector<std::string>;

// English words that the standard analyzer leaves out of texts and of queries. In order.
constexpr std::string_view stop_words[] = {
    "a",      "about",    "above",     "after",      "again",   "against", "all",     "am",
    "an",     "and",      "any",       "are",        "as",      "at",      "be",      "because",
    "been",   "before",   "being",     "below",      "between", "both",    "but",     "by",
    "could",  "did",      "do",        "does",       "doing",   "down",    "during",  "each",
    "few",    "for",      "from",      "further",    "had",     "has",     "have",    "having",
    "he",     "her",      "here",      "hers",       "herself", "him",     "himself", "his",
    "how",    "i",        "if",        "in",         "into",    "is",      "it",      "its",
    "itself", "me",       "more",      "most",       "my",      "myself",  "no",      "nor",
    "not",    "of",       "off",       "on",         "once",    "only",    "or",      "other",
    "ought",  "our",      "ours",      "ourselves",  "out",     "over",    "own",     "same",
    "she",    "should",   "so",        "some",       "such",    "than",    "that",    "the",
    "their",  "theirs",   "them",      "themselves", "then",    "there",   "these",   "they",
    "this",   "those",    "through",   "to",         "too",     "under",   "until",   "up",
    "very",   "was",      "we",        "were",       "what",    "when",    "where",   "which",
    "while",  "who",      "whom",      "why",        "with",    "would",   "you",     "your",
    "yours",  "yourself", "yourselves"};
static_assert(std::ranges::is_sorted(stop_words));

void add_word(word_list& words, std::string word) {
    if (!word.empty() && !std::ranges::binary_search(stop_words, std::string_view(word))) {
        words.push_back(std::move(word));
    }
}

word_list words_of(std::string_view text) {
    word_list words;
    std::string word;
    for (const char c : text) {
        const bool is_upper = c >= 'A' && c <= 'Z';
        const bool is_part = is_upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
                             static_cast<unsigned char>(c) >= 0x80;
        if (is_part) {
            word += is_upper ? static_cast<char>(c + 32) : c;
        } else {
            add_word(words, std::exchange(word, {}));
        }
    }
    add_word(words, std::move(word));
    return words;
}

std::string_view text_member(const json::value& of, std::string_view name) {
    const json::value* found = of.find(name);
    return found == nullptr ? std::string_view() : found->as_string().value_or("");
}

// Whether `test` holds for any value below the query's field, or anywhere in the document. The
// parser limits the depth of documents.
template <class Test>
bool any_value(const json::value& from, const Test& test) {
    if (const json::array* elements = from.as_array()) {
        return std::ranges::any_of(
            *elements, [&test](const json::value& each) { return any_value(each, test); });
    }
    if (const json::object* members = from.as_object()) {
        return std::ranges::any_of(
            *members, [&test](const json::member& each) { return any_value(each.content, test); });
    }
    return test(from);
}

template <class Test>
bool any_in_field(const json::value& query, const searched_document& in, const Test& test) {
    const std::string_view field = text_member(query, "field");
    const json::value* below = field.empty() ? &in.content : find_dotted(in.content, field);
    return below != nullptr && any_value(*below, test);
}

template <class Test>
bool any_word(const json::value& query, const searched_document& in, const Test& test) {
    return any_in_field(query, in, [&test](const json::value& value) {
        const auto text = value.as_string();
        return text && std::ranges::any_of(words_of(*text), test);
    });
}

// --- kinds of queries ----------------------------------------------------------------------------

bool fits_all(const json::value&, const searched_document&) {
    return true;
}

bool fits_none(const json::value&, const searched_document&) {
    return false;
}

bool fits_ids(const json::value& query, const searched_document& in) {
    const json::array& ids = *query.find("ids")->as_array();
    return std::ranges::find(ids, json::value(in.id)) != ids.end();
}

std::size_t count_fitting(const json::array& parts, const searched_document& in) {
    return static_cast<std::size_t>(std::ranges::count_if(
        parts, [&in](const json::value& each) { return fits_search(each, in); }));
}

bool fits_conjuncts(const json::value& query, const searched_document& in) {
    const json::array& parts = *query.find("conjuncts")->as_array();
    return count_fitting(parts, in) == parts.size();
}

bool fits_disjuncts(const json::value& query, const searched_document& in) {
    const json::value* least = query.find("min");
    const auto wanted = least == nullptr ? 1 : std::max(least->as_double().value_or(1), 1.0);
    return static_cast<double>(count_fitting(*query.find("disjuncts")->as_array(), in)) >= wanted;
}

bool fits_boolean(const json::value& query, const searched_document& in) {
    const json::value* must = query.find("must");
    const json::value* should = query.find("should");
    const json::value* must_not = query.find("must_not");
    if ((must != nullptr && !fits_search(*must, in)) ||
        (must_not != nullptr && fits_search(*must_not, in))) {
        return false;
    }
    // `should` is required only if there is no `must`.
    return should == nullptr || must != nullptr || fits_search(*should, in);
}

bool fits_words(const json::value& query, const searched_document& in, std::string_view wanted) {
    const bool is_every = text_member(query, "operator") == "and";
    const word_list words = words_of(wanted);
    const auto has_word = [&](const std::string& word) {
        return any_word(query, in, [&word](const std::string& given) { return given == word; });
    };
    return !words.empty() &&
           (is_every ? std::ranges::all_of(words, has_word) : std::ranges::any_of(words, has_word));
}

bool fits_match(const json::value& query, const searched_document& in) {
    return fits_words(query, in, text_member(query, "match"));
}

bool fits_query_string(const json::value& query, const searched_document& in) {
    return fits_words(query, in, text_member(query, "query"));
}

bool fits_match_phrase(const json::value& query, const searched_document& in) {
    const word_list wanted = words_of(text_member(query, "match_phrase"));
    return any_in_field(query, in, [&wanted](const json::value& value) {
        const word_list given = words_of(value.as_string().value_or(""));
        return !wanted.empty() && !std::ranges::search(given, wanted).empty();
    });
}

bool fits_term(const json::value& query, const searched_document& in) {
    const std::string_view wanted = text_member(query, "term");
    return any_word(query, in, [wanted](const std::string& given) { return given == wanted; });
}

bool fits_prefix(const json::value& query, const searched_document& in) {
    const std::string_view wanted = text_member(query, "prefix");
    return any_word(
        query, in, [wanted](const std::string& given) { return given.starts_with(wanted); });
}

bool fits_wildcard(const json::value& query, const searched_document& in) {
    const std::string pattern(text_member(query, "wildcard"));
    return any_word(
        query, in, [&pattern](const std::string& given) { return matches_glob(pattern, given); });
}

bool fits_boolean_field(const json::value& query, const searched_document& in) {
    const auto wanted = query.find("bool")->as_bool();
    return any_in_field(
        query, in, [wanted](const json::value& value) { return value.as_bool() == wanted; });
}

bool fits_range(const json::value& query, const searched_document& in) {
    const json::value* least = query.find("min");
    const json::value* most = query.find("max");
    const json::value* with_least = query.find("inclusive_min");
    const json::value* with_most = query.find("inclusive_max");
    const bool has_least = with_least == nullptr || with_least->as_bool().value_or(true);
    const bool has_most = with_most != nullptr && with_most->as_bool().value_or(false);
    return any_in_field(query, in, [&](const json::value& value) {
        const auto number = value.as_double();
        if (!number) {
            return false;
        }
        const auto low = least == nullptr ? std::nullopt : least->as_double();
        const auto high = most == nullptr ? std::nullopt : most->as_double();
        return (!low || *number > *low || (has_least && *number == *low)) &&
               (!high || *number < *high || (has_most && *number == *high));
    });
}

// --- validation ----------------------------------------------------------------------------------

std::optional<std::string> wrong_type(std::string_view name) {
    return "cannot unmarshal the value of " + std::string(name);
}

std::optional<std::string> check_nothing(const json::value&, std::size_t) {
    return std::nullopt;
}

// The members that must be texts, in whatever kind of query.
std::optional<std::string> check_texts(const json::value& query, std::size_t) {
    for (const std::string_view name :
         {"match", "match_phrase", "term", "prefix", "wildcard", "query", "field", "operator"}) {
        const json::value* found = query.find(name);
        if (found != nullptr && !found->is_null() && !found->as_string()) {
            return wrong_type(name);
        }
    }
    return std::nullopt;
}

std::optional<std::string> check_flag(const json::value& query, std::size_t depth) {
    return query.find("bool")->as_bool() ? check_texts(query, depth) : wrong_type("bool");
}

std::optional<std::string> check_range(const json::value& query, std::size_t depth) {
    for (const std::string_view name : {"min", "max"}) {
        const json::value* found = query.find(name);
        if (found != nullptr && found->as_string()) {
            return not_in_sandbox_text("A range of texts");
        }
        if (found != nullptr && !found->is_null() && !found->is_number()) {
            return wrong_type(name);
        }
    }
    return check_texts(query, depth);
}

std::optional<std::string> check_parts(const json::value& parts, std::size_t depth) {
    if (parts.as_array() == nullptr) {
        return "the parts of a query must be a list";
    }
    for (const json::value& each : *parts.as_array()) {
        if (auto problem = find_search_problem(each, depth + 1)) {
            return problem;
        }
    }
    return std::nullopt;
}

std::optional<std::string> check_conjuncts(const json::value& query, std::size_t depth) {
    return check_parts(*query.find("conjuncts"), depth);
}

std::optional<std::string> check_disjuncts(const json::value& query, std::size_t depth) {
    return check_parts(*query.find("disjuncts"), depth);
}

std::optional<std::string> check_ids(const json::value& query, std::size_t) {
    const json::array* ids = query.find("ids")->as_array();
    const auto is_text = [](const json::value& each) { return each.as_string().has_value(); };
    return ids == nullptr || !std::ranges::all_of(*ids, is_text) ? wrong_type("ids") : std::nullopt;
}

std::optional<std::string> check_boolean(const json::value& query, std::size_t depth) {
    for (const std::string_view name : {"must", "should", "must_not"}) {
        const json::value* part = query.find(name);
        if (part != nullptr) {
            if (auto problem = find_search_problem(*part, depth + 1)) {
                return problem;
            }
        }
    }
    return std::nullopt;
}

// Only words are accepted: the operators of the query string language would be taken for parts of
// words.
std::optional<std::string> check_query_string(const json::value& query, std::size_t depth) {
    if (auto problem = check_texts(query, depth)) {
        return problem;
    }
    const std::string_view text = text_member(query, "query");
    return text.find_first_of("+-:\"~^*?/\\()<>=!{}[]&|") == std::string_view::npos
               ? std::nullopt
               : std::optional(not_in_sandbox_text("A query string with operators"));
}

std::optional<std::string> check_match(const json::value& query, std::size_t depth) {
    if (auto problem = check_texts(query, depth)) {
        return problem;
    }
    const std::string_view word = text_member(query, "operator");
    return word.empty() || word == "and" || word == "or"
               ? std::nullopt
               : std::optional<std::string>("the operator must be \"and\" or \"or\"");
}

constexpr search_kind kinds[] = {
    {"match_all", "", "every document", fits_all, check_nothing},
    {"match_none", "", "no document", fits_none, check_nothing},
    {"ids", "", "documents with these ids", fits_ids, check_ids},
    {"conjuncts", "", "all of these queries", fits_conjuncts, check_conjuncts},
    {"disjuncts", "min", "at least `min` of these queries", fits_disjuncts, check_disjuncts},
    {"must", "should must_not", "a boolean query", fits_boolean, check_boolean},
    {"should", "must_not", "a boolean query", fits_boolean, check_boolean},
    {"must_not", "", "a boolean query", fits_boolean, check_boolean},
    {"match", "field operator", "any of the words, or all of them", fits_match, check_match},
    {"match_phrase", "field", "the words in a row", fits_match_phrase, check_texts},
    {"term", "field", "exactly this word", fits_term, check_texts},
    {"prefix", "field", "a word with this prefix", fits_prefix, check_texts},
    {"wildcard", "field", "a word that matches this pattern of `*` and `?`", fits_wildcard,
     check_texts},
    {"query", "", "any of the words; without operators", fits_query_string, check_query_string},
    {"bool", "field", "a field that is true, or false", fits_boolean_field, check_flag},
    {"min", "max inclusive_min inclusive_max field", "a range of numbers", fits_range, check_range},
    {"max", "inclusive_min inclusive_max field", "a range of numbers", fits_range, check_range},
};

// Members of real queries that have no meaning here. All others are ignored, as by servers.
constexpr std::string_view missing_members[] = {
    "analyzer", "boost",          "cidr",          "distance", "end",   "fuzziness", "geometry",
    "location", "polygon_points", "prefix_length", "regexp",   "start", "terms",     "top_left"};

const search_kind* kind_of(const json::value& query) {
    for (const search_kind& each : kinds) {
        if (query.find(each.name) != nullptr) {
            return &each;
        }
    }
    return nullptr;
}

}  // namespace

std::span<const search_kind> search_kinds() noexcept {
    return kinds;
}

std::span<const std::string_view> missing_query_members() noexcept {
    return missing_members;
}

const json::value* find_dotted(const json::value& in, std::string_view path) {
    const json::value* at = &in;
    while (at != nullptr && !path.empty()) {
        const std::string_view name = path.substr(0, path.find('.'));
        path.remove_prefix(std::min(name.size() + 1, path.size()));
        at = at->find(name);
    }
    return at;
}

std::optional<std::string> find_search_problem(const json::value& query, std::size_t depth) {
    if (depth >= query_depth_max) {
        return "the query is nested too deeply";
    }
    if (query.as_object() == nullptr || query.as_object()->empty()) {
        return "the query must be an object with members";
    }
    const search_kind* kind = kind_of(query);
    for (const json::member& each : *query.as_object()) {
        // Many clients send members that they do not set as null.
        if (!each.content.is_null() &&
            std::ranges::find(missing_members, each.name) != std::end(missing_members)) {
            return not_in_sandbox_text("A search query with \"" + each.name + "\"");
        }
    }
    return kind == nullptr ? "unknown query type" : kind->find_problem(query, depth);
}

bool fits_search(const json::value& query, const searched_document& in) {
    const search_kind* kind = kind_of(query);
    return kind != nullptr && kind->fits(query, in);
}

}  // namespace reprise::sandbox::detail
