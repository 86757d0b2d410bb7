#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>

#include <reprise/sandbox/service_header.hpp>
#include <reprise/wire/error_context.hpp>
#include <reprise/wire/status.hpp>

// The effect of a fault rule on a request. "Applied" means that the request was carried out: its
// mutations are in the cluster.

namespace reprise::sandbox {

// --- key-value and HTTP -----------------------------------------------------------------------

/// Applied at once, answered later. Later answers on the connection wait as well, except with
/// unordered execution of key-value requests. A statement whose `timeout` ends before the delay is
/// answered at that time with 1080 and `retry: true`; its mutations stay.
struct fault_delay {
    std::chrono::nanoseconds delay{0};
};
/// Applied, but never answered. The connection stays open; an HTTP connection sends nothing more.
struct fault_no_answer {};
/// The connection is closed; the request is not applied.
struct fault_close_before {};
/// Applied, then closed without an answer.
struct fault_close_after {};

// --- key-value --------------------------------------------------------------------------------

/// Answers with this status and applies nothing. Any status is allowed, even success.
/// not_my_vbucket carries the node's configuration, as on a real server; other statuses carry
/// `context` if it is set.
struct fault_status {
    wire::status status = wire::status::etmpfail;
    wire::error_context context{};
};
/// Applied once, but the answer is sent twice.
struct fault_answer_twice {};
/// Applied; these bits of the answer's opaque are flipped.
struct fault_wrong_opaque {
    std::uint32_t flipped_bits = 0x8000'0000;
};
/// Applied; only the first bytes of the answer (0: none) are sent, then the connection is closed.
struct fault_truncate {
    std::size_t size = 12;  // bytes
};
/// Applied; random bytes are sent instead of the answer. The first byte cannot begin a frame. The
/// bytes depend on the cluster's seed. The connection stays open: closing it is up to the client.
struct fault_garbage {
    std::size_t size = 24;  // bytes, at least 1
    /// Larger sizes are reduced to this.
    static constexpr std::size_t size_max_bytes = std::size_t{1024} * 1024;
};
/// Applied; the answer is sent byte by byte, the first byte at once. Everything else on the
/// connection waits until it is complete.
struct fault_trickle {
    std::chrono::nanoseconds interval{std::chrono::milliseconds(1)};  // between two bytes
};

using fault_effect = std::variant<
    fault_status, fault_delay, fault_no_answer, fault_close_before, fault_close_after,
    fault_answer_twice, fault_wrong_opaque, fault_truncate, fault_garbage, fault_trickle>;

// --- HTTP -------------------------------------------------------------------------------------

/// Sends this answer instead of the service's. `headers` may contain Retry-After, Content-Type
/// (default: application/json) and others, but not those that the codec writes.
struct service_fault_answer {
    int status = 503;  // 100..999
    service_header_list headers{};
    std::string body{};
    /// The request is applied before it is answered: an error that comes after its effects.
    bool is_applied = false;
};
/// Applied; the status line and the headers are sent, then the connection is closed.
struct service_fault_close_after_headers {};
/// Applied; the headers and this many bytes of the body are sent, then the connection is closed. A
/// shorter body is sent completely, but not terminated.
struct service_fault_close_mid_body {
    std::size_t size_bytes = 1;
};
/// Applied; Content-Length is wrong by this many bytes (negative: too small), then the connection
/// is closed. Streamed results are not affected.
struct service_fault_wrong_length {
    std::int64_t difference = 1;
};
/// Applied; the body is sent chunked with an invalid size line in the middle, then the connection
/// is closed.
struct service_fault_bad_chunk {};
/// Applied; the answer claims a Content-Encoding although its body is plain.
struct service_fault_unasked_encoding {
    std::string encoding = "gzip";
};
/// Sends a redirect instead of the answer; the request is not applied.
struct service_fault_redirect {
    int status = 302;
    std::string location = "/";
};
/// Applied; this many `100 Continue` responses precede the answer.
struct service_fault_continue_first {
    std::size_t count = 1;
};
/// Applied; bytes that belong to no answer are sent before and after the answer, and the connection
/// stays open. Streamed results are not affected.
struct service_fault_stray_bytes {
    std::string before{};
    std::string after{};
    /// Between the answer and `after`.
    std::chrono::nanoseconds pause{0};
};

using service_fault_effect = std::variant<
    service_fault_answer, fault_delay, fault_no_answer, fault_close_before, fault_close_after,
    service_fault_close_after_headers, service_fault_close_mid_body, service_fault_wrong_length,
    service_fault_bad_chunk, service_fault_unasked_encoding, service_fault_redirect,
    service_fault_continue_first, service_fault_stray_bytes>;

/// Whether a request with this effect is carried out.
bool is_applied_under(const service_fault_effect& effect) noexcept;

}  // namespace reprise::sandbox
