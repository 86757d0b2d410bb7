#include <reprise/wire/opcode.hpp>

#include <utility>

#include <reprise/base/enum_table.hpp>

namespace reprise::wire {

// Every opcode has a row, and every row an opcode.
static_assert([]<std::size_t... Byte>(std::index_sequence<Byte...>) {
    return (
        (base::is_enumerator<static_cast<opcode>(Byte)>() == detail::opcode_table[Byte].is_known) &&
        ...);
}(std::make_index_sequence<256>{}));

}  // namespace reprise::wire
