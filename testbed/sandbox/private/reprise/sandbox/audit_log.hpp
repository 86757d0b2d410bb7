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

/// The fate of the answer to a request.
enum class answer_fate : std::uint8_t {
    sent,          // returned to the caller at once
    delayed,       // sent later because of a fault rule
    withheld,      // never sent because of a fault rule
    closed,        // the connection was closed instead
    doubled,       // sent twice by a fault rule
    misaddressed,  // sent with a different opaque by a fault rule
    truncated,     // cut short by a fault rule, which then closed the connection
    garbled,       // replaced with garbage by a fault rule
    trickled,      // sent byte by byte by a fault rule
    pending,       // the durable write is prepared; the answer waits for its copies
    committed      // not a request: an earlier pending write has now been applied
};

std::string_view to_string(answer_fate fate) noexcept;

// A durable write that cannot be acknowledged at once leaves several entries with the same
// connection, opaque and key. The first belongs to the request: it is `pending`, not applied, and
// has the status that the answer will have on success. If the write times out, an entry follows
// that is not applied and has the status sync_write_ambiguous. If the write is applied in the end,
// exactly one applied entry follows: `committed`. Counting applied entries therefore counts each
// write once, at the time it took effect. A prepare that is lost in a failover leaves no further
// entry.

/// One attempt as the server saw it. `client_id` and `client_connection_id` are from the HELLO of
/// the connection; together with `opaque` they also identify the attempt in the client's log.
struct audit_entry {
    std::uint64_t number = 0;  // counts from 1 over the lifetime of the cluster
    time_point time{};
    node_id node{};
    connection_id connection{};  // the id assigned by cluster::accept
    std::optional<std::uint64_t> client_id{};
    std::optional<std::uint64_t> client_connection_id{};
    std::uint32_t opaque = 0;
    wire::opcode op{};
    std::string bucket{};  // empty if no bucket was selected
    wire::vbucket_id vbucket{};
    wire::collection_id collection{};
    std::string key{};  // the document key without its prefix, otherwise the key field
    /// The first bytes of a store request's value. A test writes a stamp there to recognise its
    /// writes.
    std::string value_start{};
    /// Whether the request changed something: a document, a lock or an expiry.
    bool is_applied = false;
    wire::status status{};    // of the answer, or of the answer it would have got
    std::uint64_t cas = 0;    // in the answer
    std::uint64_t seqno = 0;  // assigned to the mutation
    answer_fate fate = answer_fate::sent;
    std::uint64_t fault_id = 0;  // the rule that affected the request; 0: none
};

inline constexpr std::size_t audit_value_start_size_max = 40;

/// Selects entries. A member that is not set matches everything.
struct audit_filter {
    std::optional<wire::opcode> op{};
    std::optional<node_id> node{};
    std::optional<wire::status> status{};
    std::optional<bool> is_applied{};
    std::optional<std::uint64_t> client_connection_id{};
    std::optional<std::uint32_t> opaque{};
    std::string bucket{};
    std::string key_pattern{};  // same syntax as in fault_rule
    std::uint64_t number_min = 0;
};

/// The number of requests of one opcode that ended with one status.
struct audit_counter {
    wire::opcode op{};
    wire::status status{};
    std::uint64_t count = 0;
    std::uint64_t applied_count = 0;
};

/// Records what the cluster did: the latest requests in full, and counters of all requests. The log
/// is bounded. Recording into a full log does not allocate as long as the new keys are no longer
/// than those they replace.
class audit_log {
public:
    explicit audit_log(std::size_t entry_count_max);

    /// Returns a cleared, numbered entry for you to fill in, and drops the oldest entry if the log
    /// is full. Call `commit` before the next `begin`.
    audit_entry& begin();
    /// Counts the entry in its current state.
    void commit(const audit_entry& entry);

    /// `commit` calls the observer with every entry before the answer is sent, so that the observer
    /// sees even the entries that the log later drops. An empty function removes the observer.
    void set_observer(std::function<void(const audit_entry&)> observer) {
        observer_ = std::move(observer);
    }

    /// Returns the kept entries that match, oldest first; if more than `count_max` match, the
    /// newest.
    std::vector<audit_entry> entries(
        const audit_filter& filter = {}, std::size_t count_max = SIZE_MAX) const;
    std::size_t count(const audit_filter& filter) const;
    std::size_t size() const noexcept { return ring_.size(); }

    /// Covers all requests, including those no longer kept. Sorted by opcode and status.
    std::vector<audit_counter> counters() const;
    std::uint64_t request_count() const noexcept { return number_next_ - 1; }

    /// Removes entries and counters. Numbering continues.
    void clear() noexcept;
    /// Moves all texts to new memory. They are spread among the documents of their requests, and
    /// would keep the system from taking back the memory of documents that are gone.
    void compact();

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
