#pragma once

#include <cstdint>

#include <reprise/engine/operation_request.hpp>
#include <reprise/engine/vocabulary.hpp>
#include <reprise/wire/error_map.hpp>
#include <reprise/wire/status.hpp>
#include <reprise/wire/subdoc_messages.hpp>

namespace reprise::engine {

// The facts of an answer that decide its meaning.
struct response_facts {
    operation_kind kind = operation_kind::get;
    wire::status status = wire::status::success;
    std::uint64_t request_cas = 0;
    wire::doc_flags doc_flags = wire::doc_flags::none;
    bool is_scan_created = false;                // range_scan: the server has created the scan
    bool has_xerror = true;                      // HELLO 0x07 was granted on the connection
    const wire::error_map* error_map = nullptr;  // of the node; null if it has none
};

enum class outcome_kind : std::uint8_t {
    success,  // the body has the shape of a success
    error,    // ends the operation
    retry,    // the retry decider decides, by `reason`
};

// The meaning of an answer, and what else it requires.
struct response_outcome {
    outcome_kind kind = outcome_kind::success;
    // The error for the user: of an `error`, or of a `retry` that is refused.
    errc error{};
    retry_reason reason = retry_reason::unknown;
    bool fetch_configuration = false;
    bool drop_connection = false;
    // The entry of an unknown status in the error map. Null for known statuses.
    const wire::error_map_entry* entry = nullptr;
};

// The client interprets known statuses itself. All others are looked up in the error map.
[[nodiscard]] response_outcome classify(const response_facts& facts) noexcept;

// The error of one sub-document path. No error if it succeeded. Unknown statuses are looked up in
// the node's error map.
[[nodiscard]] std::error_code path_error(
    wire::status status, const wire::error_map* error_map) noexcept;

}  // namespace reprise::engine
