#include "subdoc/path.hpp"

namespace reprise::sandbox::detail {

namespace {

bool find_item(
    std::string_view document, const text_range& container, const wire::path_component& step,
    json_item& found) {
    json_walker walker(document, container.begin);
    json_item item;
    std::int64_t position = 0;
    bool has_item = false;
    while (walker.next(item)) {
        if (step.is_index ? step.index == position
                          : name_equals(item.name.of(document), step.name)) {
            found = item;
            return true;
        }
        if (step.is_index && step.index == -1) {
            found = item;
            has_item = true;
        }
        ++position;
    }
    return has_item;
}

}  // namespace

path_match find_path(std::string_view document, const wire::subdoc_path& path) {
    path_match match;
    match.value = value_range(document);
    match.parent = match.value;
    for (const wire::path_component& step : path) {
        match.parent = match.value;
        const char opening = document[match.value.begin];
        if (opening != (step.is_index ? '[' : '{')) {
            match.result = path_match::outcome::mismatch;
            return match;
        }
        if (!find_item(document, match.parent, step, match.item)) {
            match.result = path_match::outcome::missing;
            return match;
        }
        match.value = match.item.value;
        ++match.matched;
    }
    match.result = path_match::outcome::found;
    return match;
}

}  // namespace reprise::sandbox::detail
