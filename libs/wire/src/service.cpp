#include <reprise/wire/service.hpp>

#include <reprise/base/enum_table.hpp>

namespace reprise::wire {

static_assert(base::has_row_per_enumerator(service_table, &service_facts::which));

}  // namespace reprise::wire
