#pragma once

#include <expected>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include <reprise/couchbase/management.hpp>
#include <reprise/retry/clock.hpp>

// Waits until query indexes can be used.

namespace reprise::couchbase::detail {

// Lists the indexes within the time that is left.
using list_indexes = std::function<std::expected<query_index_list_result, error>(duration left)>;

// Lists until every named index is online (an empty name: the primary one), an index is missing,
// listing fails, the time is over or `closed` is requested, which also ends a wait. A retry loop
// around `list` decides when to ask again.
[[nodiscard]] std::expected<query_index_list_result, error> watch_indexes(
    const std::vector<std::string>& names, duration timeout, retry_clock& clock,
    const std::stop_token& closed, const list_indexes& list);

}  // namespace reprise::couchbase::detail
