#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/sandbox/ids.hpp>
#include <reprise/wire/ids.hpp>
#include <reprise/wire/opcode.hpp>
#include <reprise/wire/status.hpp>

namespace reprise::sandbox {

// What became of a request's answer.
enum class answer_fate : std::uint8_t {
    sent,          // handed to the caller at once
    delayed,       // kept for later by a fault rule
    withheld,      // a fault rule kept it for good
    closed,        // the connection was closed instead
    doubled,       // sent twice by a fault rule
    misaddressed,  // sent with another opaque by a fault rule
    truncated,     // cut off by a fault rule, then closed
    garbled,       // replaced by garbage by a fault rule
    trickled,      // sent byte by byte by a fault rule
    pending,       // a durable write is prepared; the answer waits for its copies
    committed      // no request of its own: an earlier pending write was applied now
};

std::string_view to_string(answer_fate fate) noexcept;

// A durable write that cannot be acknowledged at once leaves several entries with the same
// connection, opaque and key. The request's own: `pending`, not applied, with the status the answer
// will have if all goes well. Then, if its time ran out, one that is not applied, with status
// sync_write_ambiguous. Then, if it came to that, exactly one that is applied: `committed`. So who
// counts applied entries counts each write once, when it happened. A prepare lost in a failover
// leaves no further entry.

// One attempt as the server saw it. (client_id, client_connection_id) come from the HELLO of that
// connection, so together with `opaque` they name the attempt in the client's log too.
struct audit_entry {
    std::uint64_t number = 0;  // 1 and up over the life of the cluster
    time_point time{};
    node_id node{};
    connection_id connection{};  // as cluster::accept numbered it
    std::optional<std::uint64_t> client_id{};
    std::optional<std::uint64_t> client_connection_id{};
    std::uint32_t opaque = 0;
    wire::opcode op{};
    std::string bucket{};  // empty if none was selected
    wire::vbucket_id vbucket{};
    wire::collection_id collection{};
    std::string key{};  // document key without prefix, otherwise the key field
    // The first bytes of a store request's value: a test writes a stamp there to recognise a write.
    std::string value_start{};
    // The request changed something: a document, a lock, an expiry.
    bool is_applied = false;
    wire::status status{};    // that the answer carried, or would have
    std::uint64_t cas = 0;    // that the answer carried
    std::uint64_t seqno = 0;  // that the mutation got
    answer_fate fate = answer_fate::sent;
    std::uint64_t fault_id = 0;  // the rule that disturbed it, 0: none
};

inline constexpr std::size_t audit_value_start_size_max = 40;

// Which entries are wanted; what is not set does not matter.
struct audit_filter {
    std::optional<wire::opcode> op{};
    std::optional<node_id> node{};
    std::optional<wire::status> status{};
    std::optional<bool> is_applied{};
    std::optional<std::uint64_t> client_connection_id{};
    std::optional<std::uint32_t> opaque{};
    std::string bucket{};
    std::string key_pattern{};  // as in fault_rule
    std::uint64_t number_min = 0;
};

// Requests of one opcode that ended with one status.
struct audit_counter {
    wire::opcode op{};
    wire::status status{};
    std::uint64_t count = 0;
    std::uint64_t applied_count = 0;
};

// What the cluster did: the last requests in full, all requests in numbers. Bounded; recording into
// a full log allocates nothing as long as keys are not longer than those they replace.
class audit_log {
public:
    explicit audit_log(std::size_t entry_count_max);

    // A cleared entry to be filled, numbered; the oldest one is dropped when the log is full. Call
    // `commit` before the next `begin`.
    audit_entry& begin();
    // Counts the entry as it is now.
    void commit(const audit_entry& entry);

    // Called by `commit` with every entry, before the answer leaves: what is dropped from the log
    // has been seen by then. Empty: nobody is told.
    void set_observer(std::function<void(const audit_entry&)> observer) {
        observer_ = std::move(observer);
    }

    // Kept entries that fit, oldest first, at most `count_max` (the newest of them).
    std::vector<audit_entry> entries(
        const audit_filter& filter = {}, std::size_t count_max = SIZE_MAX) const;
    std::size_t count(const audit_filter& filter) const;
    std::size_t size() const noexcept { return ring_.size(); }

    // All requests ever, also those no longer kept, ascending by opcode and status.
    std::vector<audit_counter> counters() const;
    std::uint64_t request_count() const noexcept { return number_next_ - 1; }

    // Forgets entries and counters; numbers go on.
    void clear() noexcept;

private:
    template <class Visit>
    void visit_newest_first(const audit_filter& filter, Visit visit) const;

    std::size_t entry_count_max_;
    std::vector<audit_entry> ring_;
    std::size_t oldest_ = 0;
    std::uint64_t number_next_ = 1;
    std::array<std::vector<audit_counter>, 256> counters_;
    std::function<void(const audit_entry&)> observer_;
};

}  // namespace reprise::sandbox
