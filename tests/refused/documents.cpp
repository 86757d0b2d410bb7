// Bare text as a document. See check_refused.py and docs/design/text_documents.md.

#include <reprise/couchbase.hpp>
#include <string>

namespace couchbase = reprise::couchbase;

// refused: a_literal_as_a_document
// message: is this text JSON? store json_text{...} if it is, plain_text{...} if it is not
auto store(const couchbase::collection& at) {
    return at.upsert("k", R"({"n":1})");
}

// refused: a_string_as_a_document
// message: is this text JSON? store json_text{...} if it is, plain_text{...} if it is not
auto store(const couchbase::collection& at, const std::string& text) {
    return at.insert("k", text, {.timeout = std::chrono::seconds{1}});
}

// accepted: text_with_a_stated_format
// flags: -Wall -Wextra -Werror
auto store_json(const couchbase::collection& at) {
    return at.upsert("k", couchbase::json_text{R"({"n":1})"});
}
auto store_text(const couchbase::collection& at, const std::string& text) {
    return at.replace("k", couchbase::plain_text{text}, {.timeout = std::chrono::seconds{1}});
}
