#include "subdoc/edit.hpp"

#include <charconv>
#include <cstdint>
#include <optional>

#include <reprise/json/write.hpp>

#include "subdoc/json_text.hpp"
#include "subdoc/path.hpp"

namespace reprise::sandbox::detail {

namespace {

using wire::opcode;
using wire::status;
using outcome = path_match::outcome;
using edited = std::expected<edit_result, status>;

std::unexpected<status> refuse(status code) noexcept {
    return std::unexpected(code);
}

std::string splice(std::string_view document, text_range cut, std::string_view text) {
    std::string out;
    out.reserve(document.size() + text.size());
    out.append(document.substr(0, cut.begin));
    out.append(text);
    out.append(document.substr(cut.end));
    return out;
}

// Everything an operation needs: the parsed path, the place it leads to, and the document.
struct edit_site {
    std::string_view document;
    const edit_request& request;
    wire::subdoc_path path;
    path_match match;

    bool ends_in_index() const noexcept { return !path.empty() && path.back().is_index; }
    // Whether only the last component is missing.
    bool lacks_leaf_only() const noexcept { return match.matched + 1 == path.size(); }
};

bool is_empty_container(std::string_view document, text_range container) noexcept {
    return skip_space(document, container.begin + 1) + 1 == container.end;
}

// `"name":content`, or `content` for an index, wrapped in the missing levels in between.
std::string member_text(const wire::subdoc_path& path, std::size_t from, std::string content) {
    for (std::size_t i = path.size(); i-- > from;) {
        std::string outer;
        if (!path[i].is_index) {
            json::append_quoted(outer, path[i].name);
            outer += ':';
        }
        outer += content;
        content = i == from ? outer : "{" + outer + "}";
    }
    return content;
}

// Adds the missing part of the path below the deepest existing parent. Missing parents are created
// only on request, and only as objects: array elements are never created this way.
edited add_missing(const edit_site& site, std::string content) {
    if (!site.lacks_leaf_only() && !site.request.creates_parents) {
        return refuse(status::subdoc_path_enoent);
    }
    for (std::size_t i = site.match.matched; i < site.path.size(); ++i) {
        if (site.path[i].is_index) {
            return refuse(status::subdoc_path_enoent);
        }
    }
    std::string text = member_text(site.path, site.match.matched, std::move(content));
    if (!is_empty_container(site.document, site.match.parent)) {
        text.insert(0, ",");
    }
    const std::size_t at = site.match.parent.end - 1;
    return edit_result{splice(site.document, {at, at}, text), {}};
}

// Checks the value of a dictionary operation or replacement: one JSON value, not too deep for its
// place.
status check_value(std::string_view value, std::size_t path_depth) noexcept {
    const auto depth = json_depth(value);
    if (!depth) {
        return status::subdoc_value_cantinsert;
    }
    return *depth + path_depth > wire::subdoc_depth_max ? status::subdoc_value_etoodeep
                                                        : status::success;
}

edited edit_member(const edit_site& site) {
    if (site.path.empty() || (site.ends_in_index() && site.request.op != opcode::subdoc_replace)) {
        return refuse(status::subdoc_path_einval);
    }
    if (const status bad = check_value(site.request.value, site.path.size());
        bad != status::success) {
        return refuse(bad);
    }
    if (site.match.result == outcome::found) {
        if (site.request.op == opcode::subdoc_dict_add) {
            return refuse(status::subdoc_path_eexists);
        }
        return edit_result{splice(site.document, site.match.value, site.request.value), {}};
    }
    if (site.request.op == opcode::subdoc_replace) {
        return refuse(status::subdoc_path_enoent);
    }
    return add_missing(site, std::string(site.request.value));
}

edited remove_member(const edit_site& site) {
    if (site.path.empty()) {
        return refuse(status::subdoc_path_einval);
    }
    if (site.match.result != outcome::found) {
        return refuse(status::subdoc_path_enoent);
    }
    // Removes the comma after the item or, for the last of several, the one before it.
    text_range cut{site.match.item.begin_after_separator, site.match.value.end};
    const std::size_t behind = skip_space(site.document, cut.end);
    if (site.document[behind] == ',') {
        cut.end = behind + 1;
    } else if (site.document[cut.begin - 1] == ',') {
        --cut.begin;
    }
    return edit_result{splice(site.document, cut, {}), {}};
}

// Checks the elements to insert into an array: one or more JSON values, separated by commas.
status check_elements(std::string_view value, std::size_t path_depth) {
    std::string wrapped;
    wrapped.reserve(value.size() + 2);
    wrapped.append("[").append(value).append("]");
    const auto depth = json_depth(wrapped);
    if (!depth || is_empty_container(wrapped, value_range(wrapped))) {
        return status::subdoc_value_cantinsert;
    }
    return *depth + path_depth > wire::subdoc_depth_max ? status::subdoc_value_etoodeep
                                                        : status::success;
}

edited push_elements(const edit_site& site) {
    if (const status bad = check_elements(site.request.value, site.path.size());
        bad != status::success) {
        return refuse(bad);
    }
    if (site.match.result != outcome::found) {
        if (!site.request.creates_parents) {
            return refuse(status::subdoc_path_enoent);
        }
        return add_missing(site, "[" + std::string(site.request.value) + "]");
    }
    const text_range array = site.match.value;
    if (site.document[array.begin] != '[') {
        return refuse(status::subdoc_path_mismatch);
    }
    std::string text(site.request.value);
    const bool is_first = site.request.op == opcode::subdoc_array_push_first;
    if (!is_empty_container(site.document, array)) {
        text = is_first ? text + "," : "," + text;
    }
    const std::size_t at = is_first ? array.begin + 1 : array.end - 1;
    return edit_result{splice(site.document, {at, at}, text), {}};
}

bool is_primitive(std::string_view value) noexcept {
    return value.empty() || (value.front() != '{' && value.front() != '[');
}

edited add_unique(const edit_site& site) {
    const text_range trimmed = value_range(site.request.value);
    const std::string_view value = trimmed.of(site.request.value);
    if (!json_depth(site.request.value) || !is_primitive(value)) {
        return refuse(status::subdoc_value_cantinsert);
    }
    if (site.match.result == outcome::found) {
        if (site.document[site.match.value.begin] != '[') {
            return refuse(status::subdoc_path_mismatch);
        }
        json_walker walker(site.document, site.match.value.begin);
        json_item item;
        while (walker.next(item)) {
            const std::string_view element = item.value.of(site.document);
            if (!is_primitive(element)) {
                return refuse(status::subdoc_path_mismatch);
            }
            if (element == value) {
                return refuse(status::subdoc_path_eexists);
            }
        }
    }
    return push_elements(site);
}

edited insert_element(const edit_site& site) {
    if (!site.ends_in_index() || site.path.back().index < 0) {
        return refuse(status::subdoc_path_einval);
    }
    if (const status bad = check_elements(site.request.value, site.path.size());
        bad != status::success) {
        return refuse(bad);
    }
    if (site.match.result == outcome::found) {
        const std::size_t at = site.match.value.begin;
        return edit_result{
            splice(site.document, {at, at}, std::string(site.request.value) + ","), {}};
    }
    if (!site.lacks_leaf_only()) {
        return refuse(status::subdoc_path_enoent);
    }
    // An index one past the last element appends; any larger index is missing.
    std::int64_t count = 0;
    json_walker walker(site.document, site.match.parent.begin);
    for (json_item item; walker.next(item);) {
        ++count;
    }
    if (site.path.back().index != count) {
        return refuse(status::subdoc_path_enoent);
    }
    const std::size_t at = site.match.parent.end - 1;
    const std::string text = (count == 0 ? "" : ",") + std::string(site.request.value);
    return edit_result{splice(site.document, {at, at}, text), {}};
}

std::optional<std::int64_t> parse_int64(std::string_view text) noexcept {
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_whole = error == std::errc{} && stop == text.data() + text.size();
    return is_whole && !text.empty() ? std::optional(number) : std::nullopt;
}

bool is_integer_text(std::string_view text) noexcept {
    const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
    return !digits.empty() && digits.find_first_not_of("0123456789") == std::string_view::npos;
}

edited count_up(const edit_site& site) {
    const auto delta = parse_int64(site.request.value);
    if (!delta || *delta == 0) {
        return refuse(status::subdoc_delta_einval);
    }
    if (site.path.empty()) {
        return refuse(status::subdoc_path_einval);
    }
    if (site.match.result != outcome::found) {
        const std::string text = std::to_string(*delta);
        edited result = add_missing(site, text);
        if (result) {
            result->answer = text;
        }
        return result;
    }
    const std::string_view old = site.match.value.of(site.document);
    if (!is_integer_text(old)) {
        return refuse(status::subdoc_path_mismatch);
    }
    const auto number = parse_int64(old);
    if (!number) {
        return refuse(status::subdoc_num_erange);
    }
    std::int64_t sum = 0;
    if (__builtin_add_overflow(*number, *delta, &sum)) {
        return refuse(status::subdoc_value_cantinsert);
    }
    std::string text = std::to_string(sum);
    return edit_result{splice(site.document, site.match.value, text), text};
}

}  // namespace

std::expected<std::string, status> lookup_path(
    std::string_view document, opcode op, std::string_view path_text) {
    const auto path = wire::parse_subdoc_path(path_text);
    if (!path) {
        return std::unexpected(path.error());
    }
    const path_match match = find_path(document, *path);
    if (match.result == outcome::mismatch) {
        return std::unexpected(status::subdoc_path_mismatch);
    }
    if (match.result == outcome::missing) {
        return std::unexpected(status::subdoc_path_enoent);
    }
    const std::string_view value = match.value.of(document);
    if (op == opcode::subdoc_exists) {
        return std::string();
    }
    if (op == opcode::subdoc_get) {
        return std::string(value);
    }
    if (is_primitive(value)) {
        return std::unexpected(status::subdoc_path_mismatch);
    }
    std::size_t count = 0;
    json_walker walker(document, match.value.begin);
    for (json_item item; walker.next(item);) {
        ++count;
    }
    return std::to_string(count);
}

edited edit_path(std::string_view document, const edit_request& request) {
    auto path = wire::parse_subdoc_path(request.path);
    if (!path) {
        return refuse(path.error());
    }
    edit_site site{document, request, std::move(*path), {}};
    site.match = find_path(document, site.path);
    if (site.match.result == outcome::mismatch) {
        return refuse(status::subdoc_path_mismatch);
    }
    switch (request.op) {
        case opcode::subdoc_dict_add:
        case opcode::subdoc_dict_upsert:
        case opcode::subdoc_replace:
            return edit_member(site);
        case opcode::subdoc_remove:
            return remove_member(site);
        case opcode::subdoc_array_push_first:
        case opcode::subdoc_array_push_last:
            return push_elements(site);
        case opcode::subdoc_array_insert:
            return insert_element(site);
        case opcode::subdoc_array_add_unique:
            return add_unique(site);
        case opcode::subdoc_counter:
            return count_up(site);
        default:  // no opcode that edits; any byte may come
            return refuse(status::einval);
    }
}

std::string_view empty_document_for(std::string_view path) noexcept {
    return path.empty() || path.front() == '[' ? "[]" : "{}";
}

}  // namespace reprise::sandbox::detail
