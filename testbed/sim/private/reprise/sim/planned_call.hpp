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
    /// Never changes anything, so it may be sent again without an answer.
    bool is_readonly;
    row_rule rows;
    /// Of query and analytics: the statement. Each of `$key`, `$number` and `$count` in it is a
    /// parameter. There are few texts, so that prepared statements are reused.
    std::string_view statement{};
    /// Of services whose requests need no composer: method, path and form. The path of a PUT ends
    /// with the number of the operation.
    std::string_view method{};
    std::string_view target{};
    std::string_view form{};
};

/// One row per kind, in the order of the enumeration.
inline constexpr auto call_table = std::to_array<call_facts>({
    {.kind = call_kind::select_range,
     .name = "select_range",
     .service = wire::service::query,
     .is_readonly = true,
     .rows = row_rule::numbers,
     .statement = "SELECT RAW n FROM ARRAY_RANGE(0, $count) AS n"},
    {.kind = call_kind::select_key,
     .name = "select_key",
     .service = wire::service::query,
     .is_readonly = true,
     .rows = row_rule::document,
     .statement = "SELECT RAW d.n FROM travel AS d USE KEYS $key"},
    {.kind = call_kind::insert,
     .name = "insert",
     .service = wire::service::query,
     .is_readonly = false,
     .rows = row_rule::none,
     .statement = R"(INSERT INTO travel (KEY, VALUE) VALUES ($key, {"n": $number}))"},
    {.kind = call_kind::upsert,
     .name = "upsert",
     .service = wire::service::query,
     .is_readonly = false,
     .rows = row_rule::none,
     .statement = R"(UPSERT INTO travel (KEY, VALUE) VALUES ($key, {"n": $number}))"},
    {.kind = call_kind::insert_returning,
     .name = "insert_returning",
     .service = wire::service::query,
     .is_readonly = false,
     .rows = row_rule::key,
     .statement = R"(INSERT INTO travel (KEY, VALUE) VALUES ($key, {"n": $number}) )"
                  "RETURNING META().id AS id"},
    {.kind = call_kind::remove,
     .name = "delete",
     .service = wire::service::query,
     .is_readonly = false,
     .rows = row_rule::none,
     .statement = "DELETE FROM travel USE KEYS $key"},
    {.kind = call_kind::analytics_range,
     .name = "analytics_range",
     .service = wire::service::analytics,
     .is_readonly = true,
     .rows = row_rule::numbers,
     .statement = "SELECT RAW n FROM ARRAY_RANGE(0, $count) AS n"},
    {.kind = call_kind::search,
     .name = "search",
     .service = wire::service::search,
     .is_readonly = true,
     .rows = row_rule::each_once},
    {.kind = call_kind::view,
     .name = "view",
     .service = wire::service::views,
     .is_readonly = true,
     .rows = row_rule::each_once},
    {.kind = call_kind::read_settings,
     .name = "read_settings",
     .service = wire::service::management,
     .is_readonly = true,
     .rows = row_rule::none,
     .method = "GET",
     .target = "/settings/rbac/users"},
    {.kind = call_kind::put_user,
     .name = "put_user",
     .service = wire::service::management,
     .is_readonly = false,
     .rows = row_rule::none,
     .method = "PUT",
     .target = "/settings/rbac/users/local/u",
     .form = "password=secret1&roles=admin"},
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
    return engine::class_of(service_of(kind));
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
