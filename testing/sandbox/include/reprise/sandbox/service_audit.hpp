#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/sandbox/audit_log.hpp>
#include <reprise/sandbox/ids.hpp>
#include <reprise/wire/cluster_node.hpp>

namespace reprise::sandbox {

// One HTTP request as the server saw it. `context_id` names the attempt in the client's log too; a
// client that sends a request again under the same id makes it countable here.
struct service_audit_entry {
    std::uint64_t number = 0;  // 1 and up over the life of the cluster
    time_point time{};
    node_id node{};
    wire::service service{};
    std::string method{};
    std::string path{};             // without the query; cut at service_audit_text_size_max
    std::string context_id{};       // client_context_id; empty if none was sent
    std::string statement_start{};  // of query and analytics; cut at service_audit_text_size_max
    std::string user{};             // empty: nobody logged in
    // The request changed something: documents, indexes, buckets, users.
    bool is_applied = false;
    std::uint64_t mutation_count = 0;  // documents changed by a statement
    int status = 0;                    // of the answer, or that it would have carried
    int error_code = 0;                // the first error in a query's or analytics' answer, 0: none
    // `closed` also where a part of the answer was sent before.
    answer_fate fate = answer_fate::sent;
    std::uint64_t fault_id = 0;  // the rule that disturbed it, 0: none
};

inline constexpr std::size_t service_audit_text_size_max = 200;

// Which entries are wanted; what is not set does not matter.
struct service_audit_filter {
    std::optional<wire::service> service{};
    std::optional<node_id> node{};
    std::optional<int> status{};
    std::optional<bool> is_applied{};
    std::string context_id{};
    std::string path_pattern{};       // as in fault_rule
    std::string statement_pattern{};  // as in fault_rule
    std::uint64_t number_min = 0;
};

// How often a context id was seen.
struct service_context_count {
    std::string context_id{};
    std::uint64_t request_count = 0;
    std::uint64_t applied_count = 0;
};

// What the services did: the last requests, bounded.
class service_audit_log {
public:
    explicit service_audit_log(std::size_t entry_count_max);

    // Numbers and keeps the entry, drops the oldest one when the log is full, tells the observer.
    // Called before the answer leaves.
    void record(service_audit_entry entry);
    // Called with every entry. Empty: nobody is told.
    void set_observer(std::function<void(const service_audit_entry&)> observer) {
        observer_ = std::move(observer);
    }

    // Kept entries that fit, oldest first, at most `count_max` (the newest of them).
    std::vector<service_audit_entry> entries(
        const service_audit_filter& filter = {}, std::size_t count_max = SIZE_MAX) const;
    std::size_t count(const service_audit_filter& filter) const;
    // Context ids that kept entries carry at least `request_count_min` times, ascending by id.
    std::vector<service_context_count> contexts(std::uint64_t request_count_min = 2) const;
    // Of all requests ever.
    std::uint64_t request_count() const noexcept { return number_next_ - 1; }
    // Forgets the entries; numbers go on.
    void clear() noexcept;

private:
    std::size_t entry_count_max_;
    std::vector<service_audit_entry> ring_;
    std::size_t oldest_ = 0;
    std::uint64_t number_next_ = 1;
    std::function<void(const service_audit_entry&)> observer_;
};

}  // namespace reprise::sandbox
