#include <array>
#include <string>
#include <utility>

#include <reprise/sandbox/services.hpp>

#include "faults/fault_injector.hpp"
#include "scenario/random_choice.hpp"
#include "world/world.hpp"

// Faults of the HTTP services. None of them answers a success to a write that did not happen,
// because that would prove nothing about the client.

namespace reprise::sim {

namespace {

using sandbox::service_fault_answer;
using sandbox::service_fault_effect;
using wire::service;

template <class Value, std::size_t Count>
const Value& any_of_these(random_stream& random, const std::array<Value, Count>& from) {
    return from[random.below(Count)];
}

service any_service(random_stream& random) {
    const auto services = wire::list_services(wire::is_http_service);
    return services[random.below(services.size())];
}

std::string error_body(int code, bool is_retry_advised, std::string_view rows) {
    // 5000 has many meanings; this is the one that is retried.
    const std::string text = code == 5000 ? "queryport.indexNotFound" : "the simulation says so";
    return "{\"results\":[" + std::string(rows) +
           "],\"errors\":[{\"code\":" + std::to_string(code) + ",\"msg\":\"" + text +
           "\",\"retry\":" + (is_retry_advised ? "true" : "false") + "}],\"status\":\"errors\"}";
}

// Rows before an error. With many of them the caller takes some before the error arrives.
std::string rows_before_error(random_stream& random) {
    constexpr std::array<int, 4> counts = {1, 3, 60, 500};
    const int count = any_of_these(random, counts);
    std::string rows;
    for (int row = 0; row < count; ++row) {
        rows += (row == 0 ? "" : ",") + std::to_string(row);
    }
    return rows;
}

// An error after the effect, as real servers send it: their own timeout, with and without the flag,
// or an error in the middle of a statement. None of these codes claims that nothing was done.
service_fault_effect late_error(random_stream& random, service from) {
    constexpr std::array<int, 6> query_codes = {1080, 1080, 1080, 12008, 12009, 5999};
    constexpr std::array<int, 2> analytics_codes = {21002, 25000};
    service_fault_answer answer;
    answer.status = 200;
    answer.is_applied = true;
    answer.body = error_body(
        from == service::query ? any_of_these(random, query_codes)
                               : any_of_these(random, analytics_codes),
        random.percent(50), "");
    return answer;
}

// An answer that no service would give here.
service_fault_effect wrong_answer(random_stream& random, std::optional<service> to) {
    constexpr std::array<int, 10> statuses = {400, 401, 403, 404, 408, 429, 500, 502, 503, 504};
    constexpr std::array<int, 8> codes = {1065, 1080, 3000, 4300, 5000, 12003, 12009, 24045};
    const bool has_errors = to && wire::facts_of(*to).has_statements;
    service_fault_answer answer;
    answer.status = any_of_these(random, statuses);
    switch (random.below(has_errors ? 7 : 3)) {
        case 0:
            break;  // no body
        case 1:
            answer.body = "{}";
            break;
        case 2:
            answer.body = "no JSON at all";
            break;
        case 3:
            answer.body = error_body(any_of_these(random, codes), false, "");
            break;
        case 4:
        case 5:
            return late_error(random, *to);
        default:
            // Rows first, then the error: it looks like a success until the end.
            answer.status = 200;
            answer.body = error_body(
                any_of_these(random, codes), random.percent(30), rows_before_error(random));
            break;
    }
    return answer;
}

service_fault_effect any_effect(random_stream& random, std::optional<service> to) {
    switch (random.below(16)) {
        case 0:
            return sandbox::fault_delay{random.between(duration{1000}, duration{300'000'000})};
        case 1:
            return sandbox::fault_no_answer{};
        case 2:
            return sandbox::fault_close_before{};
        case 3:
        case 4:
            return sandbox::fault_close_after{};
        case 5:
            return sandbox::service_fault_close_after_headers{};
        case 6:
        case 7:
        case 8:
            return sandbox::service_fault_close_mid_body{random.between(1, 600)};
        case 9:
            return sandbox::service_fault_wrong_length{
                static_cast<std::int64_t>(random.between(0, 40)) - 20};
        case 10:
            return sandbox::service_fault_bad_chunk{};
        case 11:
            return sandbox::service_fault_unasked_encoding{};
        case 12:
            return sandbox::service_fault_continue_first{random.between(1, 3)};
        default:
            return wrong_answer(random, to);
    }
}

// An answer that asks for a retry, in the format of the service.
service_fault_answer busy_answer(random_stream& random, service from) {
    constexpr std::array<int, 3> prepared_codes = {4040, 4050, 4070};
    constexpr std::array<int, 3> analytics_codes = {23000, 23003, 23007};
    constexpr std::array<int, 5> view_statuses = {302, 408, 500, 503, 504};
    service_fault_answer answer;
    answer.status = 503;
    switch (from) {
        case service::query:
            if (random.percent(60)) {
                // A success until its end.
                answer.status = 200;
                answer.body = error_body(1181, true, rows_before_error(random));
            } else {
                answer.status = random.percent(50) ? 503 : 200;
                answer.body = random.percent(60)
                                  ? error_body(any_of_these(random, prepared_codes), false, "")
                                  : error_body(1181, true, "");
            }
            break;
        case service::analytics:
            answer.body = error_body(any_of_these(random, analytics_codes), false, "");
            break;
        case service::search:
            if (random.percent(50)) {
                answer.status = 400;
                answer.body = R"({"error":"pindex not available","status":"fail"})";
            } else {
                answer.status = 429;
                answer.body = R"({"error":"too many requests"})";
            }
            break;
        case service::views:
            answer.status = any_of_these(random, view_statuses);
            answer.body = "{}";
            break;
        default:  // the others do not ask for a retry
            break;
    }
    if (random.percent(50)) {
        answer.headers.push_back({"Retry-After", std::to_string(random.below(3))});
    }
    return answer;
}

service_fault_effect redirect(random_stream& random) {
    constexpr std::array<int, 5> statuses = {301, 302, 303, 307, 308};
    constexpr std::array<std::string_view, 4> places = {
        "/elsewhere", "http://node0:8093/query/service", "http://elsewhere.example:8093/",
        "https://node1:18091/pools"};
    return sandbox::service_fault_redirect{
        any_of_these(random, statuses), std::string(any_of_these(random, places))};
}

sandbox::service_fault_rule service_rule_of(const planned_fault& fault, sandbox::node_id node) {
    random_stream random(fault.detail, 5);
    sandbox::service_fault_rule rule;
    // Most calls are statements.
    if (fault.kind == fault_kind::service_busy || random.percent(60)) {
        rule.service = random.percent(50) ? service::query : any_service(random);
    }
    switch (fault.kind) {
        case fault_kind::service_busy:
            rule.effect = busy_answer(random, *rule.service);
            break;
        case fault_kind::redirect_calls:
            rule.effect = redirect(random);
            break;
        case fault_kind::fail_after_effect:
            rule.service = service::query;
            rule.effect = late_error(random, service::query);
            break;
        default:  // the plain rule
            rule.effect = any_effect(random, rule.service);
            break;
    }
    if (random.percent(50)) {
        rule.node = node;
    }
    random_cadence(random, rule);
    return rule;
}

}  // namespace

void fault_injector::begin_service_fault(const planned_fault& fault, std::uint32_t index) {
    if (world_.plan.calls.empty()) {
        return;  // no client could encounter it
    }
    switch (fault.kind) {
        case fault_kind::forget_prepared:
            world_.cluster.services().forget_prepared();
            world_.prepared_forgotten = world_.now;
            break;
        case fault_kind::hide_calls:
            are_calls_hidden_ = true;
            announce();
            break;
        default:  // all others of this group are fault rules
            rule_ids_[index] =
                world_.cluster.services().faults().add(service_rule_of(fault, node_of(fault)));
            break;
    }
}

void fault_injector::end_service_fault(const planned_fault& fault, std::uint32_t index) {
    if (world_.plan.calls.empty()) {
        return;
    }
    if (fault.kind == fault_kind::hide_calls) {
        are_calls_hidden_ = false;
        announce();
    } else {
        (void)world_.cluster.services().faults().remove(rule_ids_[index]);
    }
}

void fault_injector::make_definitions() {
    (void)world_.cluster.services().create_search_index(search_index_name, bucket_name);
    (void)world_.cluster.services().put_view(bucket_name, design_name, view_name);
}

}  // namespace reprise::sim
