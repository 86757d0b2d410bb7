#pragma once

#include <cstdint>
#include <string_view>

#include <reprise/retry/time.hpp>

namespace reprise::couchbase {

/// One request of an operation that was passed to a connection. The client's number, the
/// connection's number and the opaque are also in HELLO and in the request itself, so that a server
/// which keeps a log identifies the attempt by the same three numbers. Duplicates and losses are
/// counted by them.
struct attempt_record {
    std::uint64_t operation = 0;   ///< Unique while the operation is open.
    std::uint64_t client = 0;      ///< One number for each client.
    std::uint64_t connection = 0;  ///< One number for each connection of a client.
    std::uint32_t opaque = 0;
    std::uint32_t attempt = 0;   ///< Retries made before.
    std::string_view kind;       ///< "get"; static text.
    bool is_idempotent = false;  ///< May be sent again without an answer.
    time_point sent{};           ///< Steady time of the loop iteration that encoded it.
};

/// Sees every request of every operation. Called on a thread of the client while the request is
/// encoded, by several at once if `cluster_options::io_threads` is above 1: must return soon, must
/// not throw, and must not call the client.
class attempt_observer {
public:
    virtual ~attempt_observer();
    virtual void on_attempt(const attempt_record& record) noexcept = 0;
};

}  // namespace reprise::couchbase
