#pragma once

#include <reprise/wire/status.hpp>
#include <reprise/wire/subdoc_messages.hpp>

// The rules that a server applies to a sub-document command beyond its shape. The checks look only
// at the decoded request, not at the document or the syntax of paths. They return the status that a
// server answers, or success if the request follows the rules.

namespace reprise::wire {

/// The rules of one sub-document opcode.
struct subdoc_facts {
    opcode op{};
    bool is_known = false;
    bool is_mutation = false;
    bool needs_value = false;
    bool allows_empty_path = false;
    bool needs_empty_path = false;  ///< whole-document operations
    path_flags path_flags_allowed = path_flags::none;
    wire::doc_flags doc_flags_allowed = wire::doc_flags::none;
};

/// Never fails. Returns `is_known == false` for an opcode that is not a sub-document operation.
const subdoc_facts& subdoc_info(opcode op) noexcept;

/// Rejects an invalid command before it tries any path. Returns 0x04 if an operation does not allow
/// its flags, path or value, 0xce for flags that contradict each other, 0xd4 for attributes after
/// the body, and 0xcb for a mix of whole-document and path operations that is not allowed. `cas` is
/// the request's CAS.
status check_subdoc(const subdoc_request& request, std::uint64_t cas) noexcept;
status check_subdoc(const subdoc_lookup_request& request) noexcept;
status check_subdoc(const subdoc_mutation_request& request, std::uint64_t cas) noexcept;

}  // namespace reprise::wire
