#pragma once

#include <expected>
#include <string>
#include <string_view>

#include <reprise/wire/status.hpp>
#include <reprise/wire/subdoc_messages.hpp>

#include "subdoc/xattrs.hpp"

namespace reprise::sandbox::detail {

// One path of a sub-document command, single or multi, lookup or mutation.
struct subdoc_spec {
    wire::opcode op{};
    wire::path_flags flags = wire::path_flags::none;
    std::string_view path;
    std::string_view value;

    bool is_xattr() const noexcept { return wire::has(flags, wire::path_flags::xattr); }
};

// The document that a command reads or changes. Mutations work on this copy, which is stored only
// if all of them succeed.
struct subdoc_subject {
    std::string body;
    std::string xattrs;       // text of a JSON object; empty: none
    bool has_body = true;     // false for a tombstone
    bool is_removed = false;  // the command deleted the whole document
};

struct subdoc_context {
    macro_source macros;
    bool can_access_system_xattrs = true;
    bool creates_parents = false;  // set for all paths by a command that creates the document
};

// Returns the value of one path. Errors are path statuses.
std::expected<std::string, wire::status> run_lookup(
    const subdoc_subject& subject, const subdoc_spec& spec, const subdoc_context& around);

// Changes one path and returns the answer of the path (counters only). On an error this path leaves
// the subject unchanged, and the command must discard it.
std::expected<std::string, wire::status> run_mutation(
    subdoc_subject& subject, const subdoc_spec& spec, const subdoc_context& around);

}  // namespace reprise::sandbox::detail
