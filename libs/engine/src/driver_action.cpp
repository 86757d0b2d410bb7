#include <reprise/engine/driver_action.hpp>

namespace reprise::engine {

std::string_view to_string(connect_failure failure) noexcept {
    switch (failure) {
        case connect_failure::refused:
            return "connection refused";
        case connect_failure::unreachable:
            return "no route to the host";
        case connect_failure::timed_out:
            return "connecting timed out";
        case connect_failure::name_not_found:
            return "cannot resolve";
        case connect_failure::no_descriptors:
            return "out of file descriptors: too many open files";
        case connect_failure::reset:
            return "connection reset while connecting";
        case connect_failure::canceled:
            return "canceled";
        case connect_failure::tls_untrusted:
            return "the certificate is not trusted";
        case connect_failure::tls_wrong_host:
            return "the certificate is for another host";
        case connect_failure::tls_expired:
            return "the certificate is not valid now";
        case connect_failure::tls_alert:
            return "the server refused TLS";
        case connect_failure::tls_protocol:
            return "TLS failed";
        case connect_failure::other:
            return "cannot connect";
    }
    return "cannot connect";
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
            return "the server refused TLS";
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
        case connect_failure::refused:
        case connect_failure::unreachable:
        case connect_failure::timed_out:
        case connect_failure::name_not_found:
        case connect_failure::no_descriptors:
        case connect_failure::reset:
        case connect_failure::canceled:
        case connect_failure::other:
            break;
    }
    return false;
}

}  // namespace reprise::engine
