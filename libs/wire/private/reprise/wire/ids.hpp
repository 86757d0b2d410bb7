#pragma once

#include <cstdint>

#include <reprise/base/strong_id.hpp>

namespace reprise::wire {

/// A partition of a bucket, 0 to n-1. It is in bytes 6..7 of a request.
using vbucket_id = base::strong_id<struct vbucket_id_tag, std::uint16_t>;

/// A collection within a bucket. 0 is the default collection and 1 to 7 are reserved. Servers never
/// reuse an id.
using collection_id = base::strong_id<struct collection_id_tag, std::uint32_t>;

/// A scope within a bucket. 0 is the default scope.
using scope_id = base::strong_id<struct scope_id_tag, std::uint32_t>;

inline constexpr collection_id default_collection{0};
inline constexpr scope_id default_scope{0};
/// The first id that a server gives to a user's collection.
inline constexpr collection_id collection_id_user_min{8};

}  // namespace reprise::wire
