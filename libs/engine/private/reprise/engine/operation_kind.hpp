#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <reprise/couchbase_types/document_request.hpp>
#include <reprise/wire/opcode.hpp>
#include <reprise/wire/service.hpp>

// The kinds of key-value operations, with one row of facts for each. The row's opcode determines
// how to encode the request, how to decode the answer and whether it may be repeated: see
// wire::opcode_info.

namespace reprise::engine {

using couchbase::detail::operation_kind;

// Groups of operations that fail in the same way. The HTTP services follow the enumerators, one
// class for each, in the order of wire::service_table: see class_of(wire::service).
enum class operation_class : std::uint8_t {
    read,           // get, exists, range scans
    write,          // every mutation without durability; also touch and get_and_touch
    durable_write,  // a mutation with a durability level
    lock,           // get_and_lock
    unlock,
    subdoc_lookup,
    subdoc_mutate,
    replica_read,
    noop,
};
inline constexpr std::size_t key_value_class_count = 9;

namespace detail {

// One class for each HTTP service.
inline constexpr auto service_classes = [] {
    std::array<wire::service, std::ranges::count_if(wire::service_table, wire::is_http_service)>
        services{};
    auto next = services.begin();
    for (const wire::service_facts& facts : wire::service_table) {
        if (wire::is_http_service(facts)) {
            *next++ = facts.which;
        }
    }
    return services;
}();

}  // namespace detail

inline constexpr std::size_t operation_class_count =
    key_value_class_count + detail::service_classes.size();

// The facts of one kind.
struct operation_facts {
    operation_kind kind{};
    std::string_view name = "unknown";
    wire::opcode op{};
    operation_class of{};
    std::optional<operation_class> durable_class{};  // with durability; empty: the same
};

// One row per kind, in the order of the enumeration.
inline constexpr auto operation_table = std::to_array<operation_facts>({
    {operation_kind::get, "get", wire::opcode::get, operation_class::read},
    {operation_kind::get_and_touch, "get_and_touch", wire::opcode::get_and_touch,
     operation_class::write},
    {operation_kind::get_and_lock, "get_and_lock", wire::opcode::get_locked, operation_class::lock},
    {operation_kind::unlock, "unlock", wire::opcode::unlock, operation_class::unlock},
    {operation_kind::touch, "touch", wire::opcode::touch, operation_class::write},
    {operation_kind::exists, "exists", wire::opcode::get_meta, operation_class::read},
    {operation_kind::upsert, "upsert", wire::opcode::set, operation_class::write,
     operation_class::durable_write},
    {operation_kind::insert, "insert", wire::opcode::add, operation_class::write,
     operation_class::durable_write},
    {operation_kind::replace, "replace", wire::opcode::replace, operation_class::write,
     operation_class::durable_write},
    {operation_kind::remove, "remove", wire::opcode::remove, operation_class::write,
     operation_class::durable_write},
    {operation_kind::append, "append", wire::opcode::append, operation_class::write,
     operation_class::durable_write},
    {operation_kind::prepend, "prepend", wire::opcode::prepend, operation_class::write,
     operation_class::durable_write},
    {operation_kind::increment, "increment", wire::opcode::increment, operation_class::write,
     operation_class::durable_write},
    {operation_kind::decrement, "decrement", wire::opcode::decrement, operation_class::write,
     operation_class::durable_write},
    {operation_kind::lookup_in, "lookup_in", wire::opcode::subdoc_multi_lookup,
     operation_class::subdoc_lookup},
    {operation_kind::mutate_in, "mutate_in", wire::opcode::subdoc_multi_mutation,
     operation_class::subdoc_mutate},
    {operation_kind::get_replica, "get_replica", wire::opcode::get_replica,
     operation_class::replica_read},
    {operation_kind::lookup_in_replica, "lookup_in_replica", wire::opcode::subdoc_multi_lookup,
     operation_class::replica_read},
    {operation_kind::noop, "noop", wire::opcode::noop, operation_class::noop},
    {operation_kind::range_scan, "range_scan", wire::opcode::range_scan_create,
     operation_class::read},
    {operation_kind::range_scan_cancel, "range_scan_cancel", wire::opcode::range_scan_cancel,
     operation_class::read},
});

inline constexpr std::size_t operation_kind_count = operation_table.size();

namespace detail {
inline constexpr operation_facts unknown_operation{.op = wire::opcode{0xff}};
inline constexpr auto idempotent_kinds = [] {
    std::array<bool, operation_kind_count> made{};
    for (std::size_t index = 0; index < made.size(); ++index) {
        made[index] = wire::opcode_info(operation_table[index].op).is_idempotent;
    }
    return made;
}();
}  // namespace detail

// Never fails. A value that is not an enumerator is named "unknown", has an opcode that no server
// implements, and may never be repeated.
[[nodiscard]] constexpr const operation_facts& facts_of(operation_kind kind) noexcept {
    const auto index = static_cast<std::size_t>(kind);
    return index < operation_kind_count ? operation_table[index] : detail::unknown_operation;
}

// "get", "get_and_touch", ...
[[nodiscard]] constexpr std::string_view to_string(operation_kind kind) noexcept {
    return facts_of(kind).name;
}

[[nodiscard]] constexpr wire::opcode opcode_of(operation_kind kind) noexcept {
    return facts_of(kind).op;
}

// According to the list of RFC 0049, get, exists, lookup_in, reads of replicas and noop; and range
// scans.
[[nodiscard]] constexpr bool is_idempotent(operation_kind kind) noexcept {
    const auto index = static_cast<std::size_t>(kind);
    return index < operation_kind_count && detail::idempotent_kinds[index];
}

// Whether the operation reads copy number operation_request::replica, not the active one.
[[nodiscard]] constexpr bool reads_replica(operation_kind kind) noexcept {
    return facts_of(kind).of == operation_class::replica_read;
}

// The class of a key-value operation. Durability only matters for mutations.
[[nodiscard]] constexpr operation_class class_of(operation_kind kind, bool is_durable) noexcept {
    const operation_facts& facts = facts_of(kind);
    return is_durable ? facts.durable_class.value_or(facts.of) : facts.of;
}

// The class of the operations of an HTTP service.
[[nodiscard]] constexpr operation_class class_of(wire::service which) noexcept {
    const auto at = std::ranges::find(detail::service_classes, which);
    return static_cast<operation_class>(
        key_value_class_count + static_cast<std::size_t>(at - detail::service_classes.begin()));
}

// "durable_write", "query"
[[nodiscard]] constexpr std::string_view to_string(operation_class of) noexcept {
    constexpr std::string_view names[key_value_class_count] = {
        "read",          "write",         "durable_write", "lock", "unlock",
        "subdoc_lookup", "subdoc_mutate", "replica_read",  "noop"};
    const auto index = static_cast<std::size_t>(of);
    if (index < key_value_class_count) {
        return names[index];
    }
    return index < operation_class_count
               ? wire::to_string(detail::service_classes[index - key_value_class_count])
               : "unknown";
}

[[nodiscard]] constexpr bool is_key_value(operation_class of) noexcept {
    return of <= operation_class::noop;
}

}  // namespace reprise::engine
