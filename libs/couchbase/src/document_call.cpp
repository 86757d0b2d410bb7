#include <reprise/couchbase/detail/calls.hpp>

#include <algorithm>
#include <functional>
#include <utility>
#include <variant>

#include <reprise/engine/operation_request.hpp>
#include <reprise/engine/operation_result.hpp>
#include <reprise/wire/document_messages.hpp>
#include <reprise/wire/expiry.hpp>

#include "replica_read.hpp"
#include "session.hpp"
#include "subdocument_call.hpp"

namespace reprise::couchbase::detail {
namespace {

void refuse(document_call& call, errc code, std::string detail) {
    auto info = std::make_shared<error_info>();
    info->code = code;
    info->detail = std::move(detail);
    call.problem = std::move(info);
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
void fill_result(Result& to, engine::operation_result& from, const note_for<Result>& note) {
    to.cas = cas{from.cas};
    to.trace = {from.retry_attempts, std::move(from.history)};
    if constexpr (has_token<Result>) {
        to.token = token_of(from, *note.bucket);
    }
    if constexpr (is_subdocument<Result>) {
        to.paths = to_path_results(std::move(from.paths), *note.paths);
    }
    if constexpr (std::is_same_v<Result, get_result>) {
        document_bytes_access::slice_of(to.content) = std::move(from.value);
        to.flags = from.flags;
    } else if constexpr (std::is_same_v<Result, counter_result>) {
        to.value = from.counter;
    } else if constexpr (std::is_same_v<Result, lookup_in_result>) {
        to.is_deleted = from.is_deleted;
    } else if constexpr (std::is_same_v<Result, exists_result>) {
        to.exists = from.is_present;
        to.cas = cas{from.is_present ? from.cas : 0};
    }
}

// The result is filled where it is returned, because moving it costs more than filling it.
template <class Result>
std::expected<Result, error> to_result(
    engine::operation_result&& result, const note_for<Result>& note) {
    std::expected<Result, error> made;
    if (result.ec) [[unlikely]] {
        if constexpr (is_subdocument<Result>) {
            result.error = in_callers_order(std::move(result.error), *note.paths);
        }
        made = std::unexpected(error(std::move(result.error)));
    } else if constexpr (!std::is_void_v<Result>) {
        fill_result(*made, result, note);
    }
    return made;
}

}  // namespace

void set_value(document_call& call, const encoded_value& value) {
    if (!value.problem().empty()) [[unlikely]] {
        refuse(call, errc::encoding_failure, value.problem());
    }
    call.value = value.bytes();
    call.flags = value.flags();
    call.is_json = !call.value.empty() && format_of(call.flags) == document_format::json;
}

void set_expiry(document_call& call, const expiry& when) {
    const auto encoded = std::visit(
        [](auto value) {
            if constexpr (std::is_same_v<decltype(value), std::chrono::seconds>) {
                return wire::encode_expiry(value, net::wall_clock_now());
            } else {
                return wire::encode_expiry(value);
            }
        },
        when.value());
    if (encoded) {
        call.expiry = *encoded;
    } else {
        refuse(
            call, errc::invalid_argument,
            "expiry: " + std::string(wire::to_string(encoded.error())));
    }
}

void set_lock_time(document_call& call, std::chrono::seconds time) noexcept {
    call.lock_seconds =
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(time.count(), 0, 0xffff));
}

error to_error(net::refusal refused) {
    switch (refused) {
        case net::refusal::queue_full:
            return {errc::submission_queue_full, ""};
        case net::refusal::not_driven:
            return {errc::option_invalid, "the client is not driven by its callers"};
        case net::refusal::of_parent_process:
            return {errc::used_after_fork, "create a new client in this process"};
        case net::refusal::context_gone:
            return {errc::executor_gone, "create a new client on another executor"};
        case net::refusal::blocking_in_loop:
        case net::refusal::none:
            break;
    }
    return {errc::blocking_call_in_loop, "use the asynchronous form"};
}

namespace {

// Checks the call and records what its answer needs.
template <class Result>
std::expected<void, error> prepare_call(
    const call_target& target, document_call& call, note_for<Result>& note) {
    if (call.problem) [[unlikely]] {
        return std::unexpected(error(call.problem));
    }
    if constexpr (has_token<Result>) {
        note.bucket = target.bucket;
    }
    if constexpr (is_subdocument<Result>) {
        auto paths = arrange_specs(call);
        if (!paths) {
            return std::unexpected(std::move(paths.error()));
        }
        note.paths = std::move(*paths);
    }
    return {};
}

// A read of several copies keeps its request.
engine::operation_request make_request(document_call&& call) {
    engine::operation_request request({}, call);
    request.copy_text(call);
    return request;
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

// Notifies the receiver.
template <class Result>
engine::completion make_completion(result_receiver<Result>* receiver) {
    return [receiver](engine::operation_result&& result) {
        receiver->complete(receiver, to_result<Result>(std::move(result), receiver->note), false);
    };
}

// Waits for a call that consists of several operations.
template <class Result>
std::expected<Result, error> await_call(
    net::client& client, const call_target& target, engine::operation_request&& request,
    answer_note&& note) {
    waiting_receiver<Result> receiver;
    const auto refused = client.await([&](std::move_only_function<void()> done) {
        receiver.done = std::move(done);
        start_replica_read<Result>(target, std::move(request), std::move(note), &receiver, 0);
    });
    if (refused != net::refusal::none) {
        return std::unexpected(to_error(refused));
    }
    return std::move(*receiver.result);
}

}  // namespace

template <class Result>
std::expected<Result, error> run_call(const call_target& target, document_call&& call) {
    note_for<Result> note;
    if (auto prepared = prepare_call<Result>(target, call, note); !prepared) {
        return std::unexpected(std::move(prepared.error()));
    }
    // Keeps the client alive, because a completion may release the last handle.
    const std::shared_ptr<session> held = target.client;
    if constexpr (is_of_replicas<Result>) {
        return await_call<Result>(
            held->client(), target, make_request(std::move(call)), std::move(note));
    } else {
        auto result = held->client().call(target.keyspace, std::move(call));
        if (!result) {
            return std::unexpected(to_error(result.error()));
        }
        return to_result<Result>(std::move(*result), note);
    }
}

template <class Result>
void start_call(
    const call_target& target, document_call&& call, result_receiver<Result>* receiver,
    call_ticket ticket) {
    if (auto prepared = prepare_call<Result>(target, call, receiver->note); !prepared) {
        receiver->complete(receiver, std::unexpected(std::move(prepared.error())), true);
        return;
    }
    if constexpr (is_of_replicas<Result>) {
        start_replica_read<Result>(
            target, make_request(std::move(call)), std::move(receiver->note), receiver, ticket);
    } else {
        // Holds nothing: operations end with the client, not the other way round.
        const auto refused = target.client->client().start(
            target.keyspace, std::move(call), make_completion(receiver), ticket);
        if (refused != net::refusal::none) {
            receiver->complete(receiver, std::unexpected(to_error(refused)), true);
        }
    }
}

template std::expected<get_result, error> run_call(const call_target&, document_call&&);
template void start_call(
    const call_target&, document_call&&, result_receiver<get_result>*, call_ticket);
template std::expected<get_replica_result, error> run_call(const call_target&, document_call&&);
template void start_call(
    const call_target&, document_call&&, result_receiver<get_replica_result>*, call_ticket);
template std::expected<replica_list, error> run_call(const call_target&, document_call&&);
template void start_call(
    const call_target&, document_call&&, result_receiver<replica_list>*, call_ticket);
template std::expected<mutation_result, error> run_call(const call_target&, document_call&&);
template void start_call(
    const call_target&, document_call&&, result_receiver<mutation_result>*, call_ticket);
template std::expected<counter_result, error> run_call(const call_target&, document_call&&);
template void start_call(
    const call_target&, document_call&&, result_receiver<counter_result>*, call_ticket);
template std::expected<exists_result, error> run_call(const call_target&, document_call&&);
template void start_call(
    const call_target&, document_call&&, result_receiver<exists_result>*, call_ticket);
template std::expected<lookup_in_result, error> run_call(const call_target&, document_call&&);
template void start_call(
    const call_target&, document_call&&, result_receiver<lookup_in_result>*, call_ticket);
template std::expected<lookup_in_replica_result, error> run_call(
    const call_target&, document_call&&);
template void start_call(
    const call_target&, document_call&&, result_receiver<lookup_in_replica_result>*, call_ticket);
template std::expected<lookup_replica_list, error> run_call(const call_target&, document_call&&);
template void start_call(
    const call_target&, document_call&&, result_receiver<lookup_replica_list>*, call_ticket);
template std::expected<mutate_in_result, error> run_call(const call_target&, document_call&&);
template void start_call(
    const call_target&, document_call&&, result_receiver<mutate_in_result>*, call_ticket);
template std::expected<void, error> run_call(const call_target&, document_call&&);
template void start_call(const call_target&, document_call&&, result_receiver<void>*, call_ticket);

call_ticket reserve_ticket(const call_target& target) noexcept {
    return target.client->client().reserve_ticket();
}

void cancel_call(const std::weak_ptr<session>& client, call_ticket ticket) noexcept {
    if (const auto held = client.lock()) {
        held->client().cancel(ticket);
    }
}

}  // namespace reprise::couchbase::detail
