#pragma once

#include <cstdint>

#include <reprise/base/strong_id.hpp>

namespace reprise::engine {

// A connection that the engine requested. An engine never reuses an id, so it recognises and
// ignores late events of a connection that is gone.
using connection_id = base::strong_id<struct connection_id_tag, std::uint64_t>;

// An operation. Ids contain a generation: the id of an ended operation finds nothing. 0 means none.
using operation_id = base::strong_id<struct operation_id_tag, std::uint64_t>;

// A (bucket, scope, collection) that was registered with this engine; see client_engine::keyspace.
using keyspace_id = base::strong_id<struct keyspace_id_tag, std::uint32_t>;

// A lookup in the name service.
using resolution_id = base::strong_id<struct resolution_id_tag, std::uint32_t>;

// A key that is being derived from a password.
using derivation_id = base::strong_id<struct derivation_id_tag, std::uint64_t>;

}  // namespace reprise::engine
