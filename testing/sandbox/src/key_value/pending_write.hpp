#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <reprise/sandbox/audit_log.hpp>
#include <reprise/wire/framing_extras.hpp>

#include "key_value/document_store.hpp"

namespace reprise::sandbox::detail {

// A durable write that was prepared and not yet applied. What it will store is in its vbucket (and
// may get lost there); this is what has to happen around it.
//
//     waiting -> its copies have it -> applied
//     waiting -> its time is up, or its node lost the vbucket: answered 0xa3 -> waiting
//     waiting -> a copy becomes active with it: re-committing -> applied
//     waiting -> a copy becomes active without it: gone
struct pending_write {
    std::uint64_t id = 0;
    std::string bucket;
    std::size_t vbucket_number = 0;
    stored_key key;
    wire::durability_level level = wire::durability_level::majority;
    time_point acknowledged_at{};  // replicas have it from then on
    time_point deadline{};         // then it is answered 0xa3
    // When the re-commit is done; set once it has begun.
    std::optional<time_point> recommitted_at;
    // The client was told something, or there is nobody to tell.
    bool is_answered = false;
    // The request's own, repeated when the write is applied.
    audit_entry entry;
};

// The server's own limit if the request names none.
inline constexpr std::chrono::seconds durability_timeout_default{30};

}  // namespace reprise::sandbox::detail
