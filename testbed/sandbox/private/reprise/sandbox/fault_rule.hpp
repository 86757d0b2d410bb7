#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/retry/random_generator.hpp>
#include <reprise/sandbox/fault_effect.hpp>
#include <reprise/sandbox/ids.hpp>
#include <reprise/wire/cluster_node.hpp>
#include <reprise/wire/opcode.hpp>

namespace reprise::sandbox {

/// Selects the matching requests that a rule applies to.
struct fault_cadence {
    /// The number of matching requests to let through first.
    std::uint64_t skip = 0;
    /// After that, takes every nth: 1 all, 3 the first, fourth, seventh, ... 0 counts as 1.
    std::uint64_t every = 1;
    /// The probability of taking one of those, 0..1. Depends on the cluster's seed.
    double probability = 1.0;
    /// After this many effects the rule has none any more, but stays in the list. Empty: no limit.
    std::optional<std::uint64_t> limit{};
};

/// The key-value request that a rule is matched against. Views are valid during the call only.
struct fault_subject {
    wire::opcode op{};
    std::string_view key{};
    node_id node{};
    std::string_view bucket{};
};

/// Selects the key-value requests to disturb, and the effect. A request is matched as soon as its
/// frame is complete and before any check, so HELLO, SASL and malformed requests can be disturbed,
/// too. An effect on the answer also applies to the late answer of a pending durable write.
struct fault_rule {
    using subject = fault_subject;

    /// Empty: every opcode.
    std::vector<wire::opcode> ops{};
    /// Pattern of the document key without its collection prefix (or of the key field, for requests
    /// without a document). `*` matches any run of bytes, `?` any byte; empty: every key.
    std::string key_pattern{};
    std::optional<node_id> node{};
    /// Empty: every bucket, and connections without one.
    std::string bucket{};
    fault_cadence when{};
    fault_effect effect = fault_status{};

    bool matches(const fault_subject& request) const noexcept;
};

/// The HTTP request that a rule is matched against. Views are valid during the call only.
struct service_fault_subject {
    wire::service service{};
    node_id node{};
    std::string_view method{};
    std::string_view path{};
    std::string_view statement{};
    std::string_view context_id{};
};

/// Selects the HTTP requests to disturb, and the effect. A request is matched once it is complete
/// and before authentication.
struct service_fault_rule {
    using subject = service_fault_subject;

    /// Empty: every service, including management.
    std::optional<wire::service> service{};
    std::optional<node_id> node{};
    /// Empty: every method.
    std::string method{};
    /// Patterns: `*` matches any run of bytes, `?` any byte; empty: everything.
    std::string path_pattern{};       // of the target without its query, still percent-encoded
    std::string statement_pattern{};  // of `statement`, or of `prepared` if there is none
    std::string context_pattern{};    // of `client_context_id`
    fault_cadence when{};
    service_fault_effect effect = service_fault_answer{};

    bool matches(const service_fault_subject& request) const noexcept;
};

/// The rules for key-value requests or for HTTP requests, in the order in which they were added.
/// The first rule that takes a request decides alone; later rules do not see or count it.
template <class Rule>
class fault_rule_list {
public:
    struct entry {
        std::uint64_t id = 0;
        Rule rule{};
        std::uint64_t match_count = 0;   // requests that matched
        std::uint64_t effect_count = 0;  // requests that were disturbed
    };

    explicit fault_rule_list(std::uint64_t seed) : random_(seed) {}

    /// Returns the rule's id, which starts at 1 and is never reused.
    std::uint64_t add(Rule rule);
    /// False if there is no such rule.
    bool remove(std::uint64_t id);
    void clear() noexcept { entries_.clear(); }
    const std::vector<entry>& entries() const noexcept { return entries_; }
    bool empty() const noexcept { return entries_.empty(); }

    /// Counts the request and returns the rule that takes it, or null. The pointer is valid until
    /// the list changes.
    const entry* decide(const Rule::subject& request);

    /// Returns this many random bytes (at least one) that cannot begin a key-value frame.
    std::vector<std::byte> make_garbage(std::size_t size);

private:
    bool takes_next(entry& which);

    std::vector<entry> entries_;
    std::uint64_t id_next_ = 1;
    random_generator random_;
};

using fault_list = fault_rule_list<fault_rule>;
using service_fault_list = fault_rule_list<service_fault_rule>;

extern template class fault_rule_list<fault_rule>;
extern template class fault_rule_list<service_fault_rule>;

/// `*` matches any run of bytes, `?` one byte, everything else itself. Linear in the text for each
/// star, so no pattern makes it explode.
bool matches_glob(std::string_view pattern, std::string_view text) noexcept;

}  // namespace reprise::sandbox
