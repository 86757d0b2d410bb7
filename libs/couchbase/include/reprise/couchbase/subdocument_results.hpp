#pragma once

/// Results of lookup_in and mutate_in. Like all results they have plain fields; see results.hpp.

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <reprise/couchbase/json_fragment.hpp>
#include <reprise/couchbase/results.hpp>

namespace reprise::couchbase {

/// The result of one path of a sub-document operation.
struct path_result {
    std::string path{};
    /// The error of this path alone; unset if the path succeeded.
    std::error_code code{};
    /// The status that the server sent for this path.
    std::uint16_t status = 0;
    /// JSON; empty if the server returned no value for this path.
    document_bytes value{};
};

namespace detail {
/// The JSON at a place of the call, or the error of that path.
[[nodiscard]] std::expected<document_view, error> content_at(
    const std::vector<path_result>& paths, std::size_t index);
}  // namespace detail

/// The parts of a document that were read.
struct lookup_in_result {
    /// One entry for each lookup_spec of the call, in the same order.
    std::vector<path_result> paths{};
    couchbase::cas cas{};
    /// True if the document was read after its removal (lookup_in_options::access_deleted).
    bool is_deleted = false;
    operation_trace trace{};

    /// The JSON at the path with this index (from 0). Fails with the error of that path
    /// (errc::path_not_found, errc::path_mismatch, ...), or with errc::invalid_argument if the call
    /// had no such path. The view is valid as long as this result.
    [[nodiscard]] std::expected<document_view, error> content(std::size_t index) const {
        return detail::content_at(paths, index);
    }
    /// The same, converted to T by read_fragment.
    template <readable_fragment T>
    [[nodiscard]] std::expected<T, error> content_as(std::size_t index) const {
        const auto found = content(index);
        return found ? read_fragment<T>(*found) : std::unexpected(found.error());
    }
};

/// The parts of a document that were read from any of its copies.
struct lookup_in_replica_result : lookup_in_result {
    /// As in get_replica_result.
    bool is_replica = false;
};

/// A document whose parts were changed, all of them. If one path fails, the whole call fails, and
/// error::info().failed_path is the index of that path.
struct mutate_in_result {
    /// One entry for each mutate_spec of the call, in the same order.
    std::vector<path_result> paths{};
    /// The new version.
    couchbase::cas cas{};
    /// As in mutation_result.
    std::optional<mutation_token> token{};
    operation_trace trace{};

    /// The server's value for the path with this index (from 0): the new number after an
    /// increment or decrement. Other changes return nothing, and reading their content fails with
    /// errc::decoding_failure.
    template <readable_fragment T>
    [[nodiscard]] std::expected<T, error> content_as(std::size_t index) const {
        const auto found = detail::content_at(paths, index);
        return found ? read_fragment<T>(*found) : std::unexpected(found.error());
    }
};

}  // namespace reprise::couchbase
