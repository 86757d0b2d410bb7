#pragma once

#include <reprise/wire/status.hpp>
#include <reprise/wire/subdoc_messages.hpp>

// What a server allows in a sub-document command beyond its shape. Pure checks on a decoded
// request: the document is not looked at, nor the syntax of paths. They return the status a server
// answers, success when nothing is wrong.

namespace reprise::wire {

// What one sub-document opcode allows.
struct subdoc_facts {
    opcode op{};
    bool is_known = false;
    bool is_mutation = false;
    bool needs_value = false;
    bool allows_empty_path = false;
    bool needs_empty_path = false;  // whole-document operations
    path_flags path_flags_allowed = path_flags::none;
    wire::doc_flags doc_flags_allowed = wire::doc_flags::none;
};

// Never fails: an opcode that is no sub-document operation gives `is_known == false`.
const subdoc_facts& subdoc_info(opcode op) noexcept;

// The wrong mix is found before any path is tried. 0x04 flags or path or value not allowed for an
// operation; 0xce flags that make no sense together; 0xd4 attributes after the body; 0xcb a mix of
// whole-document and path operations that cannot stand together. `cas` is the request's CAS.
status check_subdoc(const subdoc_request& request, std::uint64_t cas) noexcept;
status check_subdoc(const subdoc_lookup_request& request) noexcept;
status check_subdoc(const subdoc_mutation_request& request, std::uint64_t cas) noexcept;

}  // namespace reprise::wire
