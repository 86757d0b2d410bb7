#include <reprise/engine/service_exchange.hpp>

#include <chrono>
#include <optional>
#include <utility>

#include <reprise/retry/retry_after.hpp>
#include <reprise/services/management_request.hpp>
#include <reprise/services/query_outcome.hpp>
#include <reprise/services/row_splitter.hpp>
#include <reprise/services/search_outcome.hpp>
#include <reprise/services/view_outcome.hpp>
#include <reprise/wire/cluster_configuration.hpp>

namespace reprise::engine {
namespace {

using step = exchange_result::step;

exchange_result failure(errc error) {
    exchange_result verdict;
    verdict.what = step::failed;
    verdict.error = error;
    return verdict;
}

// The access of a request that may be sent again or not by its own options.
constexpr services::request_access access_of(bool is_idempotent) noexcept {
    return is_idempotent ? services::request_access::reads : services::request_access::may_write;
}

// The service refused the request, or failed in an unknown state.
exchange_result failure_by_status(errc error, int http_status) {
    exchange_result verdict = failure(error);
    verdict.may_have_acted = !services::refuses_request(http_status);
    return verdict;
}

// Retries for `reason` if it is known. A retry without an error gets a default one, in case it is
// refused.
exchange_result verdict_of(std::optional<errc> error, retry_reason reason) {
    if (!error && reason == retry_reason::unknown) {
        return {};
    }
    exchange_result verdict = failure(error.value_or(errc::internal_server_failure));
    if (reason != retry_reason::unknown) {
        verdict.what = step::retry;
        verdict.reason = reason;
    }
    return verdict;
}

// The delay that Retry-After asks for. There is no clock here, so a date is compared with the Date
// header of the same answer, which comes from the same clock. Without that header a date is
// ignored.
duration retry_after(const http::header_list& headers) {
    constexpr std::chrono::sys_seconds century_hint{
        std::chrono::sys_days{std::chrono::year{2026} / std::chrono::January / 1}};
    const auto asked = http::find_header(headers, "Retry-After");
    if (!asked) {
        return {};
    }
    const auto date = http::find_header(headers, "Date");
    const auto now = date ? parse_http_date(*date, century_hint) : std::nullopt;
    const bool is_number = asked->find_first_not_of("0123456789") == std::string_view::npos;
    if (!now && !is_number) {
        return {};
    }
    return parse_retry_after(*asked, now.value_or(century_hint)).value_or(std::chrono::seconds{0});
}

void copy_call(const services::service_call& from, http_call& to) {
    to.method = from.method;
    to.target = from.target;
    to.content_type = from.content_type;
    to.body = from.body;
    to.rows_member = from.rows_member;
    for (const auto& [name, value] : from.headers) {
        to.headers.push_back({name, value});
    }
}

// Sends the same request each time. Subclasses differ in how they read the answers.
class fixed_exchange : public http_exchange {
public:
    explicit fixed_exchange(services::service_call call) : call_(std::move(call)) {}
    void compose(http_call& call) override { copy_call(call_, call); }
    exchange_result judge(const http_answer& answer) override {
        exchange_result verdict = read(answer);
        verdict.delay_floor = retry_after(answer.headers);
        return verdict;
    }

protected:
    [[nodiscard]] const services::service_call& call() const noexcept { return call_; }
    virtual exchange_result read(const http_answer& answer) const = 0;

private:
    services::service_call call_;
};

void describe_problem(exchange_result& verdict, const services::query_outcome& outcome) {
    if (!outcome.errors.empty()) {
        verdict.server_code = static_cast<std::uint32_t>(outcome.errors.front().code);
        verdict.server_text = outcome.errors.front().message;
    }
}

// The rest of a query or analytics answer, or a verdict if the status alone decides.
std::expected<services::query_outcome, exchange_result> outcome_of(const http_answer& answer) {
    if (answer.body.empty()) {
        return std::unexpected(failure_by_status(
            services::classify_bare_status(answer.status, services::body_state::empty),
            answer.status));
    }
    auto outcome = services::parse_query_outcome(answer.body);
    if (!outcome) {
        exchange_result verdict = failure_by_status(
            services::classify_bare_status(answer.status, services::body_state::unreadable),
            answer.status);
        verdict.server_text = to_string(outcome.error());
        return std::unexpected(std::move(verdict));
    }
    return std::move(*outcome);
}

class analytics_exchange final : public fixed_exchange {
public:
    using fixed_exchange::fixed_exchange;

private:
    exchange_result read(const http_answer& answer) const override {
        const auto outcome = outcome_of(answer);
        if (!outcome) {
            return outcome.error();
        }
        const auto judged =
            services::classify_analytics(answer.status, *outcome, access_of(call().is_idempotent));
        exchange_result verdict = verdict_of(
            judged.error, judged.retry == services::analytics_retry::none
                              ? retry_reason::unknown
                              : retry_reason::analytics_temporary_failure);
        verdict.may_have_acted = judged.may_have_acted;
        describe_problem(verdict, *outcome);
        return verdict;
    }
};

class search_exchange final : public fixed_exchange {
public:
    using fixed_exchange::fixed_exchange;

private:
    static retry_reason reason_of(services::search_retry retry) noexcept {
        switch (retry) {
            case services::search_retry::too_many_requests:
                return retry_reason::search_too_many_requests;
            case services::search_retry::not_available_yet:
                return retry_reason::service_response_code_indicated;
            case services::search_retry::none:
                break;
        }
        return retry_reason::unknown;
    }
    exchange_result read(const http_answer& answer) const override {
        const auto judged = services::classify_search(answer.status, answer.body);
        exchange_result verdict = verdict_of(judged.error, reason_of(judged.retry));
        if (verdict.what != step::done) {
            const auto outcome = services::parse_search_outcome(answer.body);
            verdict.server_text =
                outcome ? outcome->error : std::string(answer.body.substr(0, 512));
        }
        return verdict;
    }
};

class view_exchange final : public fixed_exchange {
public:
    using fixed_exchange::fixed_exchange;

private:
    exchange_result read(const http_answer& answer) const override {
        const auto judged = services::classify_view(answer.status, answer.body);
        retry_reason reason = retry_reason::unknown;
        if (judged.retry == services::view_retry::temporary_failure) {
            reason = retry_reason::views_temporary_failure;
        } else if (judged.retry == services::view_retry::no_active_partition) {
            reason = retry_reason::views_no_active_partition;
        }
        exchange_result verdict = verdict_of(judged.error, reason);
        if (verdict.what != step::done) {
            verdict.server_text = answer.body.substr(0, 512);
        }
        return verdict;
    }
};

class management_exchange final : public fixed_exchange {
public:
    using fixed_exchange::fixed_exchange;

private:
    static errc by_status(int status) noexcept {
        if (status == 401 || status == 403) {
            return errc::authentication_failure;
        }
        if (status == 404) {
            return errc::feature_not_available;
        }
        if (status >= 400 && status < 500) {
            return errc::invalid_argument;
        }
        return status == 503 ? errc::service_not_available : errc::internal_server_failure;
    }
    exchange_result read(const http_answer& answer) const override {
        if (answer.status >= 200 && answer.status < 300) {
            return {};
        }
        // What is missing after a 404 depends on the path. Other services have no such paths.
        const bool has_paths = wire::facts_of(call().service).has_resource_paths;
        exchange_result verdict = failure_by_status(
            has_paths ? services::classify_management(answer.status, call().target, answer.body)
                            .value_or(errc::internal_server_failure)
                      : by_status(answer.status),
            answer.status);
        verdict.server_text = answer.body.substr(0, 512);
        return verdict;
    }
};

// A statement that is sent as text or prepared first.
class query_exchange final : public http_exchange {
public:
    query_exchange(services::query_request asked, query_plan plan)
        : asked_(std::move(asked)), plan_(std::move(plan)) {}

    void compose(http_call& call) override {
        services::query_request sent = asked_;
        phase_ = choose(sent, is_enhanced(call.cluster));
        if (const auto made = services::make_query_call(sent)) {
            copy_call(*made, call);
        }
        if (phase_ == phase::preparing) {
            call.rows_member.clear();  // the only row is not for the user
            call.is_harmless = true;
        }
    }

    exchange_result judge(const http_answer& answer) override {
        const auto outcome = outcome_of(answer);
        if (!outcome) {
            return outcome.error();
        }
        const bool is_harmless = asked_.is_readonly || phase_ == phase::preparing;
        const auto judged =
            services::classify_query(answer.status, *outcome, access_of(is_harmless));
        exchange_result verdict = verdict_of(judged.error, reason_of(judged.retry));
        verdict.may_have_acted = judged.may_have_acted;
        describe_problem(verdict, *outcome);
        verdict.delay_floor = retry_after(answer.headers);
        if (judged.retry == services::query_retry::prepared_statement_failure) {
            return renew(std::move(verdict));
        }
        if (verdict.what == step::done && phase_ == phase::preparing) {
            return remember_row(answer);
        }
        if (verdict.what == step::done && phase_ == phase::preparing_and_running &&
            !outcome->prepared_name.empty()) {
            plan_.cache->put(asked_.statement, asked_.query_context, {outcome->prepared_name, {}});
        }
        return verdict;
    }

private:
    enum class phase : std::uint8_t { plain, preparing, preparing_and_running, running };

    static retry_reason reason_of(services::query_retry retry) noexcept {
        switch (retry) {
            case services::query_retry::prepared_statement_failure:
                return retry_reason::query_prepared_statement_failure;
            case services::query_retry::index_not_found:
                return retry_reason::query_index_not_found;
            case services::query_retry::indicated_by_server:
                return retry_reason::service_response_code_indicated;
            case services::query_retry::none:
                break;
        }
        return retry_reason::unknown;
    }

    // A name that the server does not have: the statement is prepared again if the client chose the
    // name. An EXECUTE of the user's own has nothing that could be prepared.
    exchange_result renew(exchange_result verdict) {
        if (phase_ != phase::running) {
            verdict.what = step::failed;
            return verdict;
        }
        plan_.cache->erase(asked_.statement, asked_.query_context, used_name_);
        return verdict;
    }

    // Whether a statement may be prepared and run in one request. Checked for each request, because
    // servers are upgraded while clients run.
    [[nodiscard]] bool is_enhanced(const wire::cluster_configuration* cluster) const noexcept {
        return plan_.may_be_enhanced && cluster != nullptr &&
               cluster->has_cluster_capability("n1ql", "enhancedPreparedStatements");
    }

    // Sets how the next request refers to the statement.
    phase choose(services::query_request& sent, bool is_one_request) {
        used_name_.clear();
        if (!plan_.cache) {
            return phase::plain;
        }
        const auto* known = plan_.cache->find(asked_.statement, asked_.query_context);
        if (known != nullptr && !(is_one_request && known->is_legacy())) {
            sent.statement.clear();
            sent.prepared_name = known->name;
            sent.encoded_plan = known->encoded_plan;
            used_name_ = known->name;
            return phase::running;
        }
        sent.statement = services::make_prepare_statement(asked_.statement);
        sent.is_auto_execute = is_one_request;
        return is_one_request ? phase::preparing_and_running : phase::preparing;
    }

    exchange_result remember_row(const http_answer& answer) {
        services::row_splitter splitter("results");
        splitter.feed(base::as_bytes(answer.body));
        const auto event = splitter.next();
        const auto row = event && *event == services::row_event::row
                             ? services::parse_prepared_row(splitter.row())
                             : std::unexpected(services::outcome_error{});
        if (!row) {
            exchange_result verdict = failure(errc::prepared_statement_failure);
            verdict.server_text = "the answer to PREPARE contains no plan";
            return verdict;
        }
        plan_.cache->put(asked_.statement, asked_.query_context, {row->name, row->encoded_plan});
        exchange_result verdict;
        verdict.what = step::next;
        return verdict;
    }

    services::query_request asked_;
    query_plan plan_;
    phase phase_ = phase::plain;
    std::string used_name_;
};

http_request request_for(const services::service_call& call, std::string operation) {
    http_request made;
    made.service = call.service;
    made.operation = std::move(operation);
    made.is_idempotent = call.is_idempotent;
    return made;
}

template <class Exchange>
http_request_result fixed_request(services::service_call_result call, std::string operation) {
    if (!call) {
        return std::unexpected(std::move(call.error()));
    }
    http_request made = request_for(*call, std::move(operation));
    made.exchange = std::make_unique<Exchange>(std::move(*call));
    return made;
}

}  // namespace

http_request_result make_query_operation(services::query_request asked, query_plan plan) {
    // Checks the request once, here. Later requests differ only in texts of the client itself.
    const auto call = services::make_query_call(asked);
    if (!call) {
        return std::unexpected(call.error());
    }
    http_request made = request_for(*call, "query");
    made.statement = asked.statement;
    made.context_id = asked.client_context_id;
    made.exchange = std::make_unique<query_exchange>(std::move(asked), std::move(plan));
    return made;
}

http_request_result make_analytics_operation(const services::analytics_request& asked) {
    auto made =
        fixed_request<analytics_exchange>(services::make_analytics_call(asked), "analytics");
    if (made) {
        made->statement = asked.statement;
        made->context_id = asked.client_context_id;
    }
    return made;
}

http_request_result make_search_operation(const services::search_request& asked) {
    return fixed_request<search_exchange>(services::make_search_call(asked), "search");
}

http_request_result make_view_operation(const services::view_request& asked) {
    auto made = fixed_request<view_exchange>(services::make_view_call(asked), "view");
    if (made) {
        made->bucket = asked.bucket;
    }
    return made;
}

http_request make_management_operation(services::service_call call) {
    call.is_idempotent = call.method == "GET" || call.method == "HEAD";
    call.rows_member = {};
    // A raw request is named after the service that it is sent to.
    http_request made = request_for(call, std::string(wire::to_string(call.service)));
    made.exchange = std::make_unique<management_exchange>(std::move(call));
    return made;
}

}  // namespace reprise::engine
