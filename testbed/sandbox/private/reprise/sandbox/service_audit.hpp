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

/// One HTTP request as the server saw it. `context_id` also identifies the attempt in the client's
/// log; if a client sends a request again with the same id, the log can count it.
struct service_audit_entry {
    std::uint64_t number = 0;  // counts from 1 over the lifetime of the cluster
    time_point time{};
    node_id node{};
    wire::service service{};
    std::string method{};
    std::string path{};             // without the query; truncated to service_audit_text_size_max
    std::string context_id{};       // client_context_id; empty if none was sent
    std::string statement_start{};  // of query and analytics; truncated like the path
    std::string user{};             // empty: not authenticated
    /// Whether the request changed something: documents, indexes, buckets or users.
    bool is_applied = false;
    std::uint64_t mutation_count = 0;  // documents that the statement changed
    int status = 0;                    // of the answer, or of the answer it would have got
    int error_code = 0;                // the first error of query or analytics; 0: none
    // `closed` also if a part of the answer was sent before.
    answer_fate fate = answer_fate::sent;
    std::uint64_t fault_id = 0;  // the rule that affected the request; 0: none
};

inline constexpr std::size_t service_audit_text_size_max = 200;

/// Selects entries. A member that is not set matches everything.
struct service_audit_filter {
    std::optional<wire::service> service{};
    std::optional<node_id> node{};
    std::optional<int> status{};
    std::optional<bool> is_applied{};
    std::string context_id{};
    std::string path_pattern{};       // same syntax as in fault_rule
    std::string statement_pattern{};  // same syntax as in fault_rule
    std::uint64_t number_min = 0;
};

/// How often a context id was seen.
struct service_context_count {
    std::string context_id{};
    std::uint64_t request_count = 0;
    std::uint64_t applied_count = 0;
};

/// Records what the services did: the latest requests. The log is bounded.
class service_audit_log {
public:
    explicit service_audit_log(std::size_t entry_count_max);

    /// Numbers and stores the entry, drops the oldest one if the log is full, and calls the
    /// observer. Called before the answer is sent.
    void record(service_audit_entry entry);
    /// Called with every entry. An empty function removes the observer.
    void set_observer(std::function<void(const service_audit_entry&)> observer) {
        observer_ = std::move(observer);
    }

    /// Returns the kept entries that match, oldest first; if more than `count_max` match, the
    /// newest.
    std::vector<service_audit_entry> entries(
        const service_audit_filter& filter = {}, std::size_t count_max = SIZE_MAX) const;
    std::size_t count(const service_audit_filter& filter) const;
    /// Context ids that occur in at least `request_count_min` kept entries, sorted by id.
    std::vector<service_context_count> contexts(std::uint64_t request_count_min = 2) const;
    /// Counts all requests, including those no longer kept.
    std::uint64_t request_count() const noexcept { return number_next_ - 1; }
    /// Removes the entries. Numbering continues.
    void clear() noexcept;
    /// As audit_log::compact.
    void compact();

private:
    std::size_t entry_count_max_;
    std::vector<service_audit_entry> ring_;
    std::size_t oldest_ = 0;
    std::uint64_t number_next_ = 1;
    std::function<void(const service_audit_entry&)> observer_;
};

}  // namespace reprise::sandbox
