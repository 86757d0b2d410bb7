#pragma once

#include <expected>
#include <string_view>

#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase/streams.hpp>

namespace reprise::couchbase::detail {

// Decodes a row of a scan.
[[nodiscard]] std::expected<scanned_document, error> to_document(
    std::string_view row, bool is_key_only);

}  // namespace reprise::couchbase::detail
