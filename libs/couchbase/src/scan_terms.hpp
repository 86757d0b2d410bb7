#pragma once

#include <expected>

#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase/streams.hpp>
#include <reprise/engine/scan_request.hpp>

namespace reprise::couchbase::detail {

// The part of a scan's terms that all vbuckets share. `random_seed` is used for a sample without a
// seed. Fails with errc::invalid_argument.
[[nodiscard]] std::expected<engine::scan_terms, error> make_scan_terms(
    const scan_kind& what, const scan_options& options, std::uint32_t random_seed);

// What a vbucket must have on disk: the newest of its mutations in the list. Empty: nothing.
[[nodiscard]] std::optional<wire::scan_snapshot> snapshot_for(
    const mutation_state& state, std::string_view bucket, std::uint16_t vbucket);

// Decodes a row of a scan.
[[nodiscard]] std::expected<scanned_document, error> to_document(
    std::string_view row, bool is_key_only);

}  // namespace reprise::couchbase::detail
