#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string_view>

#include <reprise/base/enum_table.hpp>
#include <reprise/engine/operation_kind.hpp>
#include <reprise/engine/vocabulary.hpp>
#include <reprise/retry/retry_history.hpp>

// The stages of an attempt at which each of the 25 reasons can be raised, by class of operations.
// The engine does not read this table. Tests trigger every cell marked `yes` and check that no
// other cell occurs.

namespace reprise::engine {

using driver::attempt_stage;

inline constexpr std::size_t attempt_stage_count = base::enumerator_count<attempt_stage>();

enum class reason_applicability : std::uint8_t {
    no,   // must never occur
    yes,  // the client raises it there
};

struct reason_cell {
    reason_applicability applicable = reason_applicability::no;
    std::string_view why;  // one clause for people
};

namespace detail {

[[nodiscard]] constexpr reason_cell yes(std::string_view why) noexcept {
    return {reason_applicability::yes, why};
}
[[nodiscard]] constexpr reason_cell no(std::string_view why) noexcept {
    return {reason_applicability::no, why};
}

inline constexpr reason_cell accepted_for_any_request =
    yes("the status is accepted for any request");
inline constexpr reason_cell about_documents = no("about key-value requests only");
inline constexpr reason_cell about_services = no("answered by an HTTP service");
inline constexpr reason_cell service_answer = yes("the service's answer");

// One reason, the only stage at which it is raised, and the operations that can raise it.
struct reason_row {
    retry_reason reason;
    attempt_stage stage;
    reason_cell key_value;
    reason_cell http;  // of the services that retry_reason_facts::services names
    // Exceptions from `key_value`.
    std::optional<reason_cell> unlock{};
    std::optional<reason_cell> noop{};
};

inline constexpr auto reason_rows = std::to_array<reason_row>({
    {.reason = retry_reason::unknown,
     .stage = attempt_stage::response,
     .key_value = yes("a success that cannot be decoded"),
     .http = yes("an answer that cannot be read"),
     .unlock = no("its success has no body to misread"),
     .noop = no("its success has no body to misread")},
    {.reason = retry_reason::socket_not_available,
     .stage = attempt_stage::dispatch,
     .key_value = yes("the connection was lost, or its queue is full"),
     .http = yes("the connection was lost before the request left")},
    {.reason = retry_reason::service_not_available,
     .stage = attempt_stage::dispatch,
     .key_value = yes("no node has a data port"),
     .http = yes("no node announces the service"),
     .noop = no("goes to any node that answers")},
    {.reason = retry_reason::node_not_available,
     .stage = attempt_stage::dispatch,
     .key_value = yes("the node cannot be reached, or the key has no owner"),
     .http = yes("the service's port cannot be reached")},
    {.reason = retry_reason::kv_not_my_vbucket,
     .stage = attempt_stage::response,
     .key_value = accepted_for_any_request,
     .http = about_documents},
    {.reason = retry_reason::kv_collection_outdated,
     .stage = attempt_stage::response,
     .key_value = accepted_for_any_request,
     .http = about_documents},
    {.reason = retry_reason::kv_error_map_retry_indicated,
     .stage = attempt_stage::response,
     .key_value = yes("a status that only the error map has"),
     .http = about_documents},
    {.reason = retry_reason::kv_locked,
     .stage = attempt_stage::response,
     .key_value = yes("status 0x09"),
     .http = about_documents,
     .unlock = no("0x09 on unlock is a cas mismatch")},
    {.reason = retry_reason::kv_temporary_failure,
     .stage = attempt_stage::response,
     .key_value = accepted_for_any_request,
     .http = about_documents},
    {.reason = retry_reason::kv_sync_write_in_progress,
     .stage = attempt_stage::response,
     .key_value = accepted_for_any_request,
     .http = about_documents},
    {.reason = retry_reason::kv_sync_write_re_commit_in_progress,
     .stage = attempt_stage::response,
     .key_value = accepted_for_any_request,
     .http = about_documents},
    {.reason = retry_reason::service_response_code_indicated,
     .stage = attempt_stage::response,
     .key_value = about_services,
     .http = service_answer},
    {.reason = retry_reason::socket_closed_while_in_flight,
     .stage = attempt_stage::network,
     .key_value = yes("the connection closed before the answer came"),
     .http = yes("the connection closed before the answer came")},
    {.reason = retry_reason::circuit_breaker_open,
     .stage = attempt_stage::dispatch,
     .key_value = yes("the endpoint's breaker is open"),
     .http = yes("the endpoint's breaker is open")},
    {.reason = retry_reason::query_prepared_statement_failure,
     .stage = attempt_stage::response,
     .key_value = about_services,
     .http = service_answer},
    {.reason = retry_reason::query_index_not_found,
     .stage = attempt_stage::response,
     .key_value = about_services,
     .http = service_answer},
    {.reason = retry_reason::analytics_temporary_failure,
     .stage = attempt_stage::response,
     .key_value = about_services,
     .http = service_answer},
    {.reason = retry_reason::search_too_many_requests,
     .stage = attempt_stage::response,
     .key_value = about_services,
     .http = service_answer},
    {.reason = retry_reason::views_temporary_failure,
     .stage = attempt_stage::response,
     .key_value = about_services,
     .http = service_answer},
    {.reason = retry_reason::views_no_active_partition,
     .stage = attempt_stage::response,
     .key_value = about_services,
     .http = service_answer},
    {.reason = retry_reason::authentication_error,
     .stage = attempt_stage::dispatch,
     .key_value = yes("a node refused the credentials and nothing can be sent"),
     .http = yes("a node refused the credentials and nothing can be sent")},
    {.reason = retry_reason::tls_error,
     .stage = attempt_stage::dispatch,
     .key_value = yes("TLS failed for good and nothing can be sent"),
     .http = yes("TLS failed for good and nothing can be sent")},
    {.reason = retry_reason::bucket_access_error,
     .stage = attempt_stage::dispatch,
     .key_value = yes("select bucket was refused and nothing can be sent"),
     .http = no("key-value alone opens buckets")},
    {.reason = retry_reason::scope_not_found,
     .stage = attempt_stage::dispatch,
     .key_value = yes("the answer to the id lookup"),
     .http = about_documents,
     .noop = no("names no collection")},
    {.reason = retry_reason::collection_not_found,
     .stage = attempt_stage::dispatch,
     .key_value = yes("the answer to the id lookup"),
     .http = about_documents,
     .noop = no("names no collection")},
});
static_assert(base::has_row_per_enumerator(reason_rows, &reason_row::reason));

[[nodiscard]] constexpr const reason_row& row_of(retry_reason reason) noexcept {
    return reason_rows[static_cast<std::size_t>(reason)];
}

// The stage at which a reason is raised. Each reason has exactly one.
[[nodiscard]] constexpr attempt_stage stage_of(retry_reason reason) noexcept {
    return row_of(reason).stage;
}

[[nodiscard]] inline bool is_of_other_service(
    std::string_view services, std::string_view name) noexcept {
    return !services.empty() &&
           std::ranges::none_of(std::views::split(services, ' '), [name](const auto& word) {
               return std::string_view(word.begin(), word.end()) == name;
           });
}

}  // namespace detail

// Whether `reason` can be raised at `stage` for operations of class `of`, and why.
[[nodiscard]] inline reason_cell cell_of(
    retry_reason reason, attempt_stage stage, operation_class of) noexcept {
    const detail::reason_row& row = detail::row_of(reason);
    if (stage != row.stage) {
        return detail::no("raised at another stage");
    }
    if (of == operation_class::noop && row.noop) {
        return *row.noop;
    }
    if (of == operation_class::unlock && row.unlock) {
        return *row.unlock;
    }
    if (is_key_value(of)) {
        return row.key_value;
    }
    return detail::is_of_other_service(info(reason).services, to_string(of))
               ? detail::no("answered by another service")
               : row.http;
}

}  // namespace reprise::engine
