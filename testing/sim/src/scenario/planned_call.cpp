#include <reprise/sim/planned_call.hpp>

#include <array>

namespace reprise::sim {

namespace {

struct call_traits {
    std::string_view name;
    wire::service service;
    engine::operation_class of;
    bool is_readonly;
};

constexpr std::array<call_traits, call_kind_count> call_table = {{
    {"select_range", wire::service::query, engine::operation_class::query, true},
    {"select_key", wire::service::query, engine::operation_class::query, true},
    {"insert", wire::service::query, engine::operation_class::query, false},
    {"upsert", wire::service::query, engine::operation_class::query, false},
    {"insert_returning", wire::service::query, engine::operation_class::query, false},
    {"delete", wire::service::query, engine::operation_class::query, false},
    {"analytics_range", wire::service::analytics, engine::operation_class::analytics, true},
    {"search", wire::service::search, engine::operation_class::search, true},
    {"view", wire::service::views, engine::operation_class::view, true},
    {"read_settings", wire::service::management, engine::operation_class::management, true},
    {"put_user", wire::service::management, engine::operation_class::management, false},
}};

const call_traits& traits_of(call_kind kind) noexcept {
    const auto index = static_cast<std::size_t>(kind);
    return call_table[index < call_table.size() ? index : 0];
}

}  // namespace

std::string_view to_string(call_kind kind) noexcept {
    return static_cast<std::size_t>(kind) < call_kind_count ? traits_of(kind).name : "unknown";
}

wire::service service_of(call_kind kind) noexcept {
    return traits_of(kind).service;
}

engine::operation_class class_of(call_kind kind) noexcept {
    return traits_of(kind).of;
}

bool is_readonly(call_kind kind) noexcept {
    return traits_of(kind).is_readonly;
}

bool is_statement(call_kind kind) noexcept {
    return service_of(kind) == wire::service::query;
}

std::string_view to_string(prepared_choice choice) noexcept {
    constexpr std::array<std::string_view, prepared_choice_count> names = {
        "plain", "prepared", "prepared by a request of its own"};
    const auto index = static_cast<std::size_t>(choice);
    return index < names.size() ? names[index] : "unknown";
}

std::string_view to_string(row_taking taking) noexcept {
    constexpr std::array<std::string_view, row_taking_count> names = {
        "at the end", "at once", "later", "never", "once, then cancels"};
    const auto index = static_cast<std::size_t>(taking);
    return index < names.size() ? names[index] : "unknown";
}

}  // namespace reprise::sim
