#include <reprise/couchbase/subdocument_specs.hpp>

namespace reprise::couchbase {

using detail::path_verb;

mutate_spec::mutate_spec(
    path_verb verb, std::string path, const json_fragment& value, const create_options& options)
    : mutate_spec(verb, std::move(path), {value}, options) {}

mutate_spec::mutate_spec(
    path_verb verb, std::string path, std::initializer_list<json_fragment> values,
    const create_options& options) {
    spec_.verb = verb;
    spec_.path = std::move(path);
    spec_.create_path = options.create_path;
    spec_.is_xattr = options.is_xattr;
    for (const json_fragment& value : values) {
        if (!value.problem().empty()) {
            spec_.problem = value.problem();
            spec_.problem_code = errc::encoding_failure;
            return;
        }
        if (!spec_.value.empty()) {
            spec_.value += ',';
        }
        spec_.value += value.text();
        // The server expands macros in attributes only.
        spec_.is_macro = spec_.is_macro || value.is_macro();
        spec_.is_xattr = spec_.is_xattr || value.is_macro();
    }
    if (spec_.value.empty()) {
        spec_.problem = "no values are given";
    } else if (spec_.is_macro && values.size() > 1) {
        spec_.problem = "a macro must be the only value";
    }
}

mutate_spec mutate_spec::remove(std::string path, const path_options& options) {
    mutate_spec made(path_verb::remove, std::move(path), nullptr, {false, options.is_xattr});
    made.spec_.value.clear();
    return made;
}

mutate_spec mutate_spec::array_append(
    std::string path, std::initializer_list<json_fragment> values, const create_options& options) {
    return {path_verb::array_append, std::move(path), values, options};
}

mutate_spec mutate_spec::array_append(
    std::string path,
    // NOLINTNEXTLINE(performance-unnecessary-value-param): callers pass a temporary
    json_fragment value, const create_options& options) {
    return {path_verb::array_append, std::move(path), value, options};
}

mutate_spec mutate_spec::array_prepend(
    std::string path, std::initializer_list<json_fragment> values, const create_options& options) {
    return {path_verb::array_prepend, std::move(path), values, options};
}

mutate_spec mutate_spec::array_prepend(
    std::string path,
    // NOLINTNEXTLINE(performance-unnecessary-value-param): callers pass a temporary
    json_fragment value, const create_options& options) {
    return {path_verb::array_prepend, std::move(path), value, options};
}

mutate_spec mutate_spec::array_insert(
    std::string path, std::initializer_list<json_fragment> values, const path_options& options) {
    return {path_verb::array_insert, std::move(path), values, {false, options.is_xattr}};
}

mutate_spec mutate_spec::array_insert(
    std::string path,
    // NOLINTNEXTLINE(performance-unnecessary-value-param): callers pass a temporary
    json_fragment value, const path_options& options) {
    return {path_verb::array_insert, std::move(path), value, {false, options.is_xattr}};
}

mutate_spec mutate_spec::increment(
    std::string path, std::int64_t delta, const create_options& options) {
    return make_counter(std::move(path), delta, false, options);
}

mutate_spec mutate_spec::decrement(
    std::string path, std::int64_t delta, const create_options& options) {
    return make_counter(std::move(path), delta, true, options);
}

mutate_spec mutate_spec::make_counter(
    std::string path, std::int64_t delta, bool is_negative, const create_options& options) {
    // A delta below one is refused later, so changing the sign is safe.
    const std::int64_t signed_delta = is_negative && delta > 0 ? -delta : delta;
    mutate_spec made(path_verb::counter, std::move(path), signed_delta, options);
    if (delta < 1) {
        made.spec_.problem = "delta must be above zero";
        made.spec_.problem_code = errc::delta_invalid;
    }
    return made;
}

}  // namespace reprise::couchbase
