#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>

#include <reprise/retry/failure_facts.hpp>

namespace reprise::detail {

namespace {

constexpr auto yes = retry_safety::yes;
constexpr auto maybe = retry_safety::maybe;
constexpr auto client = failure_fault::client;
constexpr auto server = failure_fault::server;
constexpr auto other = failure_fault::other;

constexpr std::string_view not_connected_yet = "the connection was never made: nothing was sent";
constexpr std::string_view no_local_address =
    "no local address or port was available to connect from: nothing was sent";
constexpr std::string_view name_not_resolved = "the name was not resolved: nothing was sent";
constexpr std::string_view blocked_by_breaker = "the circuit breaker was open: nothing was sent";

[[nodiscard]] constexpr error_row no_facts(std::errc code, std::string_view name) noexcept {
    return {.code = static_cast<int>(code), .name = name};
}
[[nodiscard]] constexpr error_row safe(
    std::errc code, std::string_view name, std::string_view reason) noexcept {
    return {
        .code = static_cast<int>(code),
        .name = name,
        .safety = yes,
        .fault = other,
        .reason = reason};
}
/// May come after the request was sent.
[[nodiscard]] constexpr error_row late(std::errc code, std::string_view name) noexcept {
    return {.code = static_cast<int>(code), .name = name, .safety = maybe, .fault = other};
}

/// Every enumerator of `std::errc`. A socket whose peer or route disappears reports it on the next
/// call, whatever was sent before: only errors of connecting itself are `yes`. A receive timeout
/// (SO_RCVTIMEO) is reported as EAGAIN, and a signal can interrupt the wait for an answer. The rows
/// are those of stream sockets: a connected datagram socket reports ECONNREFUSED after a request
/// that the peer may have executed before it closed.
constexpr std::array generic_rows{
    no_facts(std::errc::address_family_not_supported, "address_family_not_supported"),
    no_facts(std::errc::address_in_use, "address_in_use"),
    safe(std::errc::address_not_available, "address_not_available", no_local_address),
    no_facts(std::errc::already_connected, "already_connected"),
    no_facts(std::errc::argument_list_too_long, "argument_list_too_long"),
    no_facts(std::errc::argument_out_of_domain, "argument_out_of_domain"),
    no_facts(std::errc::bad_address, "bad_address"),
    no_facts(std::errc::bad_file_descriptor, "bad_file_descriptor"),
    no_facts(std::errc::bad_message, "bad_message"),
    late(std::errc::broken_pipe, "broken_pipe"),
    late(std::errc::connection_aborted, "connection_aborted"),
    no_facts(std::errc::connection_already_in_progress, "connection_already_in_progress"),
    safe(std::errc::connection_refused, "connection_refused", not_connected_yet),
    late(std::errc::connection_reset, "connection_reset"),
    no_facts(std::errc::cross_device_link, "cross_device_link"),
    no_facts(std::errc::destination_address_required, "destination_address_required"),
    no_facts(std::errc::device_or_resource_busy, "device_or_resource_busy"),
    no_facts(std::errc::directory_not_empty, "directory_not_empty"),
    no_facts(std::errc::executable_format_error, "executable_format_error"),
    no_facts(std::errc::file_exists, "file_exists"),
    no_facts(std::errc::file_too_large, "file_too_large"),
    no_facts(std::errc::filename_too_long, "filename_too_long"),
    no_facts(std::errc::function_not_supported, "function_not_supported"),
    late(std::errc::host_unreachable, "host_unreachable"),
    no_facts(std::errc::identifier_removed, "identifier_removed"),
    no_facts(std::errc::illegal_byte_sequence, "illegal_byte_sequence"),
    no_facts(std::errc::inappropriate_io_control_operation, "inappropriate_io_control_operation"),
    late(std::errc::interrupted, "interrupted"),
    no_facts(std::errc::invalid_argument, "invalid_argument"),
    no_facts(std::errc::invalid_seek, "invalid_seek"),
    no_facts(std::errc::io_error, "io_error"),
    no_facts(std::errc::is_a_directory, "is_a_directory"),
    no_facts(std::errc::message_size, "message_size"),
    late(std::errc::network_down, "network_down"),
    late(std::errc::network_reset, "network_reset"),
    late(std::errc::network_unreachable, "network_unreachable"),
    no_facts(std::errc::no_buffer_space, "no_buffer_space"),
    no_facts(std::errc::no_child_process, "no_child_process"),
    no_facts(std::errc::no_link, "no_link"),
    no_facts(std::errc::no_lock_available, "no_lock_available"),
    no_facts(std::errc::no_message, "no_message"),
    no_facts(std::errc::no_protocol_option, "no_protocol_option"),
    no_facts(std::errc::no_space_on_device, "no_space_on_device"),
    no_facts(std::errc::no_such_device_or_address, "no_such_device_or_address"),
    no_facts(std::errc::no_such_device, "no_such_device"),
    no_facts(std::errc::no_such_file_or_directory, "no_such_file_or_directory"),
    no_facts(std::errc::no_such_process, "no_such_process"),
    no_facts(std::errc::not_a_directory, "not_a_directory"),
    no_facts(std::errc::not_a_socket, "not_a_socket"),
    late(std::errc::not_connected, "not_connected"),
    no_facts(std::errc::not_enough_memory, "not_enough_memory"),
    no_facts(std::errc::not_supported, "not_supported"),
    no_facts(std::errc::operation_canceled, "operation_canceled"),
    no_facts(std::errc::operation_in_progress, "operation_in_progress"),
    no_facts(std::errc::operation_not_permitted, "operation_not_permitted"),
    no_facts(std::errc::operation_not_supported, "operation_not_supported"),
    late(std::errc::operation_would_block, "operation_would_block"),
    no_facts(std::errc::owner_dead, "owner_dead"),
    no_facts(std::errc::permission_denied, "permission_denied"),
    no_facts(std::errc::protocol_error, "protocol_error"),
    no_facts(std::errc::protocol_not_supported, "protocol_not_supported"),
    no_facts(std::errc::read_only_file_system, "read_only_file_system"),
    no_facts(std::errc::resource_deadlock_would_occur, "resource_deadlock_would_occur"),
    late(std::errc::resource_unavailable_try_again, "resource_unavailable_try_again"),
    no_facts(std::errc::result_out_of_range, "result_out_of_range"),
    no_facts(std::errc::state_not_recoverable, "state_not_recoverable"),
    no_facts(std::errc::text_file_busy, "text_file_busy"),
    error_row{
        .code = static_cast<int>(std::errc::timed_out),
        .name = "timed_out",
        .safety = maybe,
        .timeout = true,
        .fault = other},
    no_facts(std::errc::too_many_files_open_in_system, "too_many_files_open_in_system"),
    no_facts(std::errc::too_many_files_open, "too_many_files_open"),
    no_facts(std::errc::too_many_links, "too_many_links"),
    no_facts(std::errc::too_many_symbolic_link_levels, "too_many_symbolic_link_levels"),
    no_facts(std::errc::value_too_large, "value_too_large"),
    no_facts(std::errc::wrong_protocol_type, "wrong_protocol_type"),
// The obsolete STREAMS interface of POSIX, which newer standards no longer require.
#if defined(ENODATA)
    error_row{.code = ENODATA, .name = "no_message_available"},
#endif
#if defined(ENOSR)
    error_row{.code = ENOSR, .name = "no_stream_resources"},
#endif
#if defined(ENOSTR)
    error_row{.code = ENOSTR, .name = "not_a_stream"},
#endif
#if defined(ETIME)
    error_row{.code = ETIME, .name = "stream_timeout"},
#endif
};

/// Windows' own codes, which `std::system_category` has there: as plain numbers, so that the table
/// compiles on every system. First all those of Winsock's reference, then others of the system
/// below it, which overlapped operations and pipes report. A query that a name server refused has
/// no facts, as with Asio: it is refused again.
constexpr std::array windows_rows{
    error_row{.code = 6, .name = "WSA_INVALID_HANDLE"},
    error_row{.code = 8, .name = "WSA_NOT_ENOUGH_MEMORY"},
    error_row{.code = 87, .name = "WSA_INVALID_PARAMETER"},
    error_row{.code = 996, .name = "WSA_IO_INCOMPLETE"},
    error_row{.code = 997, .name = "WSA_IO_PENDING"},
    error_row{.code = 10004, .name = "WSAEINTR", .safety = maybe, .fault = other},
    error_row{.code = 10009, .name = "WSAEBADF"},
    error_row{.code = 10013, .name = "WSAEACCES"},
    error_row{.code = 10014, .name = "WSAEFAULT"},
    error_row{.code = 10022, .name = "WSAEINVAL"},
    error_row{.code = 10024, .name = "WSAEMFILE"},
    error_row{.code = 10035, .name = "WSAEWOULDBLOCK", .safety = maybe, .fault = other},
    error_row{.code = 10036, .name = "WSAEINPROGRESS"},
    error_row{.code = 10037, .name = "WSAEALREADY"},
    error_row{.code = 10038, .name = "WSAENOTSOCK"},
    error_row{.code = 10039, .name = "WSAEDESTADDRREQ"},
    error_row{.code = 10040, .name = "WSAEMSGSIZE"},
    error_row{.code = 10041, .name = "WSAEPROTOTYPE"},
    error_row{.code = 10042, .name = "WSAENOPROTOOPT"},
    error_row{.code = 10043, .name = "WSAEPROTONOSUPPORT"},
    error_row{.code = 10044, .name = "WSAESOCKTNOSUPPORT"},
    error_row{.code = 10045, .name = "WSAEOPNOTSUPP"},
    error_row{.code = 10046, .name = "WSAEPFNOSUPPORT"},
    error_row{.code = 10047, .name = "WSAEAFNOSUPPORT"},
    error_row{.code = 10048, .name = "WSAEADDRINUSE"},
    error_row{
        .code = 10049,
        .name = "WSAEADDRNOTAVAIL",
        .safety = yes,
        .fault = other,
        .reason = no_local_address},
    error_row{.code = 10050, .name = "WSAENETDOWN", .safety = maybe, .fault = other},
    error_row{.code = 10051, .name = "WSAENETUNREACH", .safety = maybe, .fault = other},
    error_row{.code = 10052, .name = "WSAENETRESET", .safety = maybe, .fault = other},
    error_row{.code = 10053, .name = "WSAECONNABORTED", .safety = maybe, .fault = other},
    error_row{.code = 10054, .name = "WSAECONNRESET", .safety = maybe, .fault = other},
    error_row{.code = 10055, .name = "WSAENOBUFS"},
    error_row{.code = 10056, .name = "WSAEISCONN"},
    error_row{.code = 10057, .name = "WSAENOTCONN", .safety = maybe, .fault = other},
    error_row{.code = 10058, .name = "WSAESHUTDOWN", .safety = maybe, .fault = other},
    error_row{.code = 10059, .name = "WSAETOOMANYREFS"},
    error_row{
        .code = 10060, .name = "WSAETIMEDOUT", .safety = maybe, .timeout = true, .fault = other},
    error_row{
        .code = 10061,
        .name = "WSAECONNREFUSED",
        .safety = yes,
        .fault = other,
        .reason = not_connected_yet},
    error_row{.code = 10062, .name = "WSAELOOP"},
    error_row{.code = 10063, .name = "WSAENAMETOOLONG"},
    error_row{.code = 10064, .name = "WSAEHOSTDOWN", .safety = maybe, .fault = other},
    error_row{.code = 10065, .name = "WSAEHOSTUNREACH", .safety = maybe, .fault = other},
    error_row{.code = 10066, .name = "WSAENOTEMPTY"},
    error_row{.code = 10067, .name = "WSAEPROCLIM"},
    error_row{.code = 10068, .name = "WSAEUSERS"},
    error_row{.code = 10069, .name = "WSAEDQUOT"},
    error_row{.code = 10070, .name = "WSAESTALE"},
    error_row{.code = 10071, .name = "WSAEREMOTE"},
    error_row{.code = 10091, .name = "WSASYSNOTREADY"},
    error_row{.code = 10092, .name = "WSAVERNOTSUPPORTED"},
    error_row{.code = 10093, .name = "WSANOTINITIALISED"},
    error_row{.code = 10101, .name = "WSAEDISCON", .safety = maybe, .fault = other},
    error_row{.code = 10102, .name = "WSAENOMORE"},
    error_row{.code = 10103, .name = "WSAECANCELLED"},
    error_row{.code = 10104, .name = "WSAEINVALIDPROCTABLE"},
    error_row{.code = 10105, .name = "WSAEINVALIDPROVIDER"},
    error_row{.code = 10106, .name = "WSAEPROVIDERFAILEDINIT"},
    error_row{.code = 10107, .name = "WSASYSCALLFAILURE"},
    error_row{.code = 10108, .name = "WSASERVICE_NOT_FOUND"},
    error_row{.code = 10109, .name = "WSATYPE_NOT_FOUND"},
    error_row{.code = 10110, .name = "WSA_E_NO_MORE"},
    error_row{.code = 10111, .name = "WSA_E_CANCELLED"},
    error_row{.code = 10112, .name = "WSAEREFUSED"},
    error_row{.code = 11001, .name = "WSAHOST_NOT_FOUND"},
    error_row{
        .code = 11002,
        .name = "WSATRY_AGAIN",
        .safety = yes,
        .fault = other,
        .reason = name_not_resolved},
    error_row{.code = 11003, .name = "WSANO_RECOVERY"},
    error_row{.code = 11004, .name = "WSANO_DATA"},
    error_row{.code = 11005, .name = "WSA_QOS_RECEIVERS"},
    error_row{.code = 11006, .name = "WSA_QOS_SENDERS"},
    error_row{.code = 11007, .name = "WSA_QOS_NO_SENDERS"},
    error_row{.code = 11008, .name = "WSA_QOS_NO_RECEIVERS"},
    error_row{.code = 11009, .name = "WSA_QOS_REQUEST_CONFIRMED"},
    error_row{.code = 11010, .name = "WSA_QOS_ADMISSION_FAILURE"},
    error_row{.code = 11011, .name = "WSA_QOS_POLICY_FAILURE"},
    error_row{.code = 11012, .name = "WSA_QOS_BAD_STYLE"},
    error_row{.code = 11013, .name = "WSA_QOS_BAD_OBJECT"},
    error_row{.code = 11014, .name = "WSA_QOS_TRAFFIC_CTRL_ERROR"},
    error_row{.code = 11015, .name = "WSA_QOS_GENERIC_ERROR"},
    error_row{.code = 11016, .name = "WSA_QOS_ESERVICETYPE"},
    error_row{.code = 11017, .name = "WSA_QOS_EFLOWSPEC"},
    error_row{.code = 11018, .name = "WSA_QOS_EPROVSPECBUF"},
    error_row{.code = 11019, .name = "WSA_QOS_EFILTERSTYLE"},
    error_row{.code = 11020, .name = "WSA_QOS_EFILTERTYPE"},
    error_row{.code = 11021, .name = "WSA_QOS_EFILTERCOUNT"},
    error_row{.code = 11022, .name = "WSA_QOS_EOBJLENGTH"},
    error_row{.code = 11023, .name = "WSA_QOS_EFLOWCOUNT"},
    error_row{.code = 11024, .name = "WSA_QOS_EUNKOWNPSOBJ"},
    error_row{.code = 11025, .name = "WSA_QOS_EPOLICYOBJ"},
    error_row{.code = 11026, .name = "WSA_QOS_EFLOWDESC"},
    error_row{.code = 11027, .name = "WSA_QOS_EPSFLOWSPEC"},
    error_row{.code = 11028, .name = "WSA_QOS_EPSFILTERSPEC"},
    error_row{.code = 11029, .name = "WSA_QOS_ESDMODEOBJ"},
    error_row{.code = 11030, .name = "WSA_QOS_ESHAPERATEOBJ"},
    error_row{.code = 11031, .name = "WSA_QOS_RESERVED_PETYPE"},
    error_row{.code = 38, .name = "ERROR_HANDLE_EOF", .safety = maybe, .fault = other},
    error_row{.code = 64, .name = "ERROR_NETNAME_DELETED", .safety = maybe, .fault = other},
    error_row{.code = 109, .name = "ERROR_BROKEN_PIPE", .safety = maybe, .fault = other},
    error_row{
        .code = 121, .name = "ERROR_SEM_TIMEOUT", .safety = maybe, .timeout = true, .fault = other},
    error_row{.code = 232, .name = "ERROR_NO_DATA", .safety = maybe, .fault = other},
    error_row{.code = 233, .name = "ERROR_PIPE_NOT_CONNECTED", .safety = maybe, .fault = other},
    error_row{
        .code = 258, .name = "WAIT_TIMEOUT", .safety = maybe, .timeout = true, .fault = other},
    error_row{.code = 995, .name = "ERROR_OPERATION_ABORTED"},
    error_row{
        .code = 1225,
        .name = "ERROR_CONNECTION_REFUSED",
        .safety = yes,
        .fault = other,
        .reason = not_connected_yet},
    error_row{.code = 1231, .name = "ERROR_NETWORK_UNREACHABLE", .safety = maybe, .fault = other},
    error_row{.code = 1232, .name = "ERROR_HOST_UNREACHABLE", .safety = maybe, .fault = other},
    error_row{.code = 1234, .name = "ERROR_PORT_UNREACHABLE", .safety = maybe, .fault = other},
    error_row{.code = 1236, .name = "ERROR_CONNECTION_ABORTED", .safety = maybe, .fault = other},
    error_row{
        .code = 1460, .name = "ERROR_TIMEOUT", .safety = maybe, .timeout = true, .fault = other},
};

constexpr std::array asio_misc_rows{
    error_row{.code = 1, .name = "already_open"},
    error_row{.code = 2, .name = "eof", .safety = maybe, .fault = other},
    error_row{.code = 3, .name = "not_found"},
    error_row{.code = 4, .name = "fd_set_failure"},
};

constexpr std::array asio_netdb_rows{
    error_row{.code = 1, .name = "host_not_found"},
    error_row{
        .code = 2,
        .name = "host_not_found_try_again",
        .safety = yes,
        .fault = other,
        .reason = name_not_resolved},
    error_row{.code = 3, .name = "no_recovery"},
    error_row{.code = 4, .name = "no_data"},
};

/// A stream that ends without TLS's own farewell is a broken connection.
constexpr std::array asio_ssl_stream_rows{
    error_row{.code = 1, .name = "stream_truncated", .safety = maybe, .fault = other},
    error_row{.code = 2, .name = "unspecified_system_error", .safety = maybe, .fault = other},
    error_row{.code = 3, .name = "unexpected_result"},
};

/// OpenSSL's packed codes. A refused handshake or certificate has no facts, like every code that is
/// not listed. The one row is how OpenSSL 3 reports a truncated stream.
constexpr std::array openssl_rows{
    error_row{
        .code = 0x0A000126,
        .name = "unexpected eof while reading",
        .safety = maybe,
        .fault = other},
};

/// The statuses that differ from their class: other 4xx are `no` and the client's fault, other 5xx
/// are `maybe`, because a gateway may have passed the request on, and the server's.
constexpr std::array http_rows{
    error_row{
        .code = 408,
        .name = "Request Timeout",
        .safety = yes,
        .timeout = true,
        .fault = client,
        .reason = "the request did not arrive whole: the server did not act on it"},
    error_row{
        .code = 429,
        .name = "Too Many Requests",
        .safety = yes,
        .throttling = true,
        .fault = client,
        .reason = "the server refused the request before it did anything"},
    error_row{
        .code = 504, .name = "Gateway Timeout", .safety = maybe, .timeout = true, .fault = server},
};

constexpr std::array library_rows{
    error_row{
        .code = 1,
        .name = "circuit_open",
        .safety = yes,
        .fault = other,
        .reason = blocked_by_breaker},
    error_row{.code = 2, .name = "canceled"},
    error_row{.code = 3, .name = "invalid_settings"},
};

constexpr error_table tables[]{
    {.category = "generic", .rows = generic_rows},
    {.category = "windows", .rows = windows_rows},
    {.category = "asio.misc", .rows = asio_misc_rows},
    {.category = "asio.netdb", .rows = asio_netdb_rows},
    {.category = "asio.ssl.stream", .rows = asio_ssl_stream_rows},
    {.category = "asio.ssl", .rows = openssl_rows},
    {.category = "http", .rows = http_rows},
    {.category = "reprise.retry", .rows = library_rows},
};

/// One more than the place of each row of `generic_rows`, by its code; 0: look for it. Not all
/// systems have codes as small as these.
constexpr auto place_of_errno = [] {
    static_assert(generic_rows.size() < 255);
    std::array<std::uint8_t, 160> places{};
    for (std::size_t at = generic_rows.size(); at-- > 0;) {
        const auto code = static_cast<std::size_t>(generic_rows[at].code);
        if (code < places.size()) {
            places[code] = static_cast<std::uint8_t>(at + 1);
        }
    }
    return places;
}();

}  // namespace

std::span<const error_table> error_tables() noexcept {
    return tables;
}

const error_row* find_errno(int code) noexcept {
    const auto at = static_cast<std::size_t>(code);
    if (at < place_of_errno.size() && place_of_errno[at] != 0) [[likely]] {
        return &generic_rows[place_of_errno[at] - 1U];
    }
    return find_row(generic_rows, code);
}

const error_row* find_error(std::string_view category, int code) noexcept {
    for (const error_table& table : tables) {
        if (table.category == category) {
            return find_row(table.rows, code);
        }
    }
    return nullptr;
}

}  // namespace reprise::detail
