#include <cmath>

#include <reprise/couchbase_types/document_request.hpp>
#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>

// The values that users pass: documents and parts of them.

namespace reprise::couchbase {
namespace {

std::string_view text_of(mutation_macro macro) noexcept {
    switch (macro) {
        case mutation_macro::seqno:
            return R"("${Mutation.seqno}")";
        case mutation_macro::value_crc32c:
            return R"("${Mutation.value_crc32c}")";
        case mutation_macro::cas:
            break;
    }
    return R"("${Mutation.CAS}")";
}

}  // namespace

std::string_view to_string(document_format format) noexcept {
    switch (format) {
        case document_format::none:
            return "none";
        case document_format::private_format:
            return "private";
        case document_format::json:
            return "json";
        case document_format::binary:
            return "binary";
        case document_format::string:
            return "string";
        case document_format::unknown:
            break;
    }
    return "unknown";
}

encoded_value encoded_value::own(std::string text, document_format format) noexcept {
    encoded_value value;
    value.owned_ = std::move(text);
    value.flags_ = flags_of(format);
    return value;
}

encoded_value encoded_value::failed(std::string problem) {
    encoded_value value;
    value.problem_ = problem.empty() ? "no reason was given" : std::move(problem);
    return value;
}

json_fragment::json_fragment(mutation_macro macro) : text_(text_of(macro)), is_macro_(true) {}

void json_fragment::set_string(std::string_view text) {
    if (!json::is_valid_utf8(text)) {
        problem_ = "the text is not UTF-8";
        return;
    }
    json::append_quoted(text_, text);
}

void json_fragment::set_number(double number) {
    if (!std::isfinite(number)) {
        problem_ = "the number is not finite";
        return;
    }
    text_ = json::serialize(json::value(number));
}

void json_fragment::set_encoded(const encoded_value& value) {
    if (!value.problem().empty()) {
        problem_ = value.problem();
        return;
    }
    if (format_of(value.flags()) != document_format::json) {
        problem_ =
            "the value is " + std::string(to_string(format_of(value.flags()))) + ", not json";
        return;
    }
    const auto bytes = value.bytes();
    set_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void json_fragment::set_json(std::string_view json) {
    text_ = json;
    if (text_.empty()) {
        problem_ = "the value is empty";
    }
}

}  // namespace reprise::couchbase
