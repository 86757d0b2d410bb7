#include "audit/retry_count.hpp"

#include <optional>
#include <string>
#include <tuple>

namespace reprise::sandbox::detail {

namespace {

bool is_answer_lost(answer_fate fate) noexcept {
    switch (fate) {
        case answer_fate::withheld:
        case answer_fate::closed:
        case answer_fate::truncated:
        case answer_fate::garbled:
            return true;
        case answer_fate::sent:
        case answer_fate::delayed:
        case answer_fate::doubled:
        case answer_fate::misaddressed:
        case answer_fate::trickled:
        case answer_fate::pending:
        case answer_fate::committed:
            break;
    }
    return false;
}

// Statuses after which clients send the request again. The error map decides about codes that are
// not in the table.
bool is_retried(wire::status code) noexcept {
    switch (code) {
        case wire::status::not_my_vbucket:
        case wire::status::locked:
        case wire::status::ebusy:
        case wire::status::etmpfail:
        case wire::status::unknown_collection:
        case wire::status::sync_write_in_progress:
        case wire::status::sync_write_re_commit_in_progress:
            return true;
        default:  // All others are final, unless only the error map has them.
            return !wire::status_info(code).is_listed;
    }
}

}  // namespace

retry_count count_retries(const audit_log& log, std::uint64_t since, std::uint64_t lookback) {
    using operation =
        std::tuple<std::uint64_t, wire::opcode, std::string, wire::collection_id, std::string>;
    std::map<operation, std::optional<wire::status>> failed;
    audit_filter filter;
    filter.number_min = since > lookback ? since - lookback : 0;
    retry_count found;
    for (const audit_entry& entry : log.entries(filter)) {
        if (entry.key.empty() || entry.fate == answer_fate::committed) {
            continue;
        }
        const std::uint64_t client = entry.client_id.value_or(entry.connection.value);
        auto& previous = failed[{client, entry.op, entry.bucket, entry.collection, entry.key}];
        if (previous && entry.number > since) {
            ++found.total;
            ++found.after[*previous];
        }
        const bool has_failed = is_answer_lost(entry.fate) || is_retried(entry.status);
        previous = has_failed ? std::optional(entry.status) : std::nullopt;
    }
    return found;
}

}  // namespace reprise::sandbox::detail
