#include <array>

#include <reprise/engine/operation_request.hpp>

namespace reprise::engine {
namespace {

struct kind_facts {
    operation_kind kind;
    std::string_view name;
    wire::opcode op;
    bool is_idempotent;
};

constexpr std::array kind_table{
    kind_facts{operation_kind::get, "get", wire::opcode::get, true},
    kind_facts{operation_kind::get_and_touch, "get_and_touch", wire::opcode::get_and_touch, false},
    kind_facts{operation_kind::get_and_lock, "get_and_lock", wire::opcode::get_locked, false},
    kind_facts{operation_kind::unlock, "unlock", wire::opcode::unlock, false},
    kind_facts{operation_kind::touch, "touch", wire::opcode::touch, false},
    kind_facts{operation_kind::exists, "exists", wire::opcode::get_meta, true},
    kind_facts{operation_kind::upsert, "upsert", wire::opcode::set, false},
    kind_facts{operation_kind::insert, "insert", wire::opcode::add, false},
    kind_facts{operation_kind::replace, "replace", wire::opcode::replace, false},
    kind_facts{operation_kind::remove, "remove", wire::opcode::remove, false},
    kind_facts{operation_kind::append, "append", wire::opcode::append, false},
    kind_facts{operation_kind::prepend, "prepend", wire::opcode::prepend, false},
    kind_facts{operation_kind::increment, "increment", wire::opcode::increment, false},
    kind_facts{operation_kind::decrement, "decrement", wire::opcode::decrement, false},
    kind_facts{operation_kind::lookup_in, "lookup_in", wire::opcode::subdoc_multi_lookup, true},
    kind_facts{operation_kind::mutate_in, "mutate_in", wire::opcode::subdoc_multi_mutation, false},
    kind_facts{operation_kind::get_replica, "get_replica", wire::opcode::get_replica, true},
    kind_facts{operation_kind::noop, "noop", wire::opcode::noop, true},
};

const kind_facts& facts_of_kind(operation_kind kind) noexcept {
    const auto index = static_cast<std::size_t>(kind);
    return kind_table[index < kind_table.size() ? index : 0];
}

}  // namespace

std::string_view to_string(operation_kind kind) noexcept {
    return facts_of_kind(kind).name;
}

wire::opcode opcode_of(operation_kind kind) noexcept {
    return facts_of_kind(kind).op;
}

bool is_idempotent(operation_kind kind) noexcept {
    return facts_of_kind(kind).is_idempotent;
}

}  // namespace reprise::engine
