#include <reprise/engine/driver_action.hpp>

namespace reprise::engine {

std::string_view to_string(connect_failure failure) noexcept {
    switch (failure) {
        case connect_failure::refused:
            return "refused";
        case connect_failure::unreachable:
            return "unreachable";
        case connect_failure::timed_out:
            return "timed out";
        case connect_failure::name_not_found:
            return "name not found";
        case connect_failure::reset:
            return "reset";
        case connect_failure::canceled:
            return "canceled";
        case connect_failure::tls_untrusted:
            return "certificate not trusted";
        case connect_failure::tls_wrong_host:
            return "certificate for another host";
        case connect_failure::tls_expired:
            return "certificate expired or not yet valid";
        case connect_failure::tls_alert:
            return "TLS refused by the peer";
        case connect_failure::tls_protocol:
            return "TLS failed";
        case connect_failure::other:
            return "failed";
    }
    return "failed";
}

std::string_view to_string(close_reason reason) noexcept {
    switch (reason) {
        case close_reason::end_of_stream:
            return "closed by the peer";
        case close_reason::reset:
            return "reset by the peer";
        case close_reason::io_error:
            return "socket error";
        case close_reason::tls_alert:
            return "TLS refused by the peer";
        case close_reason::requested:
            return "closed by the client";
    }
    return "closed";
}

bool is_tls_failure(connect_failure failure) noexcept {
    switch (failure) {
        case connect_failure::tls_untrusted:
        case connect_failure::tls_wrong_host:
        case connect_failure::tls_expired:
        case connect_failure::tls_alert:
        case connect_failure::tls_protocol:
            return true;
        default:
            return false;
    }
}

}  // namespace reprise::engine
