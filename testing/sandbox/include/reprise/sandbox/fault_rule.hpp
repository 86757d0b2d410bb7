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

// Answers with this status and applies nothing. Any code is legal, success too. not_my_vbucket
// brings the node's configuration as a real one does; other codes bring `context` if it is set.
struct fault_status {
    wire::status status = wire::status::etmpfail;
    wire::error_context context{};
};
// Applies at once, answers later. Without unordered execution later answers wait too.
struct fault_delay {
    std::chrono::nanoseconds delay{0};
};
// Applies, and never answers.
struct fault_no_answer {};
// Closes the connection; the request was not applied.
struct fault_close_before {};
// Applies, then closes the connection without an answer.
struct fault_close_after {};
// Applies once, and sends the same answer twice.
struct fault_answer_twice {};
// Applies; the answer carries an opaque that differs from the request's by these bits.
struct fault_wrong_opaque {
    std::uint32_t flipped_bits = 0x8000'0000;
};
// Applies, sends only the first bytes of the answer (0: none), then closes.
struct fault_truncate {
    std::size_t size = 12;  // bytes
};
// Applies; instead of the answer come random bytes, the first of which begins no frame. They are
// drawn from the cluster's seed. The connection stays open: closing it is up to the client.
struct fault_garbage {
    std::size_t size = 24;  // bytes, at least 1
    // More is cut down to this.
    static constexpr std::size_t size_max_bytes = std::size_t{1024} * 1024;
};
// Applies; the answer comes byte by byte, the first at once. Everything else on the connection
// waits until it is through.
struct fault_trickle {
    std::chrono::nanoseconds interval{std::chrono::milliseconds(1)};  // between two bytes
};

using fault_effect = std::variant<
    fault_status, fault_delay, fault_no_answer, fault_close_before, fault_close_after,
    fault_answer_twice, fault_wrong_opaque, fault_truncate, fault_garbage, fault_trickle>;

// Which requests are disturbed, and how. A request is looked at as soon as its frame is whole,
// before any check, so also HELLO, SASL and malformed requests can be disturbed. What a rule does
// to the answer it does to the late answer of a pending durable write, too.
struct fault_rule {
    // Empty: every opcode.
    std::vector<wire::opcode> ops{};
    // Of the document key without its collection prefix (for requests without one: the key field).
    // `*` any run of bytes, `?` any byte; empty: every key.
    std::string key_pattern{};
    std::optional<node_id> node{};
    // Empty: every bucket, and connections without one.
    std::string bucket{};
    // The first so many requests that fit are let through.
    std::uint64_t skip = 0;
    // Then each nth is taken: 1 all, 3 the first, fourth, seventh, ... Not 0.
    std::uint64_t every = 1;
    // Of those, this share, drawn from the cluster's seed: 0..1.
    double probability = 1.0;
    // After so many effects the rule rests, but stays in the list. Empty: no limit.
    std::optional<std::uint64_t> limit{};
    fault_effect effect = fault_status{};
};

struct fault_entry {
    std::uint64_t id = 0;
    fault_rule rule{};
    std::uint64_t match_count = 0;   // requests that fitted
    std::uint64_t effect_count = 0;  // requests that were disturbed
};

// What a rule is compared with. Views live during the call only.
struct fault_subject {
    wire::opcode op{};
    std::string_view key{};
    node_id node{};
    std::string_view bucket{};
};

// The rules of a cluster, in the order in which they were added. The first rule that takes a
// request decides alone; later ones do not see it and do not count it.
class fault_list {
public:
    explicit fault_list(std::uint64_t seed) : rng_(seed) {}

    // The rule's id, 1 and up, never reused. `every` 0 counts as 1.
    std::uint64_t add(fault_rule rule);
    // False if there is no such rule.
    bool remove(std::uint64_t id);
    void clear() noexcept { entries_.clear(); }
    const std::vector<fault_entry>& entries() const noexcept { return entries_; }
    bool empty() const noexcept { return entries_.empty(); }

    // Counts the request and gives the rule that takes it; null: none does. The pointer lives until
    // the next change of the list.
    const fault_entry* decide(const fault_subject& subject);

    // So many random bytes that begin no frame (at least one).
    std::vector<std::byte> make_garbage(std::size_t size);

private:
    std::vector<fault_entry> entries_;
    std::uint64_t id_next_ = 1;
    std::mt19937_64 rng_;
};

// `*` matches any run of bytes, `?` one byte, everything else itself. Linear in the text for each
// star: no pattern makes it explode.
bool matches_glob(std::string_view pattern, std::string_view text) noexcept;

}  // namespace reprise::sandbox
