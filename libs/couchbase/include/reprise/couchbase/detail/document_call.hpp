#pragma once

#include <any>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/couchbase/codec.hpp>
#include <reprise/couchbase/detail/path_spec.hpp>
#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase/operation_options.hpp>
#include <reprise/couchbase/results.hpp>
#include <reprise/couchbase/subdocument_results.hpp>

// Shared by the blocking and the token forms of a call. Not for users.

namespace reprise::couchbase::detail {

class session;

// Up to mutate_in as engine::operation_kind, in the same order.
enum class call_kind : std::uint8_t {
    get,
    get_and_touch,
    get_and_lock,
    unlock,
    touch,
    exists,
    upsert,
    insert,
    replace,
    remove,
    append,
    prepend,
    increment,
    decrement,
    lookup_in,
    mutate_in,
    get_projected,  // a lookup whose result looks like that of get; see make_get
    get_any_replica,
    get_all_replicas,
    lookup_in_any_replica,
    lookup_in_all_replicas,
    ping  // no key: waits until the bucket, or the cluster, can be used
};

// One call in plain values. Borrows key and value until it is run or started.
struct document_call {
    call_kind kind = call_kind::get;
    std::string_view key;
    std::span<const std::byte> value{};
    std::uint32_t flags = 0;
    // Not null: the value has no encoding, for this reason, and the call is refused. A pointer,
    // because calls are moved and nearly all of them have none.
    std::shared_ptr<const std::string> problem{};
    couchbase::expiry expiry{};
    bool preserve_expiry = false;
    std::uint64_t cas = 0;
    durability_level durability = durability_level::none;
    std::uint64_t delta = 1;
    std::optional<std::uint64_t> initial{};
    std::chrono::seconds lock_time{15};
    std::vector<path_spec> specs{};
    store_semantics store = store_semantics::replace;
    bool access_deleted = false;
    read_preference preference = read_preference::no_preference;
    std::optional<duration> timeout{};
    std::shared_ptr<retry_strategy> strategy{};
    std::shared_ptr<const std::any> user_data{};
    retry_allowance* outer_allowance = nullptr;
};

// For `document_call::problem`.
[[nodiscard]] inline std::shared_ptr<const std::string> problem_of(const encoded_value& value) {
    return value.problem().empty() ? nullptr : std::make_shared<const std::string>(value.problem());
}

// Fills in what `options` has; every options struct fits.
template <class Options>
[[nodiscard]] document_call make_call(
    call_kind kind, std::string_view key, const Options& options) {
    document_call call;
    call.kind = kind;
    call.key = key;
    call.timeout = options.timeout;
    call.strategy = options.strategy;
    call.user_data = options.user_data;
    call.outer_allowance = options.outer_allowance;
    if constexpr (requires { options.cas; }) {
        call.cas = options.cas.value;
    }
    if constexpr (requires { options.expiry; }) {
        call.expiry = options.expiry;
    }
    if constexpr (requires { options.preserve_expiry; }) {
        call.preserve_expiry = options.preserve_expiry;
    }
    if constexpr (requires { options.durability; }) {
        call.durability = options.durability;
    }
    if constexpr (requires { options.store; }) {
        call.store = options.store;
    }
    if constexpr (requires { options.access_deleted; }) {
        call.access_deleted = options.access_deleted;
    }
    if constexpr (requires { options.preference; }) {
        call.preference = options.preference;
    }
    if constexpr (requires { options.delta; }) {
        call.delta = options.delta;
        call.initial = options.initial;
    }
    return call;
}

// Makes a plain get into one that reads these paths (all if there are none), and the expiry.
void add_projection(document_call& call, const std::vector<std::string>& paths, bool with_expiry);

[[nodiscard]] inline document_call make_get(std::string_view key, const get_options& options) {
    document_call call = make_call(call_kind::get, key, options);
    if (options.with_expiry || !options.project.empty()) {
        add_projection(call, options.project, options.with_expiry);
    }
    return call;
}

// Where a handle's calls go: a client, and a collection of it by number. Cheap to copy.
struct call_target {
    std::shared_ptr<session> client;
    std::uint32_t keyspace = 0;
    std::shared_ptr<const std::string> bucket{};
};

// A target without a scope and a collection; without a bucket, the cluster itself.
[[nodiscard]] call_target make_target(
    const std::shared_ptr<session>& client, const std::string& bucket);

[[nodiscard]] inline document_call make_ping(duration timeout) {
    document_call call;
    call.kind = call_kind::ping;
    call.timeout = timeout;
    return call;
}

// Receives the result of a started call, exactly once, from any thread. Lives in memory of the
// starter and frees itself in `complete`.
template <class Result>
struct result_receiver {
    // `is_inline`: called from inside `start_call`, so the handler must not run at once.
    using function =
        void (*)(result_receiver* self, std::expected<Result, error>&& result, bool is_inline);
    function complete = nullptr;
};

// Names a call that can be canceled; 0: it cannot.
using call_ticket = std::uint64_t;

// The results of get_all_replicas and lookup_in_all_replicas.
using replica_list = std::vector<get_replica_result>;
using lookup_replica_list = std::vector<lookup_in_replica_result>;

// Blocks. Defined for the result types of all operations: get_result, get_replica_result,
// replica_list, mutation_result, counter_result, exists_result, lookup_in_result,
// lookup_in_replica_result, lookup_replica_list, mutate_in_result and void.
template <class Result>
[[nodiscard]] std::expected<Result, error> run_call(
    const call_target& target, const document_call& call);

// Does not block; copies what it needs of the call before it returns.
template <class Result>
void start_call(
    const call_target& target, const document_call& call, result_receiver<Result>* receiver,
    call_ticket ticket);

// The same for a call of make_get: projected or plain.
[[nodiscard]] std::expected<get_result, error> run_get(
    const call_target& target, const document_call& call);
void start_get(
    const call_target& target, const document_call& call, result_receiver<get_result>* receiver,
    call_ticket ticket);

// A fresh ticket; give it to start_call, then cancel_call may be used from any thread, also when
// the call has ended.
[[nodiscard]] call_ticket reserve_ticket(const call_target& target) noexcept;
void cancel_call(const std::weak_ptr<session>& client, call_ticket ticket) noexcept;

}  // namespace reprise::couchbase::detail
