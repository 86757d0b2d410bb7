#include <reprise/engine/driver_action.hpp>

#include <reprise/base/enum_table.hpp>

namespace reprise::engine {

std::string_view to_string(connect_failure failure) noexcept {
    static constexpr base::enumerator_texts<connect_failure> texts({
        {connect_failure::refused, "connection refused"},
        {connect_failure::unreachable, "no route to the host"},
        {connect_failure::timed_out, "connecting timed out"},
        {connect_failure::name_not_found, "cannot resolve"},
        {connect_failure::no_descriptors, "out of file descriptors: too many open files"},
        {connect_failure::reset, "connection reset while connecting"},
        {connect_failure::canceled, "canceled"},
        {connect_failure::tls_untrusted, "the certificate is not trusted"},
        {connect_failure::tls_wrong_host, "the certificate is for another host"},
        {connect_failure::tls_expired, "the certificate is not valid now"},
        {connect_failure::tls_alert, "the server refused TLS"},
        {connect_failure::tls_protocol, "TLS failed"},
        {connect_failure::other, "cannot connect"},
    });
    return texts[failure];
}

std::string_view to_string(close_reason reason) noexcept {
    static constexpr base::enumerator_texts<close_reason> texts({
        {close_reason::end_of_stream, "closed by the peer"},
        {close_reason::reset, "reset by the peer"},
        {close_reason::io_error, "socket error"},
        {close_reason::tls_alert, "the server refused TLS"},
        {close_reason::requested, "closed by the client"},
    });
    return texts[reason];
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
