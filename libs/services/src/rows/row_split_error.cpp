#include <reprise/services/row_splitter.hpp>

#include <reprise/base/enum_table.hpp>

namespace reprise::services {

std::string_view to_string(row_split_errc code) noexcept {
    return base::name_of(code);
}

std::string to_string(const row_split_error& error) {
    return std::string(to_string(error.code)) + " at byte " + std::to_string(error.offset);
}

}  // namespace reprise::services
