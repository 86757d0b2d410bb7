#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <reprise/base/enum_table.hpp>
#include <reprise/engine/operation_kind.hpp>
#include <reprise/retry/time.hpp>
#include <reprise/wire/service.hpp>

// Operations of the HTTP services as plain data: the part of a scenario in addition to
// `operations`.

namespace reprise::sim {

enum class strategy_choice : std::uint8_t;

enum class call_kind : std::uint8_t {
    select_range,      // readonly; rows 0, 1, ... `row_count` - 1, streamed
    select_key,        // readonly; one document by its key: at most one row
    insert,            // one document
    upsert,            // one document
    insert_returning,  // one document; returns one row
    remove,            // one document; changes nothing if it is missing
    analytics_range,   // readonly; like select_range, on analytics
    search,            // every document, each once
    view,              // every document, each once
    read_settings,     // a GET request to management
    put_user,          // a PUT request to management
};

/// The expected content of an answer's rows.
enum class row_rule : std::uint8_t {
    none,       // there are none
    numbers,    // 0, 1, 2, ... in order
    document,   // at most one: the writer of the document
    key,        // one: the key of the document
    each_once,  // any rows, but none twice
};

/// The properties of one kind of call.
struct call_facts {
    call_kind kind;
    std::string_view name;
    wire::service service;
    engine::operation_class of;
    /// Never changes anything, so it may be sent again without an answer.
    bool is_readonly;
    row_rule rows;
};

/// One row per kind, in the order of the enumeration.
inline constexpr auto call_table = std::to_array<call_facts>({
    {call_kind::select_range, "select_range", wire::service::query, engine::operation_class::query,
     true, row_rule::numbers},
    {call_kind::select_key, "select_key", wire::service::query, engine::operation_class::query,
     true, row_rule::document},
    {call_kind::insert, "insert", wire::service::query, engine::operation_class::query, false,
     row_rule::none},
    {call_kind::upsert, "upsert", wire::service::query, engine::operation_class::query, false,
     row_rule::none},
    {call_kind::insert_returning, "insert_returning", wire::service::query,
     engine::operation_class::query, false, row_rule::key},
    {call_kind::remove, "delete", wire::service::query, engine::operation_class::query, false,
     row_rule::none},
    {call_kind::analytics_range, "analytics_range", wire::service::analytics,
     engine::operation_class::analytics, true, row_rule::numbers},
    {call_kind::search, "search", wire::service::search, engine::operation_class::search, true,
     row_rule::each_once},
    {call_kind::view, "view", wire::service::views, engine::operation_class::view, true,
     row_rule::each_once},
    {call_kind::read_settings, "read_settings", wire::service::management,
     engine::operation_class::management, true, row_rule::none},
    {call_kind::put_user, "put_user", wire::service::management,
     engine::operation_class::management, false, row_rule::none},
});
static_assert(base::has_row_per_enumerator(call_table, &call_facts::kind));

inline constexpr std::size_t call_kind_count = call_table.size();

[[nodiscard]] constexpr const call_facts& facts_of(call_kind kind) noexcept {
    return call_table[static_cast<std::size_t>(kind)];
}
/// "select_range"
[[nodiscard]] constexpr std::string_view to_string(call_kind kind) noexcept {
    return static_cast<std::size_t>(kind) < call_kind_count ? facts_of(kind).name : "unknown";
}
[[nodiscard]] constexpr wire::service service_of(call_kind kind) noexcept {
    return facts_of(kind).service;
}
[[nodiscard]] constexpr engine::operation_class class_of(call_kind kind) noexcept {
    return facts_of(kind).of;
}
[[nodiscard]] constexpr bool is_readonly(call_kind kind) noexcept {
    return facts_of(kind).is_readonly;
}
/// Whether it is a statement of the query service, which can be prepared.
[[nodiscard]] constexpr bool is_statement(call_kind kind) noexcept {
    return service_of(kind) == wire::service::query;
}

/// How a statement is run.
enum class prepared_choice : std::uint8_t {
    plain,     // without preparing
    enhanced,  // prepared and run in one request, later by name
    legacy,    // prepared by a separate request, later run by name and plan
};

/// The user's handling of the rows.
enum class row_taking : std::uint8_t {
    at_end,      // keeps them until the result; is not notified earlier
    at_once,     // takes them as soon as it is notified
    later,       // ... some time after it is notified
    never,       // is notified, but does nothing
    then_cancel  // takes them once, then cancels
};

inline constexpr std::size_t prepared_choice_count = 3;
inline constexpr std::size_t row_taking_count = 5;
[[nodiscard]] std::string_view to_string(prepared_choice choice) noexcept;
[[nodiscard]] std::string_view to_string(row_taking taking) noexcept;

struct planned_call {
    duration at{};            // since the start
    duration timeout{};       // 0: the client's default
    duration cancel_after{};  // 0: not canceled
    duration take_after{};    // for row_taking::later
    call_kind kind = call_kind::select_range;
    std::uint8_t client = 0;
    std::uint16_t key = 0;        // for kinds that name a document
    std::uint32_t row_count = 0;  // for kinds that return a range
    std::uint32_t rows_room = 0;  // bytes of rows to keep before reading stops; 0: the default
    prepared_choice prepared = prepared_choice::plain;
    row_taking taking = row_taking::at_end;
    std::optional<strategy_choice> strategy{};  // absent: the client's
};

}  // namespace reprise::sim
