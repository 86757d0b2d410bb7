#pragma once

#include <cstdint>
#include <utility>

#include <reprise/base/block_pool.hpp>
#include <reprise/base/slice.hpp>
#include <reprise/couchbase_types/document_request.hpp>
#include <reprise/engine/ids.hpp>
#include <reprise/engine/operation_kind.hpp>
#include <reprise/engine/scan_request.hpp>

namespace reprise::engine {

using couchbase::durability_level;
using couchbase::store_semantics;
using couchbase::detail::document_call;
using couchbase::detail::path_spec;
using couchbase::detail::path_verb;

// A key-value request: what the user asked for, and where it goes. The engine keeps it until the
// operation ends, because it may have to be sent again.
struct operation_request : couchbase::detail::document_request {
    operation_request() = default;
    // Takes everything out of the call except the key and the value, which it only borrows.
    operation_request(keyspace_id where, document_call& call) noexcept
        : document_request(static_cast<document_request&&>(call)), keyspace(where) {}
    void copy_text(const document_call& call) {
        key.assign(base::as_bytes(call.key));
        if (!call.value.empty()) {
            value.assign(call.value);
        }
    }
    // The same, with blocks of the pool.
    void copy_text(const document_call& call, base::block_pool& pool) {
        key.assign(base::as_bytes(call.key));
        if (!call.value.empty()) {
            value.assign(call.value, pool);
        }
    }

    keyspace_id keyspace{};
    std::uint8_t replica = 0;  // 1..3 to read a replica; 0 for all others
    base::slice key{};         // of a noop: the node that must answer, as "host:port"; empty: any
    base::slice value{};
    scan_box scan{};  // range scans
};

}  // namespace reprise::engine
