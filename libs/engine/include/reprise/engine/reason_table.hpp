#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <reprise/engine/operation_kind.hpp>
#include <reprise/engine/retry_history.hpp>
#include <reprise/engine/retry_reason.hpp>

// Which reason can be raised where: each of the 25 reasons, at each stage of an attempt, for each
// class of operations. Data, not behaviour: the engine does not ask it. Tests make every cell
// marked `yes` happen and watch that no other one does; docs/reasons_by_stage.tsv is the same table
// for people.

namespace reprise::engine {

inline constexpr std::size_t attempt_stage_count = 3;

enum class reason_applicability : std::uint8_t {
    no,   // must never be seen
    yes,  // the client raises it there
};

struct reason_cell {
    reason_applicability applicable = reason_applicability::no;
    std::string_view why;  // one clause for people
};

// "yes", "no"
[[nodiscard]] constexpr std::string_view to_string(reason_applicability applicable) noexcept {
    switch (applicable) {
        case reason_applicability::no:
            return "no";
        case reason_applicability::yes:
            return "yes";
    }
    return "unknown";
}

namespace detail {

// The class whose answers alone can mean this reason; `noop` if there is no such class.
[[nodiscard]] constexpr operation_class only_class(retry_reason reason) noexcept {
    switch (reason) {
        case retry_reason::service_response_code_indicated:
        case retry_reason::query_prepared_statement_failure:
        case retry_reason::query_index_not_found:
            return operation_class::query;
        case retry_reason::analytics_temporary_failure:
            return operation_class::analytics;
        case retry_reason::search_too_many_requests:
            return operation_class::search;
        case retry_reason::views_temporary_failure:
        case retry_reason::views_no_active_partition:
            return operation_class::view;
        default:
            return operation_class::noop;
    }
}

// The stage at which a reason is raised; there is exactly one for each.
[[nodiscard]] constexpr attempt_stage stage_of(retry_reason reason) noexcept {
    switch (reason) {
        case retry_reason::socket_not_available:
        case retry_reason::service_not_available:
        case retry_reason::node_not_available:
        case retry_reason::circuit_breaker_open:
        case retry_reason::authentication_error:
        case retry_reason::tls_error:
        case retry_reason::bucket_access_error:
        case retry_reason::scope_not_found:
        case retry_reason::collection_not_found:
            return attempt_stage::dispatch;
        case retry_reason::socket_closed_while_in_flight:
            return attempt_stage::network;
        default:
            return attempt_stage::response;
    }
}

// The reason at its own stage, for key-value operations.
[[nodiscard]] constexpr reason_cell key_value_cell(
    retry_reason reason, operation_class of) noexcept {
    using enum reason_applicability;
    const bool is_noop = of == operation_class::noop;
    const bool is_unlock = of == operation_class::unlock;
    if (only_class(reason) != operation_class::noop) {
        return {no, "an HTTP service says so"};
    }
    switch (reason) {
        case retry_reason::unknown:
            return is_noop || is_unlock ? reason_cell{no, "its success has no body to misread"}
                                        : reason_cell{yes, "a success that cannot be decoded"};
        case retry_reason::socket_not_available:
            return {yes, "the connection was lost, or its queue is full"};
        case retry_reason::service_not_available:
            return is_noop ? reason_cell{no, "goes to any node that answers"}
                           : reason_cell{yes, "no node has a data port"};
        case retry_reason::node_not_available:
            return {yes, "the node cannot be reached, or the key has no owner"};
        case retry_reason::kv_locked:
            return is_unlock ? reason_cell{no, "0x09 on unlock is a cas mismatch"}
                             : reason_cell{yes, "status 0x09"};
        case retry_reason::socket_closed_while_in_flight:
            return {yes, "the connection closed before the answer came"};
        case retry_reason::circuit_breaker_open:
            return {yes, "the endpoint's breaker is open"};
        case retry_reason::authentication_error:
            return {yes, "a node refused the credentials and nothing can be sent"};
        case retry_reason::tls_error:
            return {yes, "TLS failed for good and nothing can be sent"};
        case retry_reason::bucket_access_error:
            return {yes, "select bucket was refused and nothing can be sent"};
        case retry_reason::scope_not_found:
        case retry_reason::collection_not_found:
            return is_noop ? reason_cell{no, "names no collection"}
                           : reason_cell{yes, "the answer to the id lookup"};
        case retry_reason::kv_error_map_retry_indicated:
            return {yes, "a status only the error map knows"};
        default:
            return {yes, "the status is believed whatever was asked"};
    }
}

[[nodiscard]] constexpr reason_cell http_cell(retry_reason reason, operation_class of) noexcept {
    using enum reason_applicability;
    const operation_class only = only_class(reason);
    if (only != operation_class::noop) {
        return only == of ? reason_cell{yes, "the service's answer"}
                          : reason_cell{no, "another service says so"};
    }
    switch (reason) {
        case retry_reason::unknown:
            return {yes, "an answer that cannot be read"};
        case retry_reason::socket_not_available:
            return {yes, "the connection was lost before the request left"};
        case retry_reason::service_not_available:
            return {yes, "no node announces the service"};
        case retry_reason::node_not_available:
            return {yes, "the service's port cannot be reached"};
        case retry_reason::socket_closed_while_in_flight:
        case retry_reason::circuit_breaker_open:
        case retry_reason::authentication_error:
        case retry_reason::tls_error:
            return key_value_cell(reason, operation_class::read);
        case retry_reason::bucket_access_error:
            return {no, "key-value alone opens buckets"};
        default:
            return {no, "about key-value requests only"};
    }
}

}  // namespace detail

// Whether `reason` can be raised at `stage` for operations of class `of`, and why.
[[nodiscard]] constexpr reason_cell cell_of(
    retry_reason reason, attempt_stage stage, operation_class of) noexcept {
    if (stage != detail::stage_of(reason)) {
        return {reason_applicability::no, "raised at another stage"};
    }
    return is_key_value(of) ? detail::key_value_cell(reason, of) : detail::http_cell(reason, of);
}

}  // namespace reprise::engine
