// Operations of the HTTP services: how a user starts them and takes their rows.

#include <utility>

#include <reprise/base/assert.hpp>
#include <reprise/services/analytics_request.hpp>
#include <reprise/services/management_request.hpp>
#include <reprise/services/query_request.hpp>
#include <reprise/services/search_request.hpp>
#include <reprise/services/view_request.hpp>

#include "world/observed_exchange.hpp"
#include "world/sim_client.hpp"
#include "world/world.hpp"

namespace reprise::sim {

namespace {

static_assert(bucket_name == "travel", "the statements of call_table name the bucket");

std::string key_of(const planned_call& plan) {
    return "q" + std::to_string(plan.key);
}

std::vector<couchbase::named_value> parameters_of(const operation_record& record) {
    const planned_call& plan = record.call->plan;
    const couchbase::named_value known[] = {
        {"key", key_of(plan)}, {"number", record.number}, {"count", plan.row_count}};
    std::vector<couchbase::named_value> used;
    for (const couchbase::named_value& each : known) {
        if (facts_of(plan.kind).statement.contains("$" + each.first)) {
            used.push_back(each);
        }
    }
    return used;
}

engine::http_request taken(services::service_operation_result made) {
    REPRISE_ASSERT(made.has_value());
    return std::move(*made);
}

engine::http_request make_analytics(const operation_record& record) {
    couchbase::analytics_options options;
    options.readonly = true;
    options.named = parameters_of(record);
    options.client_context_id = std::to_string(record.number);
    return taken(
        services::make_analytics_operation(facts_of(record.call->plan.kind).statement, options));
}

engine::http_request make_search() {
    return taken(services::make_search_operation(
        search_index_name, services::search_query::match_all(), {.limit = 1000}));
}

engine::http_request make_view() {
    return taken(services::make_view_operation(bucket_name, design_name, view_name));
}

engine::http_request make_raw(const operation_record& record) {
    const call_facts& facts = facts_of(record.call->plan.kind);
    services::service_call call;
    call.service = facts.service;
    call.method = facts.method;
    call.target = facts.target;
    if (facts.method == "PUT") {
        call.target += std::to_string(record.number);
        call.content_type = "application/x-www-form-urlencoded";
        call.body = facts.form;
    }
    return services::make_management_operation(std::move(call));
}

}  // namespace

engine::http_request sim_client::make_statement(const operation_record& record) {
    const planned_call& plan = record.call->plan;
    couchbase::query_options options;
    options.readonly = is_readonly(plan.kind);
    options.adhoc = plan.prepared == prepared_choice::plain;
    options.named = parameters_of(record);
    options.client_context_id = std::to_string(record.number);
    services::query_plan how;
    if (!options.adhoc) {
        auto& cache = prepared_[static_cast<std::size_t>(plan.prepared)];
        if (!cache) {
            cache = std::make_shared<services::prepared_cache>();
        }
        how.cache = cache;
        how.may_be_enhanced = plan.prepared == prepared_choice::enhanced;
    }
    return taken(
        services::make_query_operation(facts_of(plan.kind).statement, options, {}, std::move(how)));
}

engine::http_request sim_client::make_call(operation_record& record) {
    const planned_call& plan = record.call->plan;
    engine::http_request request;
    switch (service_of(plan.kind)) {
        case wire::service::query:
            request = make_statement(record);
            break;
        case wire::service::analytics:
            request = make_analytics(record);
            break;
        case wire::service::search:
            request = make_search();
            break;
        case wire::service::views:
            request = make_view();
            break;
        default:  // the other services have no composer: their rows name method and path
            request = make_raw(record);
            break;
    }
    request.exchange =
        std::make_unique<observed_exchange>(world_, record.number, std::move(request.exchange));
    if (plan.rows_room != 0) {
        request.rows_size_max_bytes = plan.rows_room;
    }
    if (plan.taking != row_taking::at_end) {
        request.on_rows = [this, number = record.number] { on_rows(world_.records.at(number)); };
    }
    fill_usual(request, plan, record);
    return request;
}

void sim_client::start_call(operation_record& record) {
    engine::http_request request = make_call(record);
    note_start(record, request.timeout.value_or(plan_.http_timeout));
    record.id = loops_[0].start_http(
        std::move(request),
        [this, number = record.number](engine::operation_result&& result) {
            on_done(number, std::move(result));
        },
        world_.now);
    number_of(record.id.value);
    run_engine();
}

// Rows are available; the user acts as planned.
void sim_client::on_rows(operation_record& record) {
    world_.checks.calls.on_rows_reported(record);
    switch (record.call->plan.taking) {
        case row_taking::at_once:
            return take_rows(record);
        case row_taking::later:
            world_.queue.push(
                world_.now + record.call->plan.take_after, event_kind::take_rows, record.number);
            return;
        case row_taking::then_cancel:
            take_rows(record);
            if (record.calls == 0 && loops_[0].cancel(record.id, world_.now)) {
                record.is_canceled = true;
            }
            return;
        case row_taking::at_end:
        case row_taking::never:
            return;
    }
}

void sim_client::take_rows(operation_record& record) {
    engine::row_batch batch;
    if (record.calls == 0 && loops_[0].take_rows(record.id, batch, world_.now)) {
        world_.checks.calls.on_rows(record, batch);
    }
    if (record.call->plan.taking == row_taking::later) {
        run_engine();  // runs in its own event
    }
}

}  // namespace reprise::sim
