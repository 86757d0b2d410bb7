#include <utility>

#include <reprise/services/analytics_request.hpp>
#include <reprise/services/query_outcome.hpp>
#include <reprise/services/query_request.hpp>
#include <reprise/services/row_splitter.hpp>
#include <reprise/wire/cluster_configuration.hpp>

#include "fixed_exchange.hpp"
#include "request_body.hpp"

// The exchanges of query and analytics, whose answers have the same format.

namespace reprise::services {
namespace {

using step = exchange_result::step;

constexpr std::string_view query_rows_member = "results";

void describe_problem(exchange_result& verdict, const query_outcome& outcome) {
    if (!outcome.errors.empty()) {
        verdict.server_code = static_cast<std::uint32_t>(outcome.errors.front().code);
        verdict.server_text = outcome.errors.front().message;
    }
}

// The user gets what was parsed to judge the answer.
void keep_metadata(exchange_result& verdict, query_outcome&& outcome) {
    if (verdict.what == step::done) {
        verdict.metadata = couchbase::query_metadata(std::move(outcome));
    }
}

// The rest of a query or analytics answer, or a verdict if the status alone decides.
std::expected<query_outcome, exchange_result> outcome_of(const http_answer& answer) {
    if (answer.body.empty()) {
        return std::unexpected(detail::failure_by_status(
            classify_bare_status(answer.status, body_state::empty), answer.status));
    }
    auto outcome = parse_query_outcome(answer.body);
    if (!outcome) {
        exchange_result verdict = detail::failure_by_status(
            classify_bare_status(answer.status, body_state::unreadable), answer.status);
        verdict.server_text = to_string(outcome.error());
        return std::unexpected(std::move(verdict));
    }
    return std::move(*outcome);
}

class analytics_exchange final : public detail::fixed_exchange {
public:
    using fixed_exchange::fixed_exchange;

private:
    exchange_result read(const http_answer& answer) const override {
        auto outcome = outcome_of(answer);
        if (!outcome) {
            return outcome.error();
        }
        const auto judged =
            classify_analytics(answer.status, *outcome, detail::access_of(call().is_idempotent));
        exchange_result verdict = detail::result_of(judged);
        describe_problem(verdict, *outcome);
        keep_metadata(verdict, std::move(*outcome));
        return verdict;
    }
};

// The members of a query that select what is run, without the end of the object. All others follow.
std::string head_of(
    std::string_view statement, const prepared_statement& prepared = {}, bool is_executed = false) {
    detail::request_body head;
    head.text("statement", statement);
    head.text("prepared", prepared.name);
    head.text("encoded_plan", prepared.encoded_plan);
    head.flag_if_set("auto_execute", is_executed);
    std::string text = head.finish().value_or("{}");
    text.pop_back();
    return text;
}

// A statement that is sent as text or prepared first.
class query_exchange final : public http_exchange {
public:
    // `call` is the request with the statement as text.
    query_exchange(
        std::string_view statement, std::string context, query_plan plan, service_call call)
        : statement_(statement),
          context_(std::move(context)),
          plan_(std::move(plan)),
          is_readonly_(call.is_idempotent),
          call_(std::move(call)) {
        if (plan_.cache) {
            rest_ = call_.body.substr(head_of(statement_).size());
        }
    }

    const service_call& compose(const wire::cluster_configuration* cluster) override {
        const prepared_statement* known =
            plan_.cache ? plan_.cache->find(statement_, context_) : nullptr;
        const bool is_one_request = is_enhanced(cluster);
        if (known != nullptr && is_one_request && known->is_legacy()) {
            known = nullptr;
        }
        const prepared_statement used = known == nullptr ? prepared_statement{} : *known;
        const phase next = next_phase(known != nullptr, is_one_request);
        if (next != phase_ || used != used_) {
            phase_ = next;
            used_ = used;
            compose_again();
        }
        return call_;
    }

    exchange_result judge(const http_answer& answer) override {
        auto outcome = outcome_of(answer);
        if (!outcome) {
            return outcome.error();
        }
        const bool is_harmless = is_readonly_ || phase_ == phase::preparing;
        const auto judged = classify_query(answer.status, *outcome, detail::access_of(is_harmless));
        exchange_result verdict = detail::result_of(judged);
        describe_problem(verdict, *outcome);
        verdict.delay_floor = detail::retry_after(answer.headers);
        if (judged.reason == retry_reason::query_prepared_statement_failure) {
            return renew(std::move(verdict));
        }
        if (verdict.what == step::done && phase_ == phase::preparing) {
            return remember_row(answer);
        }
        if (verdict.what == step::done && phase_ == phase::preparing_and_running &&
            !outcome->prepared_name.empty()) {
            plan_.cache->put(statement_, context_, {outcome->prepared_name, {}});
        }
        keep_metadata(verdict, std::move(*outcome));
        return verdict;
    }

private:
    enum class phase : std::uint8_t { plain, preparing, preparing_and_running, running };

    // A name that the server does not have: the statement is prepared again if the client chose the
    // name. An EXECUTE of the user's own has nothing that could be prepared.
    exchange_result renew(exchange_result verdict) {
        if (phase_ != phase::running) {
            verdict.what = step::failed;
            return verdict;
        }
        plan_.cache->erase(statement_, context_, used_.name);
        return verdict;
    }

    // Whether a statement may be prepared and run in one request. Checked for each request, because
    // servers are upgraded while clients run.
    [[nodiscard]] bool is_enhanced(const wire::cluster_configuration* cluster) const noexcept {
        return plan_.may_be_enhanced && cluster != nullptr &&
               cluster->has_cluster_capability("n1ql", "enhancedPreparedStatements");
    }

    [[nodiscard]] phase next_phase(bool is_known, bool is_one_request) const noexcept {
        if (!plan_.cache) {
            return phase::plain;
        }
        if (is_known) {
            return phase::running;
        }
        return is_one_request ? phase::preparing_and_running : phase::preparing;
    }

    // Sets how the request refers to the statement. The bytes of all else stay as they are.
    void compose_again() {
        call_.body =
            (phase_ == phase::running
                 ? head_of({}, used_)
                 : head_of("PREPARE " + statement_, {}, phase_ == phase::preparing_and_running)) +
            rest_;
        const bool is_preparing = phase_ == phase::preparing;
        // The only row of an answer to PREPARE is not for the user.
        call_.rows_member = is_preparing ? std::string_view() : query_rows_member;
        // It changes nothing, so it may be sent again, and losing it is not ambiguous.
        call_.is_idempotent = is_preparing || is_readonly_;
    }

    exchange_result remember_row(const http_answer& answer) {
        row_splitter splitter(query_rows_member);
        splitter.feed(base::as_bytes(answer.body));
        const auto event = splitter.next();
        const auto row = event && *event == row_event::row ? parse_prepared_row(splitter.row())
                                                           : std::unexpected(outcome_error{});
        if (!row) {
            exchange_result verdict = detail::failure(errc::prepared_statement_failure);
            verdict.server_text = "the answer to PREPARE contains no plan";
            return verdict;
        }
        plan_.cache->put(statement_, context_, {row->name, row->encoded_plan});
        exchange_result verdict;
        verdict.what = step::next;
        return verdict;
    }

    std::string statement_;
    std::string context_;  // in which the statement's names are looked up
    query_plan plan_;
    bool is_readonly_;
    std::string rest_;  // of the body, after its head; empty if nothing is prepared
    // The last request and what it was made of, so that retries send the same bytes.
    service_call call_;
    phase phase_ = phase::plain;
    prepared_statement used_;
};

}  // namespace

service_operation_result make_query_operation(
    std::string_view statement, const query_options& options, const request_context& context,
    query_plan plan) {
    // Checks the request once, here. Later requests differ only in texts of the client itself.
    auto call = make_query_call(statement, options, context);
    if (!call) {
        return std::unexpected(std::move(call.error()));
    }
    if (options.adhoc) {
        plan.cache = nullptr;
    }
    service_operation made = detail::operation_for(*call, "query");
    made.statement = statement;
    made.context_id = detail::context_id(options, context);
    made.exchange = std::make_unique<query_exchange>(
        statement, detail::query_context(context), std::move(plan), std::move(*call));
    return made;
}

service_operation_result make_analytics_operation(
    std::string_view statement, const analytics_options& options, const request_context& context) {
    auto made = detail::fixed_operation<analytics_exchange>(
        make_analytics_call(statement, options, context), "analytics");
    if (made) {
        made->statement = statement;
        made->context_id = detail::context_id(options, context);
    }
    return made;
}

}  // namespace reprise::services
