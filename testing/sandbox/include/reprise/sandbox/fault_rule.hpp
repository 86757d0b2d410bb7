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
#include <reprise/wire/error_context.hpp>
#include <reprise/wire/opcode.hpp>
#include <reprise/wire/status.hpp>

namespace reprise::sandbox {

/// Answers with this status and applies nothing. Any status is allowed, even success.
/// not_my_vbucket carries the node's configuration, as on a real server; other statuses carry
/// `context` if it is set.
struct fault_status {
    wire::status status = wire::status::etmpfail;
    wire::error_context context{};
};
/// Applies the request at once, but answers later. Without unordered execution, later answers wait
/// as well.
struct fault_delay {
    std::chrono::nanoseconds delay{0};
};
/// Applies the request, but never answers.
struct fault_no_answer {};
/// Closes the connection; the request was not applied.
struct fault_close_before {};
/// Applies the request, then closes the connection without an answer.
struct fault_close_after {};
/// Applies the request once, but sends the answer twice.
struct fault_answer_twice {};
/// Applies the request, but flips these bits of the answer's opaque.
struct fault_wrong_opaque {
    std::uint32_t flipped_bits = 0x8000'0000;
};
/// Applies the request, sends only the first bytes of the answer (0: none), then closes.
struct fault_truncate {
    std::size_t size = 12;  // bytes
};
/// Applies the request, but sends random bytes instead of the answer. The first byte cannot begin a
/// frame. The bytes depend on the cluster's seed. The connection stays open: closing it is up to
/// the client.
struct fault_garbage {
    std::size_t size = 24;  // bytes, at least 1
    /// Larger sizes are reduced to this.
    static constexpr std::size_t size_max_bytes = std::size_t{1024} * 1024;
};
/// Applies the request, but sends the answer byte by byte, the first byte at once. Everything else
/// on the connection waits until it is complete.
struct fault_trickle {
    std::chrono::nanoseconds interval{std::chrono::milliseconds(1)};  // between two bytes
};

using fault_effect = std::variant<
    fault_status, fault_delay, fault_no_answer, fault_close_before, fault_close_after,
    fault_answer_twice, fault_wrong_opaque, fault_truncate, fault_garbage, fault_trickle>;

/// Selects the requests to disturb, and the effect. A request is matched as soon as its frame is
/// complete and before any check, so HELLO, SASL and malformed requests can be disturbed, too. An
/// effect on the answer also applies to the late answer of a pending durable write.
struct fault_rule {
    /// Empty: every opcode.
    std::vector<wire::opcode> ops{};
    /// Pattern of the document key without its collection prefix (or of the key field, for requests
    /// without a document). `*` matches any run of bytes, `?` any byte; empty: every key.
    std::string key_pattern{};
    std::optional<node_id> node{};
    /// Empty: every bucket, and connections without one.
    std::string bucket{};
    /// The number of matching requests to let through first.
    std::uint64_t skip = 0;
    /// After that, takes every nth: 1 all, 3 the first, fourth, seventh, ... Must not be 0.
    std::uint64_t every = 1;
    /// The probability of taking one of those, 0..1. Depends on the cluster's seed.
    double probability = 1.0;
    /// After this many effects the rule has none any more, but stays in the list. Empty: no limit.
    std::optional<std::uint64_t> limit{};
    fault_effect effect = fault_status{};
};

struct fault_entry {
    std::uint64_t id = 0;
    fault_rule rule{};
    std::uint64_t match_count = 0;   // requests that matched
    std::uint64_t effect_count = 0;  // requests that were disturbed
};

/// The request that a rule is matched against. Views are valid during the call only.
struct fault_subject {
    wire::opcode op{};
    std::string_view key{};
    node_id node{};
    std::string_view bucket{};
};

/// The rules of a cluster, in the order in which they were added. The first rule that takes a
/// request decides alone; later rules do not see or count it.
class fault_list {
public:
    explicit fault_list(std::uint64_t seed) : rng_(seed) {}

    /// Returns the rule's id, which starts at 1 and is never reused. `every` 0 counts as 1.
    std::uint64_t add(fault_rule rule);
    /// False if there is no such rule.
    bool remove(std::uint64_t id);
    void clear() noexcept { entries_.clear(); }
    const std::vector<fault_entry>& entries() const noexcept { return entries_; }
    bool empty() const noexcept { return entries_.empty(); }

    /// Counts the request and returns the rule that takes it, or null. The pointer is valid until
    /// the list changes.
    const fault_entry* decide(const fault_subject& subject);

    /// Returns this many random bytes (at least one) that cannot begin a frame.
    std::vector<std::byte> make_garbage(std::size_t size);

private:
    std::vector<fault_entry> entries_;
    std::uint64_t id_next_ = 1;
    std::mt19937_64 rng_;
};

/// `*` matches any run of bytes, `?` one byte, everything else itself. Linear in the text for each
/// star, so no pattern makes it explode.
bool matches_glob(std::string_view pattern, std::string_view text) noexcept;

}  // namespace reprise::sandbox
