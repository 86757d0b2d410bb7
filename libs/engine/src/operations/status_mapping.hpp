#pragma once

#include <cstdint>

#include <reprise/engine/operation_request.hpp>
#include <reprise/engine/vocabulary.hpp>
#include <reprise/wire/error_map.hpp>
#include <reprise/wire/status.hpp>

namespace reprise::engine {

// The facts of an answer that decide its meaning.
struct response_facts {
    operation_kind kind = operation_kind::get;
    wire::status status = wire::status::success;
    std::uint64_t request_cas = 0;
    wire::doc_flags doc_flags = wire::doc_flags::none;
    bool has_xerror = true;                      // HELLO 0x07 was granted on the connection
    const wire::error_map* error_map = nullptr;  // the node's; null if there is none
};

enum class outcome_kind : std::uint8_t {
    success,  // the body has the shape of a success
    error,    // ends the operation
    retry,    // goes to the retry decider with `reason`
};

// What an answer means and what else it asks for.
struct response_outcome {
    outcome_kind kind = outcome_kind::success;
    // The error the user sees: of an `error`, or of a `retry` that is not made.
    errc error{};
    retry_reason reason = retry_reason::unknown;
    bool fetch_configuration = false;
    bool drop_connection = false;
    // The error map's entry of an unknown status; null for known ones.
    const wire::error_map_entry* entry = nullptr;
};

// The client is the authority on the statuses it knows; the error map is asked about all others.
[[nodiscard]] response_outcome classify(const response_facts& facts) noexcept;

// The error of one sub-document path (0: success), unknown ones by the same node's map.
[[nodiscard]] std::error_code path_error(
    wire::status status, const wire::error_map* error_map) noexcept;

}  // namespace reprise::engine
