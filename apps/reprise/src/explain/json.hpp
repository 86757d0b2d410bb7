#pragma once

/// What `reprise explain` says, as JSON.

#include <span>
#include <string>
#include <variant>

#include <reprise/couchbase.hpp>
#include <reprise/wire/status.hpp>

#include "explain/table.hpp"

namespace reprise::app {

/// Something that has an explanation. Pointers live for ever.
using explained = std::variant<
    const couchbase::retry_reason_facts*, wire::status, couchbase::errc, const strategy_facts*>;

/// {"explanations": [{"kind": ..., "name": ..., "meaning": ..., "advice": ..., ...}]}
[[nodiscard]] std::string to_json(std::span<const explained> things);

}  // namespace reprise::app
