#include <reprise/services/row_splitter.hpp>

namespace reprise::services {

std::string_view to_string(row_split_errc code) noexcept {
    switch (code) {
        case row_split_errc::empty:
            return "empty";
        case row_split_errc::not_an_object:
            return "not_an_object";
        case row_split_errc::token_unexpected:
            return "token_unexpected";
        case row_split_errc::string_invalid:
            return "string_invalid";
        case row_split_errc::scalar_invalid:
            return "scalar_invalid";
        case row_split_errc::too_deep:
            return "too_deep";
        case row_split_errc::row_too_large:
            return "row_too_large";
        case row_split_errc::trailer_too_large:
            return "trailer_too_large";
        case row_split_errc::truncated:
            return "truncated";
        case row_split_errc::extra_text:
            return "extra_text";
    }
    return "unknown";
}

std::string to_string(const row_split_error& error) {
    return std::string(to_string(error.code)) + " at byte " + std::to_string(error.offset);
}

}  // namespace reprise::services
