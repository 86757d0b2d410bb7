#pragma once

/// The parts of a document that a sub-document operation reads or changes, 1 to 16 of them at once:
/// ```
///     using look = couchbase::lookup_spec;
///     auto seen = airlines.lookup_in("airline_10", {look::get("name"), look::exists("fleet[0]")});
///     using change = couchbase::mutate_spec;
///     auto done = airlines.mutate_in(
///         "airline_10", {change::upsert("name", "Reprise Air"), change::increment("flights")});
/// ```
/// A path names members and elements: `a.b[2].c`. The last element is `[-1]`. A name with a dot or
/// a bracket is written in backticks. A path has at most 1024 bytes. Extended attributes
/// (`is_xattr`) are stored outside the document's body; the client sends them first, wherever you
/// list them.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include <reprise/couchbase/codec.hpp>
#include <reprise/couchbase_types/document_request.hpp>

namespace reprise::couchbase {

/// The place in which a path is looked up.
struct path_options {
    bool is_xattr = false;  ///< In the extended attributes instead of the body.
};

/// Options of changes that can create what they need.
struct create_options {
    bool create_path = false;  ///< Creates missing parent objects, but no elements of arrays.
    bool is_xattr = false;     ///< In the extended attributes instead of the body.
};

/// One thing to read. Its static functions make it.
class lookup_spec {
public:
    /// Reads the value at the path.
    [[nodiscard]] static lookup_spec get(std::string path, const path_options& options = {}) {
        return {detail::path_verb::get, std::move(path), options};
    }
    /// Checks whether the path exists. The content is a boolean; a missing path is no error.
    [[nodiscard]] static lookup_spec exists(std::string path, const path_options& options = {}) {
        return {detail::path_verb::exists, std::move(path), options};
    }
    /// Counts the elements or members at the path. An empty path means the document itself.
    [[nodiscard]] static lookup_spec count(std::string path, const path_options& options = {}) {
        return {detail::path_verb::count, std::move(path), options};
    }
    /// Reads the whole document, together with paths of it or its attributes.
    [[nodiscard]] static lookup_spec get_full_document() {
        return {detail::path_verb::get_document, {}, {}};
    }

    /// For the client: takes what this holds.
    [[nodiscard]] detail::path_spec release() && noexcept { return std::move(spec_); }

private:
    lookup_spec(detail::path_verb verb, std::string path, const path_options& options) {
        spec_.verb = verb;
        spec_.path = std::move(path);
        spec_.is_xattr = options.is_xattr;
    }
    detail::path_spec spec_;
};

/// One change. Its static functions make it. A call makes all its changes or none.
class mutate_spec {
public:
    /// Sets a member, whether or not it exists.
    [[nodiscard]] static mutate_spec upsert(
        std::string path, const json_fragment& value, const create_options& options = {}) {
        return {detail::path_verb::upsert, std::move(path), value, options};
    }
    /// Adds a member. Fails with errc::path_exists if it exists.
    [[nodiscard]] static mutate_spec insert(
        std::string path, const json_fragment& value, const create_options& options = {}) {
        return {detail::path_verb::insert, std::move(path), value, options};
    }
    /// Replaces a value. Fails with errc::path_not_found if it does not exist.
    [[nodiscard]] static mutate_spec replace(
        std::string path, const json_fragment& value, const path_options& options = {}) {
        return {detail::path_verb::replace, std::move(path), value, {false, options.is_xattr}};
    }
    /// Removes a member or an element. Fails with errc::path_not_found if it does not exist.
    [[nodiscard]] static mutate_spec remove(std::string path, const path_options& options = {});

    /// Adds values after the last element (append) or before the first one (prepend), in their
    /// order.
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
    /// Adds values before the element that the path names: `a[2]`.
    [[nodiscard]] static mutate_spec array_insert(
        std::string path, std::initializer_list<json_fragment> values,
        const path_options& options = {});
    [[nodiscard]] static mutate_spec array_insert(
        std::string path, json_fragment value, const path_options& options = {});
    /// Adds a primitive value to an array. Fails with errc::path_exists if the array contains it.
    [[nodiscard]] static mutate_spec array_add_unique(
        std::string path, const json_fragment& value, const create_options& options = {}) {
        return {detail::path_verb::array_add_unique, std::move(path), value, options};
    }

    /// Adds to or subtracts from a 64-bit integer, which starts at 0 if it does not exist. `delta`
    /// must be positive. The content of the result at this index is the new number.
    [[nodiscard]] static mutate_spec increment(
        std::string path, std::int64_t delta = 1, const create_options& options = {});
    [[nodiscard]] static mutate_spec decrement(
        std::string path, std::int64_t delta = 1, const create_options& options = {});

    /// For the client: takes what this holds.
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
