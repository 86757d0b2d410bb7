#pragma once

// Shared by the blocking, the token and the streaming forms of all calls. Not for users.

#include <any>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <reprise/couchbase/codec.hpp>
#include <reprise/couchbase/error.hpp>
#include <reprise/couchbase/options.hpp>
#include <reprise/couchbase/results.hpp>
#include <reprise/couchbase_types/document_request.hpp>
#include <reprise/retry/detail/compiler.hpp>

namespace reprise::couchbase::detail {

// --- parameters of the asynchronous functions ---
//
// Their type shows whether the caller passed a temporary, which GCC 12 may miscompile in a
// `co_await` expression.

// An options struct. As a template parameter with the struct as its default it also takes braced
// initialisers: `{.timeout = 1s}`.
template <class Given, class Options>
concept options_argument = std::same_as<std::remove_cvref_t<Given>, Options>;

// `{}` for options, or no options at all. A number, so that the caller's expression holds no
// temporary struct.
enum class no_options : std::uint8_t {};

// No token: stands for boost::asio::deferred, whose header only asio.hpp may include.
struct default_token {};

// A document to store. Only aggregates are destroyed twice; other temporaries are harmless.
template <class Given>
using document_argument = std::conditional_t<
    std::is_aggregate_v<std::remove_cvref_t<Given>>, Given, std::remove_cvref_t<Given>&>;

// The types of a call's arguments, as deduced from forwarding references.
template <class... Given>
struct given {};

// Starts calls through a completion token. <reprise/couchbase/asio.hpp> specialises it for all
// tokens; this one only produces the readable error, once for each call.
template <class Token, class Always = void>
struct initiation {
    static_assert(
        !std::is_void_v<Always>,
        "include <reprise/couchbase/asio.hpp> to use the asynchronous functions");

    template <class Result, auto Start, class... Arguments>
    static int call(const Arguments&...);
    template <class Result, class... Arguments>
    static int work(const Arguments&...);
    template <class Result, class... Arguments>
    static int started(const Arguments&...);
    template <class... Arguments>
    static int next_row(const Arguments&...);
    template <class... Arguments>
    static int next_document(const Arguments&...);
};

// --- operations on documents ---

class session;

// The call is refused, because its value could not be encoded.
void set_encoding_problem(document_call& call, const std::string& problem);
// Sets the value of a call, or the problem that its encoding has.
inline void set_value(document_call& call, const encoded_value& value) {
    if (!value.problem().empty()) [[unlikely]] {
        set_encoding_problem(call, value.problem());
    }
    call.value = value.bytes();
    call.flags = value.flags();
    call.is_json = !call.value.empty() && format_of(call.flags) == document_format::json;
}
// Sets the expiry, counted from now, or the problem that it has.
void set_expiry(document_call& call, const expiry& when);
// Sets how long a lock holds, as far as a server allows it.
void set_lock_time(document_call& call, std::chrono::seconds time) noexcept;

// Fills in what `options` has; every options struct fits.
template <class Options>
[[nodiscard]] document_call make_call(
    operation_kind kind, std::string_view key, const Options& options) {
    document_call call;
    call.kind = kind;
    call.key = key;
    call.timeout = options.timeout;
    if (options.strategy) {
        call.terms().strategy = options.strategy;
    }
    if (options.user_data) {
        call.terms().user_data = options.user_data;
    }
    call.outer_allowance = options.outer_allowance.get();
    if constexpr (requires { options.cas; }) {
        call.cas = options.cas.value;
    }
    if constexpr (requires { options.expiry; }) {
        if (!options.expiry.is_never()) {
            set_expiry(call, options.expiry);
        }
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
        call.creates = options.initial.has_value();
        call.initial = options.initial.value_or(0);
    }
    return call;
}

// The same for a sub-document operation.
template <class Options, class Spec>
[[nodiscard]] document_call make_call(
    operation_kind kind, std::string_view key, const Options& options, std::vector<Spec>&& specs) {
    document_call call = make_call(kind, key, options);
    std::vector<path_spec>& made = call.terms().specs;
    made.reserve(specs.size());
    for (Spec& spec : specs) {
        made.push_back(std::move(spec).release());
    }
    return call;
}

// Makes a plain get into one that reads these paths (all if there are none), and the expiry.
void add_projection(document_call& call, const std::vector<std::string>& paths, bool with_expiry);

[[nodiscard]] inline document_call make_get(std::string_view key, const get_options& options) {
    document_call call = make_call(operation_kind::get, key, options);
    if (options.with_expiry || !options.project.empty()) {
        add_projection(call, options.project, options.with_expiry);
    }
    return call;
}

// The target of a handle's calls: a client, and a collection of it by number. Cheap to copy.
struct call_target {
    std::shared_ptr<session> client;
    std::uint32_t keyspace = 0;
    std::shared_ptr<const std::string> bucket{};
};

// A target without a scope and a collection; without a bucket, the cluster itself.
[[nodiscard]] call_target make_target(
    const std::shared_ptr<session>& client, const std::string& bucket);

// Waits until the bucket, or the cluster, can be used.
[[nodiscard]] inline document_call make_ping(duration timeout) {
    document_call call;
    call.kind = operation_kind::noop;
    call.timeout = timeout;
    return call;
}

// The results of get_all_replicas and lookup_in_all_replicas.
using replica_list = std::vector<get_replica_result>;
using lookup_replica_list = std::vector<lookup_in_replica_result>;

template <class Result, class... Listed>
inline constexpr bool is_one_of = (std::is_same_v<Result, Listed> || ...);

template <class Result>
inline constexpr bool is_subdocument = is_one_of<
    Result, lookup_in_result, mutate_in_result, lookup_in_replica_result, lookup_replica_list>;
// Results that identify their mutation.
template <class Result>
inline constexpr bool has_token =
    is_one_of<Result, mutation_result, counter_result, mutate_in_result>;
template <class Result>
inline constexpr bool is_of_replicas = is_one_of<
    Result, get_replica_result, replica_list, lookup_in_replica_result, lookup_replica_list>;

// Receives the result of a started call, exactly once, from any thread. It is a callable of up to
// two words without a type, which is moved by copying its bytes: a pointer to an object that frees
// itself, or a small handler as it is.
template <class Result>
class result_receiver {
public:
    using result = std::expected<Result, error>;

    template <class Callable>
    static constexpr bool can_hold =
        std::is_trivially_copyable_v<Callable> && sizeof(Callable) <= 2 * sizeof(void*) &&
        alignof(Callable) <= alignof(void*);

    // Calls `callable(std::move(result), is_inline)`.
    template <class Callable>
        requires can_hold<Callable>
    [[nodiscard]] static result_receiver make(const Callable& callable) noexcept {
        result_receiver made;
        ::new (static_cast<void*>(made.callable_)) Callable(callable);
        made.call_ = [](const std::byte* at, result&& value, bool is_inline) {
            // A copy, because the call may destroy the receiver.
            Callable held(*std::launder(reinterpret_cast<const Callable*>(at)));
            held(std::move(value), is_inline);
        };
        return made;
    }
    // Calls `Object::finish(object, std::move(result), is_inline)`.
    template <class Object>
    [[nodiscard]] static result_receiver to(Object* object) noexcept {
        return make([object](result&& value, bool is_inline) {
            Object::finish(object, std::move(value), is_inline);
        });
    }

    // `is_inline`: called from inside `start_call`, so the handler must not run at once.
    void complete(result&& value, bool is_inline) const {
        call_(callable_, std::move(value), is_inline);
    }

private:
    result_receiver() noexcept = default;

    void (*call_)(const std::byte*, result&&, bool) = nullptr;
    alignas(void*) std::byte callable_[2 * sizeof(void*)]{};
};

// Names a call that can be canceled; 0: it cannot.
using call_ticket = std::uint64_t;

// The cancellation of a call that starts operations one after another, all with one ticket. A
// request that comes when one has ended and the next has not started finds no operation, so it is
// kept. Copies share it.
class step_cancellation {
public:
    step_cancellation() noexcept = default;  // of a call that cannot be canceled
    explicit step_cancellation(const std::shared_ptr<session>& client);

    void request() const noexcept;  // may be called from any thread
    [[nodiscard]] bool is_requested() const noexcept;
    [[nodiscard]] call_ticket ticket() const noexcept;
    // To be called after each start: ends what was started after the request.
    void apply() const noexcept;

private:
    struct shared_state;
    std::shared_ptr<shared_state> state_;
};

// Cancels a call: reads of replicas may wait for the map first.
template <class Result>
using call_cancellation =
    std::conditional_t<is_of_replicas<Result>, step_cancellation, call_ticket>;

// Blocks. Defined for the result types of all operations: get_result, get_replica_result,
// replica_list, mutation_result, counter_result, exists_result, lookup_in_result,
// lookup_in_replica_result, lookup_replica_list, mutate_in_result and void.
template <class Result>
[[nodiscard]] std::expected<Result, error> run_call(
    const call_target& target, document_call&& call);

// Does not block; copies the key and the value before it returns.
template <class Result>
void start_call(
    const call_target& target, document_call&& call, const result_receiver<Result>& receiver,
    call_cancellation<Result> cancellation);

// The same for a call of make_get: projected or plain.
[[nodiscard]] std::expected<get_result, error> run_get(
    const call_target& target, document_call&& call);
void start_get(
    const call_target& target, document_call&& call, const result_receiver<get_result>& receiver,
    call_ticket ticket);

// A fresh ticket; give it to start_call, then cancel_call may be used from any thread, also when
// the call has ended.
[[nodiscard]] call_ticket reserve_ticket(const call_target& target) noexcept;
void cancel_call(const std::weak_ptr<session>& client, call_ticket ticket) noexcept;

// The token form of a call. `Given` are the types of the user's arguments.
template <class Result, auto Start = &start_call<Result>, class Token, class... Given>
[[nodiscard]] auto initiate_call(
    given<Given...> arguments, const call_target& target, document_call&& call, Token& token) {
    return initiation<Token>::template call<Result, Start>(
        arguments, target, std::move(call), token);
}

// The token form of what `start(receiver, cancellation)` starts. `start` is copied by tokens that
// start it later.
template <class Result, class Start, class Token, class... Given>
[[nodiscard]] auto initiate(
    given<Given...> arguments, const std::shared_ptr<session>& client, Start&& start,
    Token& token) {
    return initiation<Token>::template started<Result>(
        arguments, client, std::forward<Start>(start), token);
}

// --- calls of the HTTP services ---

struct unsent_request;
class row_source;

// A request made ready, or why it cannot be sent. It is sent once: copies share it.
struct service_work {
    std::shared_ptr<session> client;
    std::shared_ptr<unsent_request> request;
};

// The bucket and scope in which names of a statement or an index are looked up; both empty: in the
// cluster.
struct service_scope {
    std::string_view bucket{};
    std::string_view scope{};
};

// The delivery of rows.
enum class row_mode : std::uint8_t { kept, streamed };

[[nodiscard]] service_work make_query_work(
    const std::shared_ptr<session>& client, service_scope in, std::string_view statement,
    const query_options& options, row_mode mode);
[[nodiscard]] service_work make_analytics_work(
    const std::shared_ptr<session>& client, service_scope in, std::string_view statement,
    const analytics_options& options, row_mode mode);
[[nodiscard]] service_work make_search_work(
    const std::shared_ptr<session>& client, service_scope in, std::string_view index,
    const search_query& query, const search_options& options, row_mode mode);
[[nodiscard]] service_work make_view_work(
    const std::shared_ptr<session>& client, std::string_view bucket, std::string_view design,
    std::string_view view, const view_options& options, row_mode mode);
[[nodiscard]] service_work make_management_work(
    const std::shared_ptr<session>& client, const management_request& request,
    const management_options& options);

// Blocks. Defined for query_result, search_result, view_result, management_response and the results
// of the managers.
template <class Result>
[[nodiscard]] std::expected<Result, error> run_work(const service_work& work);
// Does not block.
template <class Result>
void start_work(
    const service_work& work, const result_receiver<Result>& receiver, call_ticket ticket);
// The token form.
template <class Result, class Token, class... Given>
[[nodiscard]] auto initiate_work(given<Given...> arguments, service_work&& work, Token& token) {
    return initiation<Token>::template work<Result>(arguments, std::move(work), token);
}

// The rows that are here and were not read yet, for a reader that makes no call for them.
struct row_cursor {
    const std::string_view* next = nullptr;
    const std::string_view* end = nullptr;

    [[nodiscard]] bool has_row() const noexcept { return next != end; }
    [[nodiscard]] row_view take_row() noexcept { return row_view(*next++); }
};

// A request under way whose rows are read one by one.
struct row_handle {
    std::shared_ptr<session> client;
    std::shared_ptr<row_source> source;
    row_cursor* cursor = nullptr;  // in the source
};

// Starts it; the rows, or what went wrong, are read from the handle.
[[nodiscard]] std::expected<row_handle, error> open_rows(const service_work& work);
[[nodiscard]] std::expected<std::optional<row_view>, error> next_row(const row_handle& rows);
void start_next_row(
    const row_handle& rows, const result_receiver<std::optional<row_view>>& receiver);
void cancel_rows(const row_handle& rows) noexcept;
// Stops reading. If the request uses borrowed objects, waits until it has ended, unless this thread
// cannot wait for that.
void leave_rows(const row_handle& rows) noexcept;
[[nodiscard]] call_ticket ticket_of(const row_handle& rows) noexcept;
[[nodiscard]] std::size_t buffered_size_peak(const row_handle& rows) noexcept;
[[nodiscard]] const operation_trace& trace_of(const row_handle& rows) noexcept;
// The metadata, or the error that ended the rows or refused the last attempt to read one. Defined
// for query_metadata, search_metadata and view_metadata.
template <class Metadata>
[[nodiscard]] std::expected<Metadata, error> finish_rows(const row_handle& rows);

}  // namespace reprise::couchbase::detail
