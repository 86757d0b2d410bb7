#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <reprise/services/query_outcome.hpp>
#include <reprise/services/search_outcome.hpp>
#include <reprise/services/search_request.hpp>
#include <reprise/services/view_outcome.hpp>

#include "service_request.hpp"
#include "session.hpp"

// From an answer of the engine to what users see.

namespace reprise::couchbase {

namespace detail {
namespace {

std::optional<query_metrics> metrics_of(const std::optional<services::query_metrics>& from) {
    if (!from) {
        return std::nullopt;
    }
    return query_metrics{from->elapsed_time, from->execution_time, from->result_count,
                         from->result_size,  from->sort_count,     from->mutation_count,
                         from->error_count,  from->warning_count,  from->processed_objects};
}

template <class Result>
std::expected<Result, error> to_service_result(engine::operation_result&& result) {
    if (result.ec) {
        return std::unexpected(to_service_error(result));
    }
    operation_trace trace{result.retry_attempts, std::move(result.history)};
    if constexpr (std::is_same_v<Result, management_response>) {
        return management_response{
            result.http->status, std::move(result.http->body), std::move(trace)};
    } else {
        auto metadata = parse_metadata<decltype(Result::metadata)>(result.http->body);
        if (!metadata) {
            return std::unexpected(
                unreadable_answer(services::to_string(metadata.error()), std::move(trace)));
        }
        engine::row_batch::parts parts = result.http->rows.take_parts();
        auto memory = std::make_shared<const std::vector<base::block_ref>>(std::move(parts.memory));
        return Result{
            row_list(std::move(parts.rows), std::move(memory)), std::move(*metadata),
            std::move(trace)};
    }
}

}  // namespace

error unreadable_answer(std::string text, operation_trace&& trace) {
    auto info = std::make_shared<error_info>();
    info->code = errc::decoding_failure;
    info->detail = std::move(text);
    info->retry_attempts = trace.retry_attempts;
    info->history = std::move(trace.history);
    if (info->history) {
        for (std::size_t index = 0; index < info->history->entries.size(); ++index) {
            info->retry_reasons.insert(info->history->entries[index].reason);
        }
    }
    return error(std::move(info));
}

error to_service_error(engine::operation_result& result) {
    return {std::move(result.error), result.http ? result.http->server_code : 0};
}

template <>
std::expected<query_metadata, services::outcome_error> parse_metadata(std::string_view rest) {
    auto outcome = services::parse_query_outcome(rest);
    if (!outcome) {
        return std::unexpected(std::move(outcome.error()));
    }
    query_metadata made;
    made.status = services::to_string(outcome->status);
    made.request_id = std::move(outcome->request_id);
    made.client_context_id = std::move(outcome->client_context_id);
    made.signature = std::move(outcome->signature);
    made.profile = std::move(outcome->profile);
    made.metrics = metrics_of(outcome->metrics);
    for (auto& warning : outcome->warnings) {
        made.warnings.push_back({warning.code, std::move(warning.message)});
    }
    return made;
}

template <>
std::expected<search_metadata, services::outcome_error> parse_metadata(std::string_view rest) {
    auto outcome = services::parse_search_outcome(rest);
    if (!outcome) {
        return std::unexpected(std::move(outcome.error()));
    }
    search_metadata made;
    made.total_hits = outcome->total_hits;
    made.max_score = outcome->max_score;
    made.took = outcome->took;
    made.partition_count = outcome->partition_count;
    made.successful_count = outcome->successful_count;
    made.failed_count = outcome->failed_count;
    made.partition_errors = std::move(outcome->partition_errors);
    made.facets = std::move(outcome->facets);
    return made;
}

template <>
std::expected<view_metadata, services::outcome_error> parse_metadata(std::string_view rest) {
    auto outcome = services::parse_view_outcome(rest);
    if (!outcome) {
        return std::unexpected(std::move(outcome.error()));
    }
    view_metadata made;
    made.total_rows = outcome->total_rows;
    for (auto& problem : outcome->errors) {
        made.errors.push_back({std::move(problem.from), std::move(problem.reason)});
    }
    made.debug_info = std::move(outcome->debug_info);
    return made;
}

template <class Result>
std::expected<Result, error> run_work(const service_work& work) {
    auto request = take_request(work);
    if (!request) {
        return std::unexpected(std::move(request.error()));
    }
    // Held here: a completion may let go of the last handle.
    const std::shared_ptr<session> held = work.client;
    std::optional<engine::operation_result> result;
    net::refusal not_started = net::refusal::none;
    const auto refused = held->client().await([&](std::move_only_function<void()> done) {
        // Shared, since a refused start calls nobody.
        auto wake = std::make_shared<std::move_only_function<void()>>(std::move(done));
        not_started = held->client().start_http(
            std::move(*request), [&result, wake](engine::operation_result&& ended) {
                result = std::move(ended);
                auto call = std::move(*wake);
                call();
            });
        if (not_started != net::refusal::none) {
            (*wake)();
        }
    });
    if (refused != net::refusal::none || not_started != net::refusal::none) {
        return std::unexpected(to_error(refused != net::refusal::none ? refused : not_started));
    }
    return to_service_result<Result>(std::move(*result));
}

template <class Result>
void start_work(const service_work& work, result_receiver<Result>* receiver, call_ticket ticket) {
    auto request = take_request(work);
    if (!request) {
        receiver->complete(receiver, std::unexpected(std::move(request.error())), true);
        return;
    }
    // Does not hold the client: operations end with it, not the other way round.
    auto done = [receiver](engine::operation_result&& result) {
        receiver->complete(receiver, to_service_result<Result>(std::move(result)), false);
    };
    const auto refused =
        work.client->client().start_http(std::move(*request), std::move(done), ticket);
    if (refused != net::refusal::none) {
        receiver->complete(receiver, std::unexpected(to_error(refused)), true);
    }
}

template std::expected<query_result, error> run_work(const service_work&);
template void start_work(const service_work&, result_receiver<query_result>*, call_ticket);
template std::expected<search_result, error> run_work(const service_work&);
template void start_work(const service_work&, result_receiver<search_result>*, call_ticket);
template std::expected<view_result, error> run_work(const service_work&);
template void start_work(const service_work&, result_receiver<view_result>*, call_ticket);
template std::expected<management_response, error> run_work(const service_work&);
template void start_work(const service_work&, result_receiver<management_response>*, call_ticket);

}  // namespace detail

std::expected<view_row, error> parse_view_row(row_view row) {
    auto parsed = services::parse_view_row(row.text());
    if (!parsed) {
        return std::unexpected(detail::unreadable_answer(services::to_string(parsed.error()), {}));
    }
    return view_row{std::move(parsed->id), std::move(parsed->key), std::move(parsed->value)};
}

search_query search_query::match(std::string_view text, std::string_view field) {
    return search_query(services::make_match_query(text, field));
}

search_query search_query::term(std::string_view term, std::string_view field) {
    return search_query(services::make_term_query(term, field));
}

search_query search_query::query_string(std::string_view text) {
    return search_query(services::make_query_string_query(text));
}

search_query search_query::match_all() {
    return search_query(services::make_match_all_query());
}

}  // namespace reprise::couchbase
