#pragma once

#include <reprise/engine/operation_request.hpp>
#include <reprise/wire/opcode.hpp>
#include <reprise/wire/subdoc_messages.hpp>

// The words of sub-document requests, as servers spell them.

namespace reprise::engine {

[[nodiscard]] wire::opcode opcode_of(path_verb verb) noexcept;
[[nodiscard]] wire::path_flags flags_of(const path_spec& spec) noexcept;
// The flags of the document, without that of a replica.
[[nodiscard]] wire::doc_flags doc_flags_of(const couchbase::detail::request_numbers& of) noexcept;

}  // namespace reprise::engine
