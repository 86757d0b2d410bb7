#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <reprise/engine/reason_table.hpp>
#include <reprise/retry/time.hpp>
#include <reprise/wire/cluster_node.hpp>

// Operations of the HTTP services, as plain data: the part of a scenario beside `operations`.

namespace reprise::sim {

enum class strategy_choice : std::uint8_t;

enum class call_kind : std::uint8_t {
    select_range,      // readonly; rows 0, 1, ... `row_count` - 1, streamed
    select_key,        // readonly; one document by its key: one row or none
    insert,            // one document
    upsert,            // one document
    insert_returning,  // one document, and one row
    remove,            // one document, which may be missing: then nothing is changed
    analytics_range,   // readonly; as select_range, of analytics
    search,            // every document, each once
    view,              // likewise
    read_settings,     // a GET of management
    put_user,          // a PUT of management
};

inline constexpr std::size_t call_kind_count = 11;

// "select_range"
[[nodiscard]] std::string_view to_string(call_kind kind) noexcept;
[[nodiscard]] wire::service service_of(call_kind kind) noexcept;
[[nodiscard]] engine::operation_class class_of(call_kind kind) noexcept;
// Changes nothing, whatever happens: may be sent again without an answer.
[[nodiscard]] bool is_readonly(call_kind kind) noexcept;
// A statement of the query service: these can be prepared.
[[nodiscard]] bool is_statement(call_kind kind) noexcept;

// How a statement is run.
enum class prepared_choice : std::uint8_t {
    plain,     // as it is
    enhanced,  // prepared and run in one request; then by its name
    legacy,    // prepared by a request of its own; then by its name and plan
};

// What its user does with the rows.
enum class row_taking : std::uint8_t {
    at_end,      // keeps them until the result; is not told before
    at_once,     // takes them as soon as it is told
    later,       // ... a while after it is told
    never,       // is told, and does nothing
    then_cancel  // takes them once, then cancels
};

inline constexpr std::size_t prepared_choice_count = 3;
inline constexpr std::size_t row_taking_count = 5;
[[nodiscard]] std::string_view to_string(prepared_choice choice) noexcept;
[[nodiscard]] std::string_view to_string(row_taking taking) noexcept;

struct planned_call {
    duration at{};            // since the start
    duration timeout{};       // 0: the client's default
    duration cancel_after{};  // 0: is not canceled
    duration take_after{};    // with row_taking::later
    call_kind kind = call_kind::select_range;
    std::uint8_t client = 0;
    std::uint16_t key = 0;        // of those that name a document
    std::uint32_t row_count = 0;  // of those that give a range
    std::uint32_t rows_room = 0;  // bytes of rows kept before reading stops; 0: the default
    prepared_choice prepared = prepared_choice::plain;
    row_taking taking = row_taking::at_end;
    std::optional<strategy_choice> strategy{};  // absent: the client's
};

}  // namespace reprise::sim
