#pragma once

#include <string_view>

#include <reprise/engine/ids.hpp>
#include <reprise/wire/service.hpp>

namespace reprise::engine {

// The names of an operation for logs, histories and observers. Each service fills them in from its
// own slots.
struct operation_names {
    std::string_view operation;  // "get"
    bool is_idempotent = false;
    wire::service service{};
    operation_id id{};
    std::string_view key{};
};

}  // namespace reprise::engine
