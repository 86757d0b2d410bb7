#include <reprise/couchbase/detail/document_call.hpp>

#include <algorithm>
#include <functional>
#include <utility>
#include <variant>

#include <reprise/base/enum_table.hpp>
#include <reprise/engine/operation_request.hpp>
#include <reprise/engine/operation_result.hpp>
#include <reprise/wire/document_messages.hpp>
#include <reprise/wire/expiry.hpp>

#include "replica_read.hpp"
#include "session.hpp"
#include "subdocument_call.hpp"

namespace reprise::couchbase::detail {
namespace {

// Calls up to this one are a single operation each, with the same numbers as in the engine.
constexpr call_kind plain_call_last = call_kind::mutate_in;
static_assert(base::have_same_names<
              call_kind, engine::operation_kind, static_cast<std::size_t>(plain_call_last) + 1>());

engine::operation_kind to_engine(call_kind kind) noexcept {
    if (kind <= plain_call_last) {
        return static_cast<engine::operation_kind>(kind);
    }
    if (kind == call_kind::lookup_in_any_replica || kind == call_kind::lookup_in_all_replicas) {
        return engine::operation_kind::lookup_in;
    }
    return kind == call_kind::ping ? engine::operation_kind::noop : engine::operation_kind::get;
}

std::expected<std::uint32_t, error> to_wire(const expiry& when) {
    if (when.value() == expiry().value()) {
        return std::uint32_t{0};  // no expiry: the current time is not needed
    }
    const auto encoded = std::visit(
        [](auto value) {
            if constexpr (std::is_same_v<decltype(value), std::chrono::seconds>) {
                return wire::encode_expiry(value, net::wall_clock_now());
            } else {
                return wire::encode_expiry(value);
            }
        },
        when.value());
    if (!encoded) {
        return std::unexpected(error(
            errc::invalid_argument, "expiry: " + std::string(wire::to_string(encoded.error()))));
    }
    return *encoded;
}

bool is_counter(call_kind kind) noexcept {
    return kind == call_kind::increment || kind == call_kind::decrement;
}

bool is_json(std::uint32_t flags) noexcept {
    return format_of(flags) == document_format::json;
}

// The request is large and on the path of every call, so it is filled in place and not moved.
std::expected<void, error> fill_request(
    const document_call& call, engine::operation_request& request) {
    if (call.problem) {
        return std::unexpected(error(make_error_code(errc::encoding_failure), *call.problem));
    }
    const auto expiry = to_wire(call.expiry);
    if (!expiry) {
        return std::unexpected(expiry.error());
    }
    request.kind = to_engine(call.kind);
    request.key.assign(std::as_bytes(std::span{call.key}));
    request.value.assign(call.value);
    request.flags = call.flags;
    if (!call.value.empty() && is_json(call.flags)) {
        request.datatype = wire::datatype::json;
    }
    request.expiry = *expiry;
    request.preserve_expiry = call.preserve_expiry;
    request.cas = call.cas;
    if (call.durability != durability_level::none) {
        request.durability = static_cast<wire::durability_level>(call.durability);
    }
    if (is_counter(call.kind)) {
        request.delta = call.delta;
        request.initial = call.initial.value_or(0);
        if (!call.initial) {
            request.expiry = wire::expiry_do_not_create;
        }
    }
    request.lock_seconds =
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(call.lock_time.count(), 0, 0xffff));
    request.timeout = call.timeout;
    request.strategy = call.strategy;
    request.user_data = call.user_data;
    request.outer_allowance = call.outer_allowance;
    return {};
}

operation_trace trace_of(engine::operation_result& result) {
    return {result.retry_attempts, std::move(result.history)};
}

std::optional<mutation_token> token_of(
    const engine::operation_result& result, std::string_view bucket) {
    if (!result.token) {
        return std::nullopt;
    }
    return mutation_token{
        std::string(bucket), result.vbucket.value, result.token->vbucket_uuid, result.token->seqno};
}

template <class Result>
constexpr bool is_subdocument =
    std::is_same_v<Result, lookup_in_result> || std::is_same_v<Result, mutate_in_result> ||
    std::is_same_v<Result, lookup_in_replica_result> || std::is_same_v<Result, lookup_replica_list>;
// Results that identify their mutation.
template <class Result>
constexpr bool has_token =
    std::is_same_v<Result, mutation_result> || std::is_same_v<Result, counter_result> ||
    std::is_same_v<Result, mutate_in_result>;
template <class Result>
constexpr bool is_of_replicas =
    std::is_same_v<Result, get_replica_result> || std::is_same_v<Result, replica_list> ||
    std::is_same_v<Result, lookup_in_replica_result> || std::is_same_v<Result, lookup_replica_list>;

template <class Result>
std::expected<Result, error> to_result(engine::operation_result&& result, const answer_note& note) {
    if (result.ec) {
        return std::unexpected(error(
            note.paths ? in_callers_order(std::move(result.error), *note.paths)
                       : std::move(result.error)));
    }
    if constexpr (std::is_void_v<Result>) {
        return {};
    } else if constexpr (std::is_same_v<Result, lookup_in_result>) {
        return lookup_in_result{
            to_path_results(std::move(result.paths), *note.paths), cas{result.cas},
            result.is_deleted, trace_of(result)};
    } else if constexpr (std::is_same_v<Result, mutate_in_result>) {
        return mutate_in_result{
            to_path_results(std::move(result.paths), *note.paths), cas{result.cas},
            token_of(result, *note.bucket), trace_of(result)};
    } else if constexpr (std::is_same_v<Result, get_result>) {
        return get_result{
            document_bytes_access::make(std::move(result.value)), result.flags, 0, cas{result.cas},
            trace_of(result)};
    } else if constexpr (std::is_same_v<Result, mutation_result>) {
        return mutation_result{cas{result.cas}, token_of(result, *note.bucket), trace_of(result)};
    } else if constexpr (std::is_same_v<Result, counter_result>) {
        return counter_result{
            result.counter, cas{result.cas}, token_of(result, *note.bucket), trace_of(result)};
    } else {
        return exists_result{
            result.is_present, cas{result.is_present ? result.cas : 0}, trace_of(result)};
    }
}

}  // namespace

error to_error(net::refusal refused) {
    switch (refused) {
        case net::refusal::queue_full:
            return {client_errc::submission_queue_full, ""};
        case net::refusal::not_driven:
            return {client_errc::option_invalid, "the client is not driven by its callers"};
        case net::refusal::of_parent_process:
            return {client_errc::used_after_fork, "create a new client in this process"};
        case net::refusal::context_gone:
            return {client_errc::executor_gone, "create a new client on another executor"};
        case net::refusal::blocking_in_loop:
        case net::refusal::none:
            break;
    }
    return {client_errc::blocking_call_in_loop, "use the asynchronous form"};
}

namespace {

// Builds the request and records what its answer needs.
template <class Result>
std::expected<void, error> prepare_call(
    const call_target& target, const document_call& call, engine::operation_request& request,
    answer_note& note) {
    if (auto filled = fill_request(call, request); !filled) {
        return filled;
    }
    if constexpr (has_token<Result>) {
        note.bucket = target.bucket;
    }
    if constexpr (is_subdocument<Result>) {
        auto paths = add_specs(request, call);
        if (!paths) {
            return std::unexpected(std::move(paths.error()));
        }
        note.paths = std::move(*paths);
    }
    return {};
}

// Receives the result of a started call for a blocking caller.
template <class Result>
struct waiting_receiver final : result_receiver<Result> {
    std::optional<std::expected<Result, error>> result;
    std::move_only_function<void()> done;

    waiting_receiver() : result_receiver<Result>{&waiting_receiver::finish} {}
    static void finish(
        result_receiver<Result>* base, std::expected<Result, error>&& value, bool /*is_inline*/) {
        auto* self = static_cast<waiting_receiver*>(base);
        self->result = std::move(value);
        // Moves it out first, because the waiter's stack may be gone as soon as it is called.
        auto wake = std::move(self->done);
        wake();
    }
};

// Notifies the receiver. If there is nothing to remember, the completion is trivial and cheap to
// move.
template <class Result>
engine::completion make_completion(result_receiver<Result>* receiver, answer_note&& note) {
    if constexpr (has_token<Result> || is_subdocument<Result>) {
        return [receiver, kept = std::move(note)](engine::operation_result&& result) {
            receiver->complete(receiver, to_result<Result>(std::move(result), kept), false);
        };
    } else {
        return [receiver](engine::operation_result&& result) {
            receiver->complete(receiver, to_result<Result>(std::move(result), {}), false);
        };
    }
}

// Waits for a call that consists of several operations.
template <class Result>
std::expected<Result, error> await_call(
    net::client& client, const call_target& target, engine::operation_request&& request,
    answer_note&& note, read_preference preference) {
    waiting_receiver<Result> receiver;
    const auto refused = client.await([&](std::move_only_function<void()> done) {
        receiver.done = std::move(done);
        start_replica_read<Result>(
            target, std::move(request), std::move(note), preference, &receiver, 0);
    });
    if (refused != net::refusal::none) {
        return std::unexpected(to_error(refused));
    }
    return std::move(*receiver.result);
}

}  // namespace

template <class Result>
std::expected<Result, error> run_call(const call_target& target, const document_call& call) {
    engine::operation_request request;
    answer_note note;
    if (auto prepared = prepare_call<Result>(target, call, request, note); !prepared) {
        return std::unexpected(std::move(prepared.error()));
    }
    // Keeps the client alive, because a completion may release the last handle.
    const std::shared_ptr<session> held = target.client;
    if constexpr (is_of_replicas<Result>) {
        return await_call<Result>(
            held->client(), target, std::move(request), std::move(note), call.preference);
    } else {
        auto result = held->client().call(target.keyspace, std::move(request));
        if (!result) {
            return std::unexpected(to_error(result.error()));
        }
        return to_result<Result>(std::move(*result), note);
    }
}

template <class Result>
void start_call(
    const call_target& target, const document_call& call, result_receiver<Result>* receiver,
    call_ticket ticket) {
    engine::operation_request request;
    answer_note note;
    if (auto prepared = prepare_call<Result>(target, call, request, note); !prepared) {
        receiver->complete(receiver, std::unexpected(std::move(prepared.error())), true);
        return;
    }
    if constexpr (is_of_replicas<Result>) {
        start_replica_read<Result>(
            target, std::move(request), std::move(note), call.preference, receiver, ticket);
    } else {
        // Does not keep the client alive: operations end with the client, not the other way round.
        const auto refused = target.client->client().start(
            target.keyspace, std::move(request), make_completion(receiver, std::move(note)),
            ticket);
        if (refused != net::refusal::none) {
            receiver->complete(receiver, std::unexpected(to_error(refused)), true);
        }
    }
}

template std::expected<get_result, error> run_call(const call_target&, const document_call&);
template void start_call(
    const call_target&, const document_call&, result_receiver<get_result>*, call_ticket);
template std::expected<get_replica_result, error> run_call(
    const call_target&, const document_call&);
template void start_call(
    const call_target&, const document_call&, result_receiver<get_replica_result>*, call_ticket);
template std::expected<replica_list, error> run_call(const call_target&, const document_call&);
template void start_call(
    const call_target&, const document_call&, result_receiver<replica_list>*, call_ticket);
template std::expected<mutation_result, error> run_call(const call_target&, const document_call&);
template void start_call(
    const call_target&, const document_call&, result_receiver<mutation_result>*, call_ticket);
template std::expected<counter_result, error> run_call(const call_target&, const document_call&);
template void start_call(
    const call_target&, const document_call&, result_receiver<counter_result>*, call_ticket);
template std::expected<exists_result, error> run_call(const call_target&, const document_call&);
template void start_call(
    const call_target&, const document_call&, result_receiver<exists_result>*, call_ticket);
template std::expected<lookup_in_result, error> run_call(const call_target&, const document_call&);
template void start_call(
    const call_target&, const document_call&, result_receiver<lookup_in_result>*, call_ticket);
template std::expected<lookup_in_replica_result, error> run_call(
    const call_target&, const document_call&);
template void start_call(
    const call_target&, const document_call&, result_receiver<lookup_in_replica_result>*,
    call_ticket);
template std::expected<lookup_replica_list, error> run_call(
    const call_target&, const document_call&);
template void start_call(
    const call_target&, const document_call&, result_receiver<lookup_replica_list>*, call_ticket);
template std::expected<mutate_in_result, error> run_call(const call_target&, const document_call&);
template void start_call(
    const call_target&, const document_call&, result_receiver<mutate_in_result>*, call_ticket);
template std::expected<void, error> run_call(const call_target&, const document_call&);
template void start_call(
    const call_target&, const document_call&, result_receiver<void>*, call_ticket);

call_ticket reserve_ticket(const call_target& target) noexcept {
    return target.client->client().reserve_ticket();
}

void cancel_call(const std::weak_ptr<session>& client, call_ticket ticket) noexcept {
    if (const auto held = client.lock()) {
        held->client().cancel(ticket);
    }
}

}  // namespace reprise::couchbase::detail
