#include <reprise/couchbase/detail/calls.hpp>

#include <algorithm>
#include <atomic>
#include <expected>
#include <functional>
#include <optional>
#include <type_traits>
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

std::optional<mutation_token> token_of(const engine::operation_result& result) {
    if (!result.token) {
        return std::nullopt;
    }
    return mutation_token{
        *result.bucket, result.vbucket.value, result.token->vbucket_uuid, result.token->seqno};
}

// Fields are assigned one by one: for a list of initialisers GCC would clear the whole result
// first. `paths` is null unless the call was a sub-document operation.
template <class Result>
Result make_result(engine::operation_result& from, const path_note* paths) {
    Result made;
    made.cas = cas{from.cas};
    made.trace.retry_attempts = from.retry_attempts;
    made.trace.history = std::move(from.history);
    if constexpr (has_token<Result>) {
        made.token = token_of(from);
    }
    if constexpr (is_subdocument<Result>) {
        made.paths = to_path_results(std::move(from.paths), *paths);
    }
    if constexpr (std::is_same_v<Result, get_result>) {
        document_bytes_access::slice_of(made.content) = std::move(from.value);
        made.flags = from.flags;
    } else if constexpr (std::is_same_v<Result, counter_result>) {
        made.value = from.counter;
    } else if constexpr (std::is_same_v<Result, lookup_in_result>) {
        made.is_deleted = from.is_deleted;
    } else if constexpr (std::is_same_v<Result, exists_result>) {
        made.exists = from.is_present;
        made.cas = cas{from.is_present ? from.cas : 0};
    }
    return made;
}

// Makes a value where it is needed, because moving a result costs more than filling it.
template <class Make>
struct made_in_place {
    Make make;
    // NOLINTNEXTLINE(google-explicit-constructor): converted by the constructor of an expected
    operator std::invoke_result_t<const Make&>() const { return make(); }
};

template <class Result>
std::expected<Result, error> to_result(engine::operation_result&& result, const path_note* paths) {
    if (result.ec) [[unlikely]] {
        if constexpr (is_subdocument<Result>) {
            result.error = in_callers_order(std::move(result.error), *paths);
        }
        return std::unexpected(error(std::move(result.error)));
    }
    if constexpr (std::is_void_v<Result>) {
        return {};
    } else {
        return std::expected<Result, error>(
            std::in_place, made_in_place{[&] { return make_result<Result>(result, paths); }});
    }
}

}  // namespace

void set_encoding_problem(document_call& call, const std::string& problem) {
    refuse(call, errc::encoding_failure, problem);
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

// Takes the place of path_note_ptr in calls that are not sub-document operations.
struct no_paths {
    [[nodiscard]] static const path_note* get() noexcept { return nullptr; }
    // NOLINTNEXTLINE(google-explicit-constructor): stands for an empty pointer
    operator path_note_ptr() const noexcept { return nullptr; }
};
template <class Result>
using paths_of = std::conditional_t<is_subdocument<Result>, path_note_ptr, no_paths>;

// Checks the call, and notes the paths of a sub-document operation.
template <class Result>
std::expected<void, error> prepare_call(
    document_call& call, [[maybe_unused]] paths_of<Result>& paths) {
    if (call.problem) [[unlikely]] {
        return std::unexpected(error(call.problem));
    }
    if constexpr (is_subdocument<Result>) {
        auto arranged = arrange_specs(call);
        if (!arranged) {
            return std::unexpected(std::move(arranged.error()));
        }
        paths = std::move(*arranged);
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
struct waiting_receiver {
    std::optional<std::expected<Result, error>> result;
    std::move_only_function<void()> done;

    static void finish(
        waiting_receiver* self, std::expected<Result, error>&& value, bool /*is_inline*/) {
        self->result = std::move(value);
        // Moves it out first, because the waiter's stack may be gone as soon as it is called.
        auto wake = std::move(self->done);
        wake();
    }
};

// Notifies the receiver.
template <class Result>
engine::completion make_completion(
    const result_receiver<Result>& receiver, [[maybe_unused]] paths_of<Result>&& paths) {
    if constexpr (is_subdocument<Result>) {
        return [receiver, paths = std::move(paths)](engine::operation_result&& result) {
            receiver.complete(to_result<Result>(std::move(result), paths.get()), false);
        };
    } else {
        return [receiver](engine::operation_result&& result) {
            receiver.complete(to_result<Result>(std::move(result), nullptr), false);
        };
    }
}

// Waits for a call that consists of several operations.
template <class Result>
std::expected<Result, error> await_call(
    net::client& client, const call_target& target, engine::operation_request&& request,
    path_note_ptr&& paths) {
    waiting_receiver<Result> receiver;
    const auto refused = client.await([&](std::move_only_function<void()> done) {
        receiver.done = std::move(done);
        start_replica_read<Result>(
            target, std::move(request), std::move(paths), result_receiver<Result>::to(&receiver),
            {});
    });
    if (refused != net::refusal::none) {
        return std::unexpected(to_error(refused));
    }
    return std::move(*receiver.result);
}

}  // namespace

template <class Result>
std::expected<Result, error> run_call(const call_target& target, document_call&& call) {
    paths_of<Result> paths;
    if (auto prepared = prepare_call<Result>(call, paths); !prepared) {
        return std::unexpected(std::move(prepared.error()));
    }
    // Keeps the client alive, because a completion may release the last handle.
    const std::shared_ptr<session> held = target.client;
    if constexpr (is_of_replicas<Result>) {
        return await_call<Result>(
            held->client(), target, make_request(std::move(call)), std::move(paths));
    } else {
        auto result = held->client().call(target.keyspace, std::move(call));
        if (!result) {
            return std::unexpected(to_error(result.error()));
        }
        return to_result<Result>(std::move(*result), paths.get());
    }
}

template <class Result>
void start_call(
    const call_target& target, document_call&& call, const result_receiver<Result>& receiver,
    call_cancellation<Result> cancellation) {
    paths_of<Result> paths;
    if (auto prepared = prepare_call<Result>(call, paths); !prepared) {
        receiver.complete(std::unexpected(std::move(prepared.error())), true);
        return;
    }
    if constexpr (is_of_replicas<Result>) {
        start_replica_read<Result>(
            target, make_request(std::move(call)), std::move(paths), receiver,
            std::move(cancellation));
    } else {
        // Holds nothing: operations end with the client, not the other way round.
        const auto refused = target.client->client().start(
            target.keyspace, std::move(call), make_completion(receiver, std::move(paths)),
            cancellation);
        if (refused != net::refusal::none) {
            receiver.complete(std::unexpected(to_error(refused)), true);
        }
    }
}

template std::expected<get_result, error> run_call(const call_target&, document_call&&);
template void start_call(
    const call_target&, document_call&&, const result_receiver<get_result>&, call_ticket);
template std::expected<get_replica_result, error> run_call(const call_target&, document_call&&);
template void start_call(
    const call_target&, document_call&&, const result_receiver<get_replica_result>&,
    step_cancellation);
template std::expected<replica_list, error> run_call(const call_target&, document_call&&);
template void start_call(
    const call_target&, document_call&&, const result_receiver<replica_list>&, step_cancellation);
template std::expected<mutation_result, error> run_call(const call_target&, document_call&&);
template void start_call(
    const call_target&, document_call&&, const result_receiver<mutation_result>&, call_ticket);
template std::expected<counter_result, error> run_call(const call_target&, document_call&&);
template void start_call(
    const call_target&, document_call&&, const result_receiver<counter_result>&, call_ticket);
template std::expected<exists_result, error> run_call(const call_target&, document_call&&);
template void start_call(
    const call_target&, document_call&&, const result_receiver<exists_result>&, call_ticket);
template std::expected<lookup_in_result, error> run_call(const call_target&, document_call&&);
template void start_call(
    const call_target&, document_call&&, const result_receiver<lookup_in_result>&, call_ticket);
template std::expected<lookup_in_replica_result, error> run_call(
    const call_target&, document_call&&);
template void start_call(
    const call_target&, document_call&&, const result_receiver<lookup_in_replica_result>&,
    step_cancellation);
template std::expected<lookup_replica_list, error> run_call(const call_target&, document_call&&);
template void start_call(
    const call_target&, document_call&&, const result_receiver<lookup_replica_list>&,
    step_cancellation);
template std::expected<mutate_in_result, error> run_call(const call_target&, document_call&&);
template void start_call(
    const call_target&, document_call&&, const result_receiver<mutate_in_result>&, call_ticket);
template std::expected<void, error> run_call(const call_target&, document_call&&);
template void start_call(
    const call_target&, document_call&&, const result_receiver<void>&, call_ticket);

call_ticket reserve_ticket(const call_target& target) noexcept {
    return target.client->client().reserve_ticket();
}

void cancel_call(const std::weak_ptr<session>& client, call_ticket ticket) noexcept {
    if (const auto held = client.lock()) {
        held->client().cancel(ticket);
    }
}

struct step_cancellation::shared_state {
    explicit shared_state(const std::shared_ptr<session>& of)
        : client(of), ticket(of->client().reserve_ticket()) {}

    const std::weak_ptr<session> client;
    const call_ticket ticket;
    std::atomic<bool> is_requested{false};
};

step_cancellation::step_cancellation(const std::shared_ptr<session>& client)
    : state_(std::make_shared<shared_state>(client)) {}

// The thread that starts an operation checks the flag afterwards, so one of the two cancels it.
void step_cancellation::request() const noexcept {
    if (state_ != nullptr) {
        state_->is_requested = true;
        cancel_call(state_->client, state_->ticket);
    }
}

bool step_cancellation::is_requested() const noexcept {
    return state_ != nullptr && state_->is_requested;
}

call_ticket step_cancellation::ticket() const noexcept {
    return state_ == nullptr ? 0 : state_->ticket;
}

void step_cancellation::apply() const noexcept {
    if (is_requested()) {
        cancel_call(state_->client, state_->ticket);
    }
}

}  // namespace reprise::couchbase::detail
