#pragma once

#include <span>

#include "key_value/request.hpp"

namespace reprise::sandbox::detail {

// A command: its handler and the privilege that the user needs.
struct command_facts {
    wire::opcode op{};
    void (*handle)(request&) = nullptr;
    privilege needs = privilege::none;
};
std::span<const command_facts> known_commands() noexcept;

// Checks what all requests have in common (whether it requires a login, whether it is known,
// datatype, framing extras, roles), then calls the handler.
void dispatch(request& current);

}  // namespace reprise::sandbox::detail
