#pragma once

/// Facts of libcurl's codes. Needs no client library.

#include <array>
#include <string_view>

#include <reprise/retry/failure_facts.hpp>

namespace reprise::adapters::detail {

/// Never repeated: a mistake of the caller, a refused certificate, or a protocol other than HTTP.
/// The client's fault is also what its own callbacks and limits ended, and a request that the
/// server refuses for good (a wrong password, a file that does not exist).
[[nodiscard]] constexpr reprise::detail::error_row final_curl_row(
    int code, std::string_view name, failure_fault fault) noexcept {
    return {.code = code, .name = name, .safety = retry_safety::no, .fault = fault};
}
/// May come after the request was sent.
[[nodiscard]] constexpr reprise::detail::error_row late_curl_row(
    int code, std::string_view name) noexcept {
    return {
        .code = code, .name = name, .safety = retry_safety::maybe, .fault = failure_fault::other};
}
/// `yes` holds only for a transfer of which nothing was sent: after a redirect, the request before
/// it was.
[[nodiscard]] constexpr reprise::detail::error_row early_curl_row(
    int code, std::string_view name, std::string_view reason) noexcept {
    return {
        .code = code,
        .name = name,
        .safety = retry_safety::yes,
        .fault = failure_fault::other,
        .reason = reason};
}

/// All codes of libcurl, up to those of 8.12.
inline constexpr std::array curl_rows = [] {
    using enum failure_fault;
    reprise::detail::error_row timeout_row = early_curl_row(
        28, "CURLE_OPERATION_TIMEDOUT", "the time was over before anything was sent");
    timeout_row.timeout = true;
    return std::array{
        reprise::detail::error_row{.code = 0, .name = "CURLE_OK"},
        final_curl_row(1, "CURLE_UNSUPPORTED_PROTOCOL", client),
        final_curl_row(2, "CURLE_FAILED_INIT", client),
        final_curl_row(3, "CURLE_URL_MALFORMAT", client),
        final_curl_row(4, "CURLE_NOT_BUILT_IN", client),
        early_curl_row(
            5, "CURLE_COULDNT_RESOLVE_PROXY",
            "the name of the proxy was not resolved: nothing was sent"),
        early_curl_row(
            6, "CURLE_COULDNT_RESOLVE_HOST", "the name was not resolved: nothing was sent"),
        early_curl_row(
            7, "CURLE_COULDNT_CONNECT", "the connection was never made: nothing was sent"),
        final_curl_row(8, "CURLE_WEIRD_SERVER_REPLY", other),
        final_curl_row(9, "CURLE_REMOTE_ACCESS_DENIED", client),
        final_curl_row(10, "CURLE_FTP_ACCEPT_FAILED", other),
        final_curl_row(11, "CURLE_FTP_WEIRD_PASS_REPLY", other),
        final_curl_row(12, "CURLE_FTP_ACCEPT_TIMEOUT", other),
        final_curl_row(13, "CURLE_FTP_WEIRD_PASV_REPLY", other),
        final_curl_row(14, "CURLE_FTP_WEIRD_227_FORMAT", other),
        final_curl_row(15, "CURLE_FTP_CANT_GET_HOST", other),
        late_curl_row(16, "CURLE_HTTP2"),
        final_curl_row(17, "CURLE_FTP_COULDNT_SET_TYPE", other),
        late_curl_row(18, "CURLE_PARTIAL_FILE"),
        final_curl_row(19, "CURLE_FTP_COULDNT_RETR_FILE", other),
        final_curl_row(20, "CURLE_OBSOLETE20", other),
        final_curl_row(21, "CURLE_QUOTE_ERROR", other),
        final_curl_row(22, "CURLE_HTTP_RETURNED_ERROR", other),
        final_curl_row(23, "CURLE_WRITE_ERROR", client),
        final_curl_row(24, "CURLE_OBSOLETE24", other),
        final_curl_row(25, "CURLE_UPLOAD_FAILED", other),
        final_curl_row(26, "CURLE_READ_ERROR", client),
        final_curl_row(27, "CURLE_OUT_OF_MEMORY", client),
        timeout_row,
        final_curl_row(29, "CURLE_OBSOLETE29", other),
        final_curl_row(30, "CURLE_FTP_PORT_FAILED", other),
        final_curl_row(31, "CURLE_FTP_COULDNT_USE_REST", other),
        final_curl_row(32, "CURLE_OBSOLETE32", other),
        final_curl_row(33, "CURLE_RANGE_ERROR", other),
        final_curl_row(34, "CURLE_HTTP_POST_ERROR", other),
        early_curl_row(35, "CURLE_SSL_CONNECT_ERROR", "the TLS handshake failed: nothing was sent"),
        final_curl_row(36, "CURLE_BAD_DOWNLOAD_RESUME", other),
        final_curl_row(37, "CURLE_FILE_COULDNT_READ_FILE", client),
        final_curl_row(38, "CURLE_LDAP_CANNOT_BIND", other),
        final_curl_row(39, "CURLE_LDAP_SEARCH_FAILED", other),
        final_curl_row(40, "CURLE_OBSOLETE40", other),
        final_curl_row(41, "CURLE_FUNCTION_NOT_FOUND", client),
        final_curl_row(42, "CURLE_ABORTED_BY_CALLBACK", client),
        final_curl_row(43, "CURLE_BAD_FUNCTION_ARGUMENT", client),
        final_curl_row(44, "CURLE_OBSOLETE44", other),
        final_curl_row(45, "CURLE_INTERFACE_FAILED", client),
        final_curl_row(46, "CURLE_OBSOLETE46", other),
        final_curl_row(47, "CURLE_TOO_MANY_REDIRECTS", other),
        final_curl_row(48, "CURLE_UNKNOWN_OPTION", client),
        final_curl_row(49, "CURLE_SETOPT_OPTION_SYNTAX", client),
        final_curl_row(50, "CURLE_OBSOLETE50", other),
        final_curl_row(51, "CURLE_OBSOLETE51", other),
        late_curl_row(52, "CURLE_GOT_NOTHING"),
        final_curl_row(53, "CURLE_SSL_ENGINE_NOTFOUND", client),
        final_curl_row(54, "CURLE_SSL_ENGINE_SETFAILED", client),
        late_curl_row(55, "CURLE_SEND_ERROR"),
        late_curl_row(56, "CURLE_RECV_ERROR"),
        final_curl_row(57, "CURLE_OBSOLETE57", other),
        final_curl_row(58, "CURLE_SSL_CERTPROBLEM", client),
        final_curl_row(59, "CURLE_SSL_CIPHER", client),
        final_curl_row(60, "CURLE_PEER_FAILED_VERIFICATION", other),
        final_curl_row(61, "CURLE_BAD_CONTENT_ENCODING", other),
        final_curl_row(62, "CURLE_OBSOLETE62", other),
        final_curl_row(63, "CURLE_FILESIZE_EXCEEDED", client),
        final_curl_row(64, "CURLE_USE_SSL_FAILED", other),
        final_curl_row(65, "CURLE_SEND_FAIL_REWIND", client),
        final_curl_row(66, "CURLE_SSL_ENGINE_INITFAILED", client),
        final_curl_row(67, "CURLE_LOGIN_DENIED", client),
        final_curl_row(68, "CURLE_TFTP_NOTFOUND", client),
        final_curl_row(69, "CURLE_TFTP_PERM", client),
        final_curl_row(70, "CURLE_REMOTE_DISK_FULL", server),
        final_curl_row(71, "CURLE_TFTP_ILLEGAL", other),
        final_curl_row(72, "CURLE_TFTP_UNKNOWNID", other),
        final_curl_row(73, "CURLE_REMOTE_FILE_EXISTS", client),
        final_curl_row(74, "CURLE_TFTP_NOSUCHUSER", client),
        final_curl_row(75, "CURLE_OBSOLETE75", other),
        final_curl_row(76, "CURLE_OBSOLETE76", other),
        final_curl_row(77, "CURLE_SSL_CACERT_BADFILE", client),
        final_curl_row(78, "CURLE_REMOTE_FILE_NOT_FOUND", client),
        final_curl_row(79, "CURLE_SSH", other),
        final_curl_row(80, "CURLE_SSL_SHUTDOWN_FAILED", other),
        final_curl_row(81, "CURLE_AGAIN", client),
        final_curl_row(82, "CURLE_SSL_CRL_BADFILE", client),
        final_curl_row(83, "CURLE_SSL_ISSUER_ERROR", other),
        final_curl_row(84, "CURLE_FTP_PRET_FAILED", other),
        final_curl_row(85, "CURLE_RTSP_CSEQ_ERROR", other),
        final_curl_row(86, "CURLE_RTSP_SESSION_ERROR", other),
        final_curl_row(87, "CURLE_FTP_BAD_FILE_LIST", other),
        final_curl_row(88, "CURLE_CHUNK_FAILED", other),
        final_curl_row(89, "CURLE_NO_CONNECTION_AVAILABLE", client),
        final_curl_row(90, "CURLE_SSL_PINNEDPUBKEYNOTMATCH", other),
        final_curl_row(91, "CURLE_SSL_INVALIDCERTSTATUS", other),
        late_curl_row(92, "CURLE_HTTP2_STREAM"),
        final_curl_row(93, "CURLE_RECURSIVE_API_CALL", client),
        final_curl_row(94, "CURLE_AUTH_ERROR", client),
        late_curl_row(95, "CURLE_HTTP3"),
        late_curl_row(96, "CURLE_QUIC_CONNECT_ERROR"),
        final_curl_row(97, "CURLE_PROXY", other),
        final_curl_row(98, "CURLE_SSL_CLIENTCERT", client),
        final_curl_row(99, "CURLE_UNRECOVERABLE_POLL", other),
        final_curl_row(100, "CURLE_TOO_LARGE", other),
        final_curl_row(101, "CURLE_ECH_REQUIRED", other),
    };
}();

}  // namespace reprise::adapters::detail
