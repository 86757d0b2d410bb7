#include <reprise/sandbox/services.hpp>

#include <algorithm>
#include <utility>

#include <reprise/base/hex.hpp>

#include "http_services/http_texts.hpp"
#include "http_services/login.hpp"
#include "http_services/query/query_body.hpp"
#include "http_services/service_handlers.hpp"

namespace reprise::sandbox {

namespace detail {

service_state::service_state(cluster_state& owner)
    : cluster(owner),
      faults(owner.options.seed ^ 0x5e41cefau),
      audit(owner.options.audit_entry_count_max),
      random(owner.options.seed ^ 0x5e41ceu) {}

std::string service_state::random_hex(std::size_t digit_count) {
    std::string text;
    for (std::size_t i = 0; i < digit_count; ++i) {
        text += base::to_hex_digit(random.next());
    }
    return text;
}

std::string service_state::random_uuid_text() {
    return with_dashes(random_hex(32));
}

void service_state::forget_bucket(std::string_view bucket) {
    std::erase_if(indexes, [bucket](const auto& each) { return each.on.bucket == bucket; });
    std::erase_if(
        search_indexes, [bucket](const auto& each) { return each.second.bucket == bucket; });
    std::erase_if(
        design_documents, [bucket](const auto& each) { return each.first.first == bucket; });
}

void service_exchange::log_in(const user_options* who) {
    user = who;
    rights = who == nullptr ? detail::rights() : rights_of(services.cluster, *who);
}

bool service_exchange::can_see(std::string_view bucket) const {
    const bool is_there = services.cluster.find_bucket(bucket) != nullptr;
    return user != nullptr && (is_there ? rights.can_see(bucket) : rights.can_see_all()) &&
           !cluster.buckets().is_denied(bucket, user->name);
}

service_response make_service_response(
    int status, std::string body, std::string_view content_type) {
    service_response response;
    response.status = status;
    response.headers.push_back({"Content-Type", std::string(content_type)});
    response.body = std::move(body);
    return response;
}

namespace {

service_response answer_service(service_exchange& with) {
    const auto index = static_cast<std::size_t>(with.request.service);
    const auto answer = service_handlers[index].answer;
    return answer != nullptr ? answer(with) : make_service_response(404, "");
}

answer_fate fate_under(const std::optional<service_fault_effect>& effect) noexcept {
    if (!effect) {
        return answer_fate::sent;
    }
    if (std::holds_alternative<fault_delay>(*effect)) {
        return answer_fate::delayed;
    }
    if (std::holds_alternative<fault_no_answer>(*effect)) {
        return answer_fate::withheld;
    }
    const bool is_closed = std::holds_alternative<fault_close_before>(*effect) ||
                           std::holds_alternative<fault_close_after>(*effect) ||
                           std::holds_alternative<service_fault_close_after_headers>(*effect) ||
                           std::holds_alternative<service_fault_close_mid_body>(*effect);
    return is_closed ? answer_fate::closed : answer_fate::sent;
}

// The answer that a rule sends instead of the service.
service_response answer_of_fault(const service_fault_effect& effect) {
    service_response response;
    if (const auto* answer = std::get_if<service_fault_answer>(&effect)) {
        response.status = answer->status;
        response.headers = answer->headers;
        response.body = answer->body;
        if (!find_header(response.headers, "Content-Type")) {
            response.headers.push_back({"Content-Type", "application/json"});
        }
    } else if (const auto* redirect = std::get_if<service_fault_redirect>(&effect)) {
        response.status = redirect->status;
        response.headers.push_back({"Location", redirect->location});
    } else {
        response.status = 0;
    }
    return response;
}

bool is_answer(const service_fault_effect& effect) noexcept {
    return std::holds_alternative<service_fault_answer>(effect);
}

// Whether the query service ends the request by its own timeout. Shortens the delay to it.
bool end_at_timeout(
    const query_body& query, wire::service service,
    std::optional<service_fault_effect>& disturbance) noexcept {
    auto* delay = disturbance ? std::get_if<fault_delay>(&*disturbance) : nullptr;
    if (service != wire::service::query || delay == nullptr || !query.timeout ||
        delay->delay < *query.timeout) {
        return false;
    }
    delay->delay = *query.timeout;
    return true;
}

std::string cut_text(std::string_view text) {
    return std::string(text.substr(0, service_audit_text_size_max));
}

}  // namespace

}  // namespace detail

service_answer handle_service(
    cluster& target, node_id node, const service_request& request, time_point now) {
    detail::service_state& services = target.services().state();
    const bool has_statement = wire::facts_of(request.service).has_statements;
    const detail::query_body query =
        has_statement ? detail::read_query_body(request) : detail::query_body{};
    const std::string_view path =
        std::string_view(request.target).substr(0, request.target.find('?'));

    service_audit_entry entry;
    entry.time = now;
    entry.node = node;
    entry.service = request.service;
    entry.method = detail::cut_text(request.method);
    entry.path = detail::cut_text(path);
    entry.context_id = query.context_id.empty()
                           ? find_header(request.headers, "client-context-id").value_or("")
                           : std::string_view(query.context_id);
    const std::string& words = query.statement.empty() ? query.prepared : query.statement;
    entry.statement_start = detail::cut_text(words);

    service_answer answer;
    const service_fault_list::entry* rule = services.faults.decide(
        {request.service, node, request.method, path, words, entry.context_id});
    if (rule != nullptr) {
        answer.disturbance = rule->rule.effect;
        entry.fault_id = rule->id;
    }
    detail::service_exchange with{
        services, target, node,   request, now, detail::target_parts(request.target),
        nullptr,  {},     &query, entry};
    if (!target.disturbances().of(node).rejects_credentials) {
        with.log_in(detail::find_login(
            target, find_header(request.headers, "Authorization").value_or(""),
            request.certificate_user));
    }
    entry.user = with.user == nullptr ? std::string() : with.user->name;
    with.is_out_of_time = detail::end_at_timeout(query, request.service, answer.disturbance);
    const bool is_applied = !answer.disturbance || is_applied_under(*answer.disturbance);
    if (is_applied) {
        answer.response = detail::answer_service(with);
    }
    if (answer.disturbance && (!is_applied || detail::is_answer(*answer.disturbance))) {
        answer.response = detail::answer_of_fault(*answer.disturbance);
    }
    entry.status = answer.response.status;
    entry.fate = detail::fate_under(answer.disturbance);
    services.audit.record(std::move(entry));
    return answer;
}

service_host& cluster::services() {
    if (!state_->services) {
        state_->services = std::make_shared<service_host>(*state_);
    }
    return *state_->services;
}

service_host::service_host(detail::cluster_state& cluster)
    : state_(std::make_unique<detail::service_state>(cluster)) {}

service_host::~service_host() = default;

service_fault_list& service_host::faults() noexcept {
    return state_->faults;
}

service_audit_log& service_host::audit() noexcept {
    return state_->audit;
}

std::size_t service_host::prepared_count() const noexcept {
    return state_->prepared.size();
}

void service_host::forget_prepared() noexcept {
    state_->prepared.clear();
}

}  // namespace reprise::sandbox
