#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <reprise/couchbase/json_fragment.hpp>
#include <reprise/couchbase/results.hpp>

namespace reprise::couchbase {

namespace detail {

// What became of one path.
struct path_outcome {
    std::string path;
    std::error_code code;      // unset: `value` is there, or nothing was to be given
    std::uint16_t status = 0;  // the server's, of this path
    document_bytes value;
};

// The paths of one call, in the caller's order.
class path_outcomes {
public:
    explicit path_outcomes(std::vector<path_outcome> paths) noexcept : paths_(std::move(paths)) {}
    [[nodiscard]] std::size_t size() const noexcept { return paths_.size(); }
    [[nodiscard]] std::error_code code(std::size_t index) const noexcept;
    [[nodiscard]] std::expected<document_view, error> content(std::size_t index) const;

private:
    std::vector<path_outcome> paths_;
};

}  // namespace detail

// What was read of a document. Numbers of paths are their places in the call, from 0; one that was
// not asked for is errc::invalid_argument. Views live as long as this result.
class lookup_in_result {
public:
    lookup_in_result(
        detail::path_outcomes paths, couchbase::cas version, bool is_deleted,
        operation_trace trace) noexcept
        : paths_(std::move(paths)),
          cas_(version),
          is_deleted_(is_deleted),
          trace_(std::move(trace)) {}

    // How many paths were asked for.
    [[nodiscard]] std::size_t size() const noexcept { return paths_.size(); }
    // Of the path alone; unset: it was read.
    [[nodiscard]] std::error_code code(std::size_t index) const noexcept {
        return paths_.code(index);
    }
    // The JSON at the path. Errors are those of the path: errc::path_not_found, path_mismatch, ...
    [[nodiscard]] std::expected<document_view, error> content(std::size_t index) const {
        return paths_.content(index);
    }
    // The same as a T; see read_fragment.
    template <readable_fragment T>
    [[nodiscard]] std::expected<T, error> content_as(std::size_t index) const {
        const auto found = content(index);
        return found ? read_fragment<T>(*found) : std::unexpected(found.error());
    }

    [[nodiscard]] couchbase::cas cas() const noexcept { return cas_; }
    // True: read from a removed document (lookup_in_options::access_deleted).
    [[nodiscard]] bool is_deleted() const noexcept { return is_deleted_; }
    [[nodiscard]] const operation_trace& trace() const noexcept { return trace_; }

private:
    detail::path_outcomes paths_;
    couchbase::cas cas_;
    bool is_deleted_;
    operation_trace trace_;
};

// A document of which parts were changed, all of them. A path that failed is the error of the whole
// call, and error::info().failed_path its place.
class mutate_in_result {
public:
    mutate_in_result(
        detail::path_outcomes paths, couchbase::cas version, std::optional<mutation_token> token,
        operation_trace trace) noexcept
        : paths_(std::move(paths)),
          cas_(version),
          token_(std::move(token)),
          trace_(std::move(trace)) {}

    [[nodiscard]] std::size_t size() const noexcept { return paths_.size(); }
    // What the server gave for a path: the new number of an increment or decrement. Other changes
    // give nothing, which reads as errc::decoding_failure.
    template <readable_fragment T>
    [[nodiscard]] std::expected<T, error> content_as(std::size_t index) const {
        const auto found = paths_.content(index);
        return found ? read_fragment<T>(*found) : std::unexpected(found.error());
    }

    // The new version.
    [[nodiscard]] couchbase::cas cas() const noexcept { return cas_; }
    // As of mutation_result.
    [[nodiscard]] const std::optional<mutation_token>& token() const noexcept { return token_; }
    [[nodiscard]] const operation_trace& trace() const noexcept { return trace_; }

private:
    detail::path_outcomes paths_;
    couchbase::cas cas_;
    std::optional<mutation_token> token_;
    operation_trace trace_;
};

}  // namespace reprise::couchbase
