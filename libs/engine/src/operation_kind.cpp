#include <reprise/engine/operation_kind.hpp>

#include <reprise/base/enum_table.hpp>

namespace reprise::engine {

static_assert(base::has_row_per_enumerator(operation_table, &operation_facts::kind));
static_assert(base::enumerator_count<operation_class>() == key_value_class_count);
static_assert(
    !wire::opcode_info(detail::unknown_operation.op).is_known,
    "an unknown opcode is never idempotent, so an unknown kind is never repeated");

}  // namespace reprise::engine
