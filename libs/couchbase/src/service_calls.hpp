#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <reprise/couchbase/management.hpp>
#include <reprise/engine/http_operation.hpp>
#include <reprise/services/http_exchange.hpp>

#include "session.hpp"
#include "unsent_request.hpp"

// Shared by the calls of all HTTP services: converts options to a request of the engine, and its
// answer to a result for the user. Each service has its own source: query.cpp, search.cpp, ...

namespace reprise::couchbase::detail {

[[nodiscard]] error argument_error(std::string text);

// The context that the client adds to a request.
template <class Options>
services::request_context context_of(
    session& client, wire::service service, service_scope in, const Options& options) {
    services::request_context context{in.bucket, in.scope, {}, {}};
    if constexpr (requires { options.client_context_id; }) {
        if (options.client_context_id.empty()) {
            context.client_context_id = client.next_context_id();
        }
    }
    context.timeout_default = engine::timeout_of(service, client.facts().options);
    return context;
}

// Why a request cannot be sent.
[[nodiscard]] error to_error(const services::service_call_error& refused);

// Fills in the parts that all calls have: bounds, timeout and strategy.
template <class Options>
service_work finish_work(
    const std::shared_ptr<session>& client, services::service_operation_result made,
    const Options& options, row_mode mode) {
    std::expected<engine::http_request, error> request = std::unexpected(argument_error(""));
    if (!made) {
        request = std::unexpected(to_error(made.error()));
    } else {
        request = engine::http_request(std::move(*made));
        request->timeout = options.timeout;
        request->strategy = options.strategy;
        request->user_data = options.user_data;
        request->outer_allowance = options.outer_allowance;
        if constexpr (requires { options.rows_size_max_bytes; }) {
            request->rows_size_max_bytes = options.rows_size_max_bytes.value_or(
                mode == row_mode::kept ? result_size_max_bytes_default
                                       : stream_size_max_bytes_default);
        }
    }
    return {client, std::make_shared<unsent_request>(unsent_request{std::move(request)})};
}

template <class Stream>
std::expected<Stream, error> open_stream(const service_work& work) {
    auto rows = open_rows(work);
    if (!rows) {
        return std::unexpected(std::move(rows.error()));
    }
    return stream_access::make<Stream>(std::move(*rows));
}

// Converts an answer into a result of bucket_manager or collection_manager.
template <class Result>
std::expected<Result, error> read_answer(management_response&& answer);
// The same for query_index_list_result, which is made from rows.
[[nodiscard]] std::expected<query_index_list_result, error> read_indexes(query_result&& answer);

template <class Result>
std::expected<Result, error> to_service_result(engine::operation_result&& result) {
    if (result.ec) {
        return std::unexpected(to_service_error(result));
    }
    operation_trace trace{result.retry_attempts, std::move(result.history)};
    if constexpr (!requires { &Result::metadata; }) {
        management_response answer{
            result.http->status, std::move(result.http->body), std::move(trace)};
        if constexpr (std::is_same_v<Result, management_response>) {
            return answer;
        } else {
            return read_answer<Result>(std::move(answer));
        }
    } else {
        engine::row_batch::parts parts = result.http->rows.take_parts();
        auto memory = std::make_shared<const std::vector<base::block_ref>>(std::move(parts.memory));
        return Result{
            row_list(std::move(parts.rows), std::move(memory)),
            metadata_in<decltype(Result::metadata)>(std::move(result.http->metadata)),
            std::move(trace)};
    }
}

template <>
inline std::expected<query_index_list_result, error> to_service_result(
    engine::operation_result&& result) {
    auto answer = to_service_result<query_result>(std::move(result));
    if (!answer) {
        return std::unexpected(std::move(answer.error()));
    }
    return read_indexes(*std::move(answer));
}

// Blocks until what `start(receiver)` starts has completed.
template <class Result, class Start>
std::expected<Result, error> await_started(
    const std::shared_ptr<session>& client, const Start& start) {
    struct blocked_caller {
        std::optional<std::expected<Result, error>> result{};
        std::move_only_function<void()> wake{};

        static void finish(blocked_caller* self, std::expected<Result, error>&& made, bool) {
            self->result = std::move(made);
            auto call = std::move(self->wake);  // `self` ends with it
            call();
        }
    };
    // Keeps the client alive, because a completion may release the last handle.
    const auto held = client;  // NOLINT(performance-unnecessary-copy-initialization)
    blocked_caller caller;
    const auto refused = held->client().await([&](std::move_only_function<void()> done) {
        caller.wake = std::move(done);
        start(result_receiver<Result>::to(&caller));
    });
    if (refused != net::refusal::none) {
        return std::unexpected(to_error(refused));
    }
    return std::move(*caller.result);
}

template <class Result>
std::expected<Result, error> run_work(const service_work& work) {
    auto request = take_request(work);
    if (!request) {
        return std::unexpected(std::move(request.error()));
    }
    // Keeps the client alive, because a completion may release the last handle.
    const std::shared_ptr<session> held = work.client;
    std::optional<engine::operation_result> result;
    net::refusal not_started = net::refusal::none;
    const auto refused = held->client().await([&](std::move_only_function<void()> done) {
        // Shared, because a refused start does not call it.
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
void start_work(
    const service_work& work, const result_receiver<Result>& receiver, call_ticket ticket) {
    auto request = take_request(work);
    if (!request) {
        receiver.complete(std::unexpected(std::move(request.error())), true);
        return;
    }
    // Does not keep the client alive: operations end with the client, not the other way round.
    auto done = [receiver](engine::operation_result&& result) {
        receiver.complete(to_service_result<Result>(std::move(result)), false);
    };
    const auto refused =
        work.client->client().start_http(std::move(*request), std::move(done), ticket);
    if (refused != net::refusal::none) {
        receiver.complete(std::unexpected(to_error(refused)), true);
    }
}

}  // namespace reprise::couchbase::detail
