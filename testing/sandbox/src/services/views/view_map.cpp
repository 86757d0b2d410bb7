#include "services/views/view_map.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "services/query/language.hpp"

namespace reprise::sandbox::detail {

namespace {

// The function that clients send for "all documents": the text that a server's console suggests.
constexpr std::string_view suggested = "function(doc,meta){emit(meta.id,null);}";

std::string without_blanks(std::string_view text) {
    std::string kept(text);
    std::erase_if(kept, [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; });
    return kept;
}

}  // namespace

std::expected<map_function, std::string> map_function::parse(std::string_view text) {
    constexpr std::string_view by_fields = "_by_fields:";
    map_function made;
    if (text == "_by_id" || without_blanks(text) == suggested) {
        return made;
    }
    if (!text.starts_with(by_fields)) {
        return std::unexpected(
            not_in_sandbox_text("A map function other than _by_id and _by_fields"));
    }
    text.remove_prefix(by_fields.size());
    const std::size_t equals = std::min(text.find('='), text.size());
    made.value_ = text.substr(std::min(equals + 1, text.size()));
    for (std::string_view rest = text.substr(0, equals); !rest.empty();) {
        const std::string_view name = rest.substr(0, rest.find(','));
        made.keys_.emplace_back(name);
        rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    }
    if (made.keys_.empty()) {
        return std::unexpected("_by_fields needs the name of a field");
    }
    return made;
}

void map_function::run(
    const std::string& id, const json::value& document, std::vector<view_row>& out) const {
    const auto field = [&document](std::string_view name) {
        const json::value* found = document.find(name);
        return found == nullptr ? json::value() : *found;
    };
    if (keys_.empty()) {
        out.push_back({id, id, nullptr});
        return;
    }
    if (document.find(keys_.front()) == nullptr) {
        return;
    }
    json::array keys;
    std::ranges::transform(keys_, std::back_inserter(keys), field);
    json::value key = keys.size() == 1 ? std::move(keys.front()) : json::value(std::move(keys));
    out.push_back({id, std::move(key), field(value_)});
}

}  // namespace reprise::sandbox::detail
