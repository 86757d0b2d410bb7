#pragma once

/// The output of `reprise explain` as JSON.

#include <span>
#include <string>
#include <variant>

#include <reprise/couchbase.hpp>
#include <reprise/wire/status.hpp>

#include "explain/table.hpp"

namespace reprise::app {

/// Something that can be explained. The pointers stay valid for the life of the program.
using explained = std::variant<
    const couchbase::retry_reason_facts*, wire::status, couchbase::errc, const refusal_facts*,
    const strategy_facts*>;

/// {"explanations": [{"kind": ..., "name": ..., "meaning": ..., "advice": ..., ...}]}
[[nodiscard]] std::string to_json(std::span<const explained> things);

}  // namespace reprise::app
