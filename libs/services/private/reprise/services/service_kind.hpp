#pragma once

#include <reprise/base/enum_table.hpp>
#include <reprise/couchbase_types/services.hpp>
#include <reprise/wire/service.hpp>

namespace reprise::services {

using couchbase::service_kind;

inline constexpr std::size_t service_kind_count = base::enumerator_count<service_kind>();

// The users' enumeration has the services that the client uses, under the same numbers.
static_assert(base::have_same_names<service_kind, wire::service, service_kind_count>());
static_assert(wire::service_table[service_kind_count - 1].is_used);
static_assert(!wire::service_table[service_kind_count].is_used);

[[nodiscard]] constexpr wire::service to_wire(service_kind service) noexcept {
    return static_cast<wire::service>(service);
}

[[nodiscard]] constexpr service_kind to_kind(wire::service service) noexcept {
    return wire::facts_of(service).is_used ? static_cast<service_kind>(service)
                                           : service_kind::management;
}

}  // namespace reprise::services
