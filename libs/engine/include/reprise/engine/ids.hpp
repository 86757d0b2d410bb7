#pragma once

#include <cstdint>

#include <reprise/base/strong_id.hpp>

namespace reprise::engine {

// One connection the engine asked for. Never used twice by one engine, so a late event about a
// connection that is gone is recognised and ignored.
using connection_id = base::strong_id<struct connection_id_tag, std::uint64_t>;

// One operation. Checked by generation: an id that outlived its operation finds nothing. 0: none.
using operation_id = base::strong_id<struct operation_id_tag, std::uint64_t>;

// A (bucket, scope, collection) this engine was told about; see client_engine::keyspace.
using keyspace_id = base::strong_id<struct keyspace_id_tag, std::uint32_t>;

// One question to the name service.
using resolution_id = base::strong_id<struct resolution_id_tag, std::uint32_t>;

// One key that is being stretched from a password.
using derivation_id = base::strong_id<struct derivation_id_tag, std::uint64_t>;

}  // namespace reprise::engine
