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

// One field of an HTTP header; names are compared without case.
struct service_header {
    std::string name{};
    std::string value{};
};

// In the order of the message; a name may come more than once.
using service_header_list = std::vector<service_header>;

// The value of the first field of that name. The view lives as long as the list is not changed.
std::optional<std::string_view> find_header(
    const service_header_list& headers, std::string_view name) noexcept;

// What can happen to a request on an HTTP port. "Applied" means that the request was carried out:
// its mutations are in the cluster.

// This answer instead of the service's; not applied. Headers may name Retry-After, Content-Type
// (otherwise application/json) and so on, but not what the codec writes itself.
struct service_fault_answer {
    int status = 503;  // 100..999
    service_header_list headers{};
    std::string body{};
};
// Applied at once, answered later. Later requests of the connection wait too.
struct service_fault_delay {
    std::chrono::nanoseconds delay{0};
};
// Applied, and never answered; the connection stays open and hears nothing more.
struct service_fault_no_answer {};
// The connection is closed; not applied.
struct service_fault_close_before {};
// Applied, then closed without an answer.
struct service_fault_close_after {};
// Applied; the status line and the headers are sent, then the connection is closed.
struct service_fault_close_after_headers {};
// Applied; the headers and so many bytes of the body are sent, then the connection is closed. A
// body that is shorter is sent whole, without its end.
struct service_fault_close_mid_body {
    std::size_t size_bytes = 1;
};
// Applied; Content-Length says so much more (or, negative, less) than the body has, then the
// connection is closed. Streamed results are left as they are.
struct service_fault_wrong_length {
    std::int64_t difference = 1;
};
// Applied; the body is sent chunked, with a size line in its middle that is none, then closed.
struct service_fault_bad_chunk {};
// Applied; the answer claims a Content-Encoding that its plain body does not have.
struct service_fault_unasked_encoding {
    std::string encoding = "gzip";
};
// A redirect instead of the answer; not applied.
struct service_fault_redirect {
    int status = 302;
    std::string location = "/";
};
// Applied; so many `100 Continue` come before the answer.
struct service_fault_continue_first {
    std::size_t count = 1;
};

using service_fault_effect = std::variant<
    service_fault_answer, service_fault_delay, service_fault_no_answer, service_fault_close_before,
    service_fault_close_after, service_fault_close_after_headers, service_fault_close_mid_body,
    service_fault_wrong_length, service_fault_bad_chunk, service_fault_unasked_encoding,
    service_fault_redirect, service_fault_continue_first>;

// Whether a request with this effect is carried out.
bool is_applied_under(const service_fault_effect& effect) noexcept;

// Which requests are disturbed, and how. A request is looked at once it is whole, before the
// login is checked.
struct service_fault_rule {
    // Empty: every service, management included.
    std::optional<wire::service> service{};
    std::optional<node_id> node{};
    // Empty: every method.
    std::string method{};
    // Patterns: `*` any run of bytes, `?` any byte; empty: everything fits.
    std::string path_pattern{};       // of the target without its query, still percent-encoded
    std::string statement_pattern{};  // of `statement`, or of `prepared` where there is none
    std::string context_pattern{};    // of `client_context_id`
    // As in fault_rule: so many are let through, then each nth, of those this share, so often.
    std::uint64_t skip = 0;
    std::uint64_t every = 1;
    double probability = 1.0;
    std::optional<std::uint64_t> limit{};
    service_fault_effect effect = service_fault_answer{};
};

struct service_fault_entry {
    std::uint64_t id = 0;
    service_fault_rule rule{};
    std::uint64_t match_count = 0;   // requests that fitted
    std::uint64_t effect_count = 0;  // requests that were disturbed
};

// What a rule is compared with. Views live during the call only.
struct service_fault_subject {
    wire::service service{};
    node_id node{};
    std::string_view method{};
    std::string_view path{};
    std::string_view statement{};
    std::string_view context_id{};
};

// The rules of a cluster's services, in the order in which they were added. The first rule that
// takes a request decides alone.
class service_fault_list {
public:
    explicit service_fault_list(std::uint64_t seed) : rng_(seed) {}

    // The rule's id, 1 and up, never reused. `every` 0 counts as 1.
    std::uint64_t add(service_fault_rule rule);
    // False if there is no such rule.
    bool remove(std::uint64_t id);
    void clear() noexcept { entries_.clear(); }
    const std::vector<service_fault_entry>& entries() const noexcept { return entries_; }

    // Counts the request and gives the rule that takes it; null: none does. The pointer lives until
    // the next change of the list.
    const service_fault_entry* decide(const service_fault_subject& subject);

private:
    std::vector<service_fault_entry> entries_;
    std::uint64_t id_next_ = 1;
    std::mt19937_64 rng_;
};

}  // namespace reprise::sandbox
