#pragma once

#include <cstdint>
#include <string_view>

#include <reprise/retry/time.hpp>

// Needs the standard library and reprise::retry only; part of the vocabulary that users see.

namespace reprise::engine {

// One request of an operation that was handed to a connection. (client, connection, opaque) stands
// in HELLO and in the request itself, so a server that keeps a log knows the attempt by the same
// three numbers: that is how duplicates and losses are counted.
struct attempt_record {
    std::uint64_t operation = 0;   // as in operation_id; unique while the operation is open
    std::uint64_t client = 0;      // one number for each client
    std::uint64_t connection = 0;  // one number for each connection of a client
    std::uint32_t opaque = 0;
    std::uint32_t attempt = 0;   // retries made before
    std::string_view kind;       // "get"; lives for ever
    bool is_idempotent = false;  // may be sent again without an answer
    time_point sent{};           // steady time of the turn that encoded it
};

// Told of every request of every operation. Called on the client's thread while the request is
// encoded: must return soon, must not throw, and must not call the client.
class attempt_observer {
public:
    virtual ~attempt_observer();
    virtual void on_attempt(const attempt_record& record) noexcept = 0;
};

}  // namespace reprise::engine
