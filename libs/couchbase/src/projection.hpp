#pragma once

#include <expected>
#include <string>
#include <vector>

#include <reprise/couchbase/detail/calls.hpp>
#include <reprise/wire/subdoc_path.hpp>

// A get that reads the expiry or some paths of a document is a lookup. Its answer becomes the
// result of a get here. Decides, and does no I/O.

namespace reprise::couchbase::detail {

class projection {
public:
    // `call` is one of add_projection. Fails with errc::path_invalid or path_too_deep for text that
    // is no path, and names it.
    [[nodiscard]] static std::expected<projection, error> make(const document_call& call);

    // The lookup to send. One lookup has at most 16 paths, so if there are more, the whole document
    // is read and projected here.
    [[nodiscard]] document_call lookup(document_call&& call) const;
    // The answer to it, as a get would return it.
    [[nodiscard]] std::expected<get_result, error> read(
        std::expected<lookup_in_result, error>&& answer) const;

private:
    struct projected_path {
        std::string text;
        wire::subdoc_path steps;
    };

    // The number of paths that describe the document, not its content.
    [[nodiscard]] std::size_t fact_count() const noexcept {
        return std::size_t{has_expiry_} + std::size_t{is_whole_};
    }
    // Combines the paths that the lookup found into one document.
    [[nodiscard]] std::expected<std::string, error> join(const lookup_in_result& answer) const;
    // The same, from the whole document.
    [[nodiscard]] std::expected<std::string, error> cut(std::string_view document) const;

    std::vector<projected_path> paths_;
    bool has_expiry_ = false;
    bool is_whole_ = false;
};

}  // namespace reprise::couchbase::detail
