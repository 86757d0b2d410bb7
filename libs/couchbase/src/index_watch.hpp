#pragma once

#include <expected>
#include <functional>
#include <string>
#include <vector>

#include <reprise/couchbase/management.hpp>
#include <reprise/retry/clock.hpp>

// Waits until query indexes can be used.

namespace reprise::couchbase::detail {

// Lists the indexes within the time that is left.
using list_indexes = std::function<std::expected<query_index_list_result, error>(duration left)>;

// Lists until every named index is online (an empty name: the primary one), an index is missing,
// listing fails or the time is over. A retry loop around `list` decides when to ask again.
[[nodiscard]] std::expected<query_index_list_result, error> watch_indexes(
    const std::vector<std::string>& names, duration timeout, retry_clock& clock,
    const list_indexes& list);

}  // namespace reprise::couchbase::detail
