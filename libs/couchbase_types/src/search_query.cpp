#include <reprise/couchbase_types/services.hpp>
#include <reprise/json/write.hpp>

namespace reprise::couchbase {
namespace {

// Writes {"match":"text","field":"name"}.
search_query make_search_query(
    std::string_view kind, std::string_view text, std::string_view field = {}) {
    std::string out;
    json::writer writer(out);
    writer.begin_object().member(kind, text);
    if (!field.empty()) {
        writer.member("field", field);
    }
    writer.end_object();
    return search_query(std::move(out));
}

}  // namespace

search_query search_query::match(std::string_view text, std::string_view field) {
    return make_search_query("match", text, field);
}

search_query search_query::term(std::string_view term, std::string_view field) {
    return make_search_query("term", term, field);
}

search_query search_query::query_string(std::string_view text) {
    return make_search_query("query", text);
}

search_query search_query::match_all() {
    return search_query(R"({"match_all":{}})");
}

}  // namespace reprise::couchbase
