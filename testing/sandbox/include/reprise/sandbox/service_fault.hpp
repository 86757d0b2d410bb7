#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <reprise/sandbox/ids.hpp>
#include <reprise/wire/cluster_node.hpp>

namespace reprise::sandbox {

/// One field of an HTTP header. Names are compared case-insensitively.
struct service_header {
    std::string name{};
    std::string value{};
};

/// In the order of the message; a name may occur more than once.
using service_header_list = std::vector<service_header>;

/// Returns the value of the first field with this name. The view is valid until the list changes.
std::optional<std::string_view> find_header(
    const service_header_list& headers, std::string_view name) noexcept;

// The effects that a rule can have on a request to an HTTP port. "Applied" means that the request
// was carried out: its mutations are in the cluster.

/// Sends this answer instead of the service's. `headers` may contain Retry-After, Content-Type
/// (default: application/json) and others, but not those that the codec writes.
struct service_fault_answer {
    int status = 503;  // 100..999
    service_header_list headers{};
    std::string body{};
    /// The request is applied before it is answered: an error that comes after its effects.
    bool is_applied = false;
};
/// Applied at once, answered later. Later requests on the connection wait as well. A statement
/// whose `timeout` ends before the delay is answered at that time with 1080 and `retry: true`. Its
/// mutations stay.
struct service_fault_delay {
    std::chrono::nanoseconds delay{0};
};
/// Applied, but never answered. The connection stays open and sends nothing more.
struct service_fault_no_answer {};
/// The connection is closed; the request is not applied.
struct service_fault_close_before {};
/// Applied, then closed without an answer.
struct service_fault_close_after {};
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
    service_fault_answer, service_fault_delay, service_fault_no_answer, service_fault_close_before,
    service_fault_close_after, service_fault_close_after_headers, service_fault_close_mid_body,
    service_fault_wrong_length, service_fault_bad_chunk, service_fault_unasked_encoding,
    service_fault_redirect, service_fault_continue_first, service_fault_stray_bytes>;

/// Whether a request with this effect is carried out.
bool is_applied_under(const service_fault_effect& effect) noexcept;

/// Selects the requests to disturb, and the effect. A request is matched once it is complete and
/// before authentication.
struct service_fault_rule {
    /// Empty: every service, including management.
    std::optional<wire::service> service{};
    std::optional<node_id> node{};
    /// Empty: every method.
    std::string method{};
    /// Patterns: `*` matches any run of bytes, `?` any byte; empty: everything.
    std::string path_pattern{};       // of the target without its query, still percent-encoded
    std::string statement_pattern{};  // of `statement`, or of `prepared` if there is none
    std::string context_pattern{};    // of `client_context_id`
    /// As in fault_rule: requests to let through, take every nth, with this probability, at most
    /// this often.
    std::uint64_t skip = 0;
    std::uint64_t every = 1;
    double probability = 1.0;
    std::optional<std::uint64_t> limit{};
    service_fault_effect effect = service_fault_answer{};
};

struct service_fault_entry {
    std::uint64_t id = 0;
    service_fault_rule rule{};
    std::uint64_t match_count = 0;   // requests that matched
    std::uint64_t effect_count = 0;  // requests that were disturbed
};

/// The request that a rule is matched against. Views are valid during the call only.
struct service_fault_subject {
    wire::service service{};
    node_id node{};
    std::string_view method{};
    std::string_view path{};
    std::string_view statement{};
    std::string_view context_id{};
};

/// The rules of a cluster's services, in the order in which they were added. The first rule that
/// takes a request decides alone.
class service_fault_list {
public:
    explicit service_fault_list(std::uint64_t seed) : rng_(seed) {}

    /// Returns the rule's id, which starts at 1 and is never reused. `every` 0 counts as 1.
    std::uint64_t add(service_fault_rule rule);
    /// False if there is no such rule.
    bool remove(std::uint64_t id);
    void clear() noexcept { entries_.clear(); }
    const std::vector<service_fault_entry>& entries() const noexcept { return entries_; }

    /// Counts the request and returns the rule that takes it, or null. The pointer is valid until
    /// the list changes.
    const service_fault_entry* decide(const service_fault_subject& subject);

private:
    std::vector<service_fault_entry> entries_;
    std::uint64_t id_next_ = 1;
    std::mt19937_64 rng_;
};

}  // namespace reprise::sandbox
