#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <reprise/sandbox/audit_log.hpp>
#include <reprise/wire/framing_extras.hpp>

#include "key_value/document_store.hpp"

namespace reprise::sandbox::detail {

// A durable write that is prepared but not yet applied. The vbucket holds the document it will
// store (and may lose it); this struct holds everything else.
//
//     waiting -> all copies have it -> applied
//     waiting -> it timed out, or its node lost the vbucket: answered 0xa3 -> waiting
//     waiting -> a copy that has it becomes active: re-committing -> applied
//     waiting -> a copy that lacks it becomes active: gone
struct pending_write {
    std::uint64_t id = 0;
    std::string bucket;
    std::size_t vbucket_number = 0;
    stored_key key;
    wire::durability_level level = wire::durability_level::majority;
    time_point acknowledged_at{};  // replicas have it from this time on
    time_point deadline{};         // at this time it is answered with 0xa3
    // When the re-commit ends; set once it has begun.
    std::optional<time_point> recommitted_at;
    // The client has an answer, or is no longer connected.
    bool is_answered = false;
    // The audit entry of the request, repeated when the write is applied.
    audit_entry entry;
};

// The server's limit if the request specifies none.
inline constexpr std::chrono::seconds durability_timeout_default{30};

}  // namespace reprise::sandbox::detail
