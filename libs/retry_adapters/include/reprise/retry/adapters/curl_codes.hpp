#pragma once

/// Facts of libcurl's codes. Needs no client library.

#include <array>

#include <reprise/retry/failure_facts.hpp>

namespace reprise::adapters::detail {

/// All codes of libcurl, up to those of 8.12. `yes` holds only for a transfer of which nothing was
/// sent: after a redirect, the request before it was. `no` is a mistake of the caller, a refused
/// certificate, or a protocol other than HTTP.
inline constexpr std::array curl_rows{
    reprise::detail::error_row{.code = 0, .name = "CURLE_OK"},
    reprise::detail::error_row{
        .code = 1, .name = "CURLE_UNSUPPORTED_PROTOCOL", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 2, .name = "CURLE_FAILED_INIT", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 3, .name = "CURLE_URL_MALFORMAT", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 4, .name = "CURLE_NOT_BUILT_IN", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 5,
        .name = "CURLE_COULDNT_RESOLVE_PROXY",
        .safety = retry_safety::yes,
        .reason = "the name of the proxy was not resolved: nothing was sent"},
    reprise::detail::error_row{
        .code = 6,
        .name = "CURLE_COULDNT_RESOLVE_HOST",
        .safety = retry_safety::yes,
        .reason = "the name was not resolved: nothing was sent"},
    reprise::detail::error_row{
        .code = 7,
        .name = "CURLE_COULDNT_CONNECT",
        .safety = retry_safety::yes,
        .reason = "the connection was never made: nothing was sent"},
    reprise::detail::error_row{
        .code = 8, .name = "CURLE_WEIRD_SERVER_REPLY", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 9, .name = "CURLE_REMOTE_ACCESS_DENIED", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 10, .name = "CURLE_FTP_ACCEPT_FAILED", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 11, .name = "CURLE_FTP_WEIRD_PASS_REPLY", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 12, .name = "CURLE_FTP_ACCEPT_TIMEOUT", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 13, .name = "CURLE_FTP_WEIRD_PASV_REPLY", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 14, .name = "CURLE_FTP_WEIRD_227_FORMAT", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 15, .name = "CURLE_FTP_CANT_GET_HOST", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 16, .name = "CURLE_HTTP2", .safety = retry_safety::maybe},
    reprise::detail::error_row{
        .code = 17, .name = "CURLE_FTP_COULDNT_SET_TYPE", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 18, .name = "CURLE_PARTIAL_FILE", .safety = retry_safety::maybe},
    reprise::detail::error_row{
        .code = 19, .name = "CURLE_FTP_COULDNT_RETR_FILE", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 20, .name = "CURLE_OBSOLETE20", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 21, .name = "CURLE_QUOTE_ERROR", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 22, .name = "CURLE_HTTP_RETURNED_ERROR", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 23, .name = "CURLE_WRITE_ERROR", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 24, .name = "CURLE_OBSOLETE24", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 25, .name = "CURLE_UPLOAD_FAILED", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 26, .name = "CURLE_READ_ERROR", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 27, .name = "CURLE_OUT_OF_MEMORY", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 28,
        .name = "CURLE_OPERATION_TIMEDOUT",
        .safety = retry_safety::yes,
        .timeout = true,
        .reason = "the time was over before anything was sent"},
    reprise::detail::error_row{.code = 29, .name = "CURLE_OBSOLETE29", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 30, .name = "CURLE_FTP_PORT_FAILED", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 31, .name = "CURLE_FTP_COULDNT_USE_REST", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 32, .name = "CURLE_OBSOLETE32", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 33, .name = "CURLE_RANGE_ERROR", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 34, .name = "CURLE_HTTP_POST_ERROR", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 35,
        .name = "CURLE_SSL_CONNECT_ERROR",
        .safety = retry_safety::yes,
        .reason = "the TLS handshake failed: nothing was sent"},
    reprise::detail::error_row{
        .code = 36, .name = "CURLE_BAD_DOWNLOAD_RESUME", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 37, .name = "CURLE_FILE_COULDNT_READ_FILE", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 38, .name = "CURLE_LDAP_CANNOT_BIND", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 39, .name = "CURLE_LDAP_SEARCH_FAILED", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 40, .name = "CURLE_OBSOLETE40", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 41, .name = "CURLE_FUNCTION_NOT_FOUND", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 42, .name = "CURLE_ABORTED_BY_CALLBACK", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 43, .name = "CURLE_BAD_FUNCTION_ARGUMENT", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 44, .name = "CURLE_OBSOLETE44", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 45, .name = "CURLE_INTERFACE_FAILED", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 46, .name = "CURLE_OBSOLETE46", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 47, .name = "CURLE_TOO_MANY_REDIRECTS", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 48, .name = "CURLE_UNKNOWN_OPTION", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 49, .name = "CURLE_SETOPT_OPTION_SYNTAX", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 50, .name = "CURLE_OBSOLETE50", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 51, .name = "CURLE_OBSOLETE51", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 52, .name = "CURLE_GOT_NOTHING", .safety = retry_safety::maybe},
    reprise::detail::error_row{
        .code = 53, .name = "CURLE_SSL_ENGINE_NOTFOUND", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 54, .name = "CURLE_SSL_ENGINE_SETFAILED", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 55, .name = "CURLE_SEND_ERROR", .safety = retry_safety::maybe},
    reprise::detail::error_row{
        .code = 56, .name = "CURLE_RECV_ERROR", .safety = retry_safety::maybe},
    reprise::detail::error_row{.code = 57, .name = "CURLE_OBSOLETE57", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 58, .name = "CURLE_SSL_CERTPROBLEM", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 59, .name = "CURLE_SSL_CIPHER", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 60, .name = "CURLE_PEER_FAILED_VERIFICATION", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 61, .name = "CURLE_BAD_CONTENT_ENCODING", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 62, .name = "CURLE_OBSOLETE62", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 63, .name = "CURLE_FILESIZE_EXCEEDED", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 64, .name = "CURLE_USE_SSL_FAILED", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 65, .name = "CURLE_SEND_FAIL_REWIND", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 66, .name = "CURLE_SSL_ENGINE_INITFAILED", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 67, .name = "CURLE_LOGIN_DENIED", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 68, .name = "CURLE_TFTP_NOTFOUND", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 69, .name = "CURLE_TFTP_PERM", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 70, .name = "CURLE_REMOTE_DISK_FULL", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 71, .name = "CURLE_TFTP_ILLEGAL", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 72, .name = "CURLE_TFTP_UNKNOWNID", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 73, .name = "CURLE_REMOTE_FILE_EXISTS", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 74, .name = "CURLE_TFTP_NOSUCHUSER", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 75, .name = "CURLE_OBSOLETE75", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 76, .name = "CURLE_OBSOLETE76", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 77, .name = "CURLE_SSL_CACERT_BADFILE", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 78, .name = "CURLE_REMOTE_FILE_NOT_FOUND", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 79, .name = "CURLE_SSH", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 80, .name = "CURLE_SSL_SHUTDOWN_FAILED", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 81, .name = "CURLE_AGAIN", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 82, .name = "CURLE_SSL_CRL_BADFILE", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 83, .name = "CURLE_SSL_ISSUER_ERROR", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 84, .name = "CURLE_FTP_PRET_FAILED", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 85, .name = "CURLE_RTSP_CSEQ_ERROR", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 86, .name = "CURLE_RTSP_SESSION_ERROR", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 87, .name = "CURLE_FTP_BAD_FILE_LIST", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 88, .name = "CURLE_CHUNK_FAILED", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 89, .name = "CURLE_NO_CONNECTION_AVAILABLE", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 90, .name = "CURLE_SSL_PINNEDPUBKEYNOTMATCH", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 91, .name = "CURLE_SSL_INVALIDCERTSTATUS", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 92, .name = "CURLE_HTTP2_STREAM", .safety = retry_safety::maybe},
    reprise::detail::error_row{
        .code = 93, .name = "CURLE_RECURSIVE_API_CALL", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 94, .name = "CURLE_AUTH_ERROR", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 95, .name = "CURLE_HTTP3", .safety = retry_safety::maybe},
    reprise::detail::error_row{
        .code = 96, .name = "CURLE_QUIC_CONNECT_ERROR", .safety = retry_safety::maybe},
    reprise::detail::error_row{.code = 97, .name = "CURLE_PROXY", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 98, .name = "CURLE_SSL_CLIENTCERT", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 99, .name = "CURLE_UNRECOVERABLE_POLL", .safety = retry_safety::no},
    reprise::detail::error_row{.code = 100, .name = "CURLE_TOO_LARGE", .safety = retry_safety::no},
    reprise::detail::error_row{
        .code = 101, .name = "CURLE_ECH_REQUIRED", .safety = retry_safety::no},
};

}  // namespace reprise::adapters::detail
