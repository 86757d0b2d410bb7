#include <reprise/wire/magic.hpp>

namespace reprise::wire {

std::string_view to_string(magic value) noexcept {
    switch (value) {
        case magic::alt_request:
            return "alt_request";
        case magic::alt_response:
            return "alt_response";
        case magic::request:
            return "request";
        case magic::response:
            return "response";
        case magic::server_request:
            return "server_request";
        case magic::server_response:
            return "server_response";
    }
    return "unknown";
}

}  // namespace reprise::wire
