#pragma once

#include <any>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <reprise/base/slice.hpp>
#include <reprise/engine/ids.hpp>
#include <reprise/engine/operation_kind.hpp>
#include <reprise/engine/scan_request.hpp>
#include <reprise/retry/allowance.hpp>
#include <reprise/retry/retry_strategy.hpp>
#include <reprise/wire/datatype.hpp>
#include <reprise/wire/framing_extras.hpp>
#include <reprise/wire/opcode.hpp>
#include <reprise/wire/subdoc_messages.hpp>

namespace reprise::engine {

// One path of a lookup or a mutation. It owns its text.
struct subdoc_spec {
    wire::opcode op = wire::opcode::subdoc_get;
    wire::path_flags flags = wire::path_flags::none;
    std::string path{};
    base::slice value{};
};

// The fields of a request that are plain bytes. They stand together so that the request is moved by
// copying them as one block.
struct request_numbers {
    // Small fields come first to save memory: a million operations may wait.
    operation_kind kind = operation_kind::get;
    std::uint8_t replica = 0;  // 1..3 to read a replica; 0 for all others
    wire::doc_flags doc_flags = wire::doc_flags::none;
    wire::datatype datatype = wire::datatype::raw;  // raw or json
    keyspace_id keyspace{};
    std::uint32_t flags = 0;   // stored by the server; see common_flags.hpp
    std::uint32_t expiry = 0;  // in wire format; see expiry.hpp
    std::uint32_t lock_seconds = 15;
    std::optional<wire::durability_level> durability{};
    bool preserve_expiry = false;
    std::uint64_t cas = 0;      // 0: any
    std::uint64_t delta = 1;    // counters
    std::uint64_t initial = 0;  // counters; not created with expiry_do_not_create

    // Time from `start` to the end of the operation. Empty: the engine's default for the kind.
    std::optional<duration> timeout{};
    // Ends the operation, too; the earlier of the two applies.
    time_point deadline = no_deadline;
    // The allowance of an enclosing retry loop. It must outlive the operation. Reasons that the
    // client always retries do not use it up.
    retry_allowance* outer_allowance = nullptr;
};

static_assert(std::is_trivially_copyable_v<request_numbers>);

// A key-value request. Moved into the engine, which keeps it until the operation ends, because it
// may have to be sent again. Fields that the kind does not use are ignored.
struct operation_request : request_numbers {
    base::slice key{};
    base::slice value{};
    std::vector<subdoc_spec> specs{};
    scan_box scan{};
    // Null: the engine's.
    std::shared_ptr<retry_strategy> strategy{};
    // Passed to the strategy.
    std::shared_ptr<const std::any> user_data{};
};

}  // namespace reprise::engine
