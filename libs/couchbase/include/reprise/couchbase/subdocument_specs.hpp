#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include <reprise/couchbase/detail/path_spec.hpp>
#include <reprise/couchbase/json_fragment.hpp>

// Which parts of a document a sub-document call reads or changes, 1 to 16 of them at once:
//
//     using look = couchbase::lookup_spec;
//     auto seen = airlines.lookup_in("airline_10", {look::get("name"), look::exists("fleet[0]")});
//     using change = couchbase::mutate_spec;
//     auto done = airlines.mutate_in(
//         "airline_10", {change::upsert("name", "Reprise Air"), change::increment("flights")});
//
// A path names members and elements: `a.b[2].c`, the last element is `[-1]`; a name with a dot or
// a bracket stands in backticks. At most 1024 bytes. Extended attributes (`is_xattr`) live beside
// the document's body; calls put them first by themselves.

namespace reprise::couchbase {

// Where a path is looked for.
struct path_options {
    bool is_xattr = false;
};

// For changes that may need members which are not there.
struct create_options {
    bool create_path = false;  // make missing parent objects, never elements of arrays
    bool is_xattr = false;
};

// One thing to read. A value; made by its named constructors.
class lookup_spec {
public:
    // The value at the path.
    [[nodiscard]] static lookup_spec get(std::string path, const path_options& options = {}) {
        return {detail::path_verb::get, std::move(path), options};
    }
    // Whether the path is there: its content is a boolean, and a missing one is no error.
    [[nodiscard]] static lookup_spec exists(std::string path, const path_options& options = {}) {
        return {detail::path_verb::exists, std::move(path), options};
    }
    // How many elements or members the path has; empty: the document itself.
    [[nodiscard]] static lookup_spec count(std::string path, const path_options& options = {}) {
        return {detail::path_verb::count, std::move(path), options};
    }
    // The whole document, beside single paths of it or its attributes.
    [[nodiscard]] static lookup_spec get_full_document() {
        return {detail::path_verb::get_document, {}, {}};
    }

    [[nodiscard]] detail::path_spec release() && noexcept { return std::move(spec_); }

private:
    lookup_spec(detail::path_verb verb, std::string path, const path_options& options) {
        spec_.verb = verb;
        spec_.path = std::move(path);
        spec_.is_xattr = options.is_xattr;
    }
    detail::path_spec spec_;
};

// One change. All changes of a call are made, or none. A value; made by its named constructors.
class mutate_spec {
public:
    // Sets a member, whether or not it is there.
    [[nodiscard]] static mutate_spec upsert(
        std::string path, const json_fragment& value, const create_options& options = {}) {
        return {detail::path_verb::upsert, std::move(path), value, options};
    }
    // Adds a member; errc::path_exists if it is there.
    [[nodiscard]] static mutate_spec insert(
        std::string path, const json_fragment& value, const create_options& options = {}) {
        return {detail::path_verb::insert, std::move(path), value, options};
    }
    // Changes what is there; errc::path_not_found if it is not.
    [[nodiscard]] static mutate_spec replace(
        std::string path, const json_fragment& value, const path_options& options = {}) {
        return {detail::path_verb::replace, std::move(path), value, {false, options.is_xattr}};
    }
    [[nodiscard]] static mutate_spec remove(std::string path, const path_options& options = {});

    // Adds after the last or before the first element; several values in their order.
    [[nodiscard]] static mutate_spec array_append(
        std::string path, std::initializer_list<json_fragment> values,
        const create_options& options = {});
    [[nodiscard]] static mutate_spec array_append(
        std::string path, json_fragment value, const create_options& options = {});
    [[nodiscard]] static mutate_spec array_prepend(
        std::string path, std::initializer_list<json_fragment> values,
        const create_options& options = {});
    [[nodiscard]] static mutate_spec array_prepend(
        std::string path, json_fragment value, const create_options& options = {});
    // Adds before the element that the path names: `a[2]`.
    [[nodiscard]] static mutate_spec array_insert(
        std::string path, std::initializer_list<json_fragment> values,
        const path_options& options = {});
    [[nodiscard]] static mutate_spec array_insert(
        std::string path, json_fragment value, const path_options& options = {});
    // Adds a primitive value unless the array has it; errc::path_exists if it does.
    [[nodiscard]] static mutate_spec array_add_unique(
        std::string path, const json_fragment& value, const create_options& options = {}) {
        return {detail::path_verb::array_add_unique, std::move(path), value, options};
    }

    // Adds to or subtracts from a 64-bit integer, which is 0 if it is not there; `delta` must be
    // above zero. The result's content at this place is the new number.
    [[nodiscard]] static mutate_spec increment(
        std::string path, std::int64_t delta = 1, const create_options& options = {});
    [[nodiscard]] static mutate_spec decrement(
        std::string path, std::int64_t delta = 1, const create_options& options = {});

    [[nodiscard]] detail::path_spec release() && noexcept { return std::move(spec_); }

private:
    mutate_spec(
        detail::path_verb verb, std::string path, const json_fragment& value,
        const create_options& options);
    mutate_spec(
        detail::path_verb verb, std::string path, std::initializer_list<json_fragment> values,
        const create_options& options);

    [[nodiscard]] static mutate_spec make_counter(
        std::string path, std::int64_t delta, bool is_negative, const create_options& options);

    detail::path_spec spec_;
};

}  // namespace reprise::couchbase
