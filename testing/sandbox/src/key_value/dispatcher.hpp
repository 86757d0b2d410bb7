#pragma once

#include <span>

#include "key_value/request.hpp"

namespace reprise::sandbox::detail {

// A command: who answers it, and what the user must be allowed to do.
struct command_facts {
    wire::opcode op{};
    void (*handle)(request&) = nullptr;
    privilege needs = privilege::none;
};
std::span<const command_facts> known_commands() noexcept;

// Checks what all requests have in common (may it be sent before logging in, is it known, datatype,
// framing extras, roles), then gives it to its handler.
void dispatch(request& current);

}  // namespace reprise::sandbox::detail
