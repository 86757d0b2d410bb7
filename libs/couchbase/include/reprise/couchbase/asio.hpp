#pragma once

/// The asynchronous forms of all operations, and a client on your own executor. This is the only
/// public header of the client that includes Boost.
///
/// Options and completion token of an asynchronous function may be left out. The default token is
/// boost::asio::deferred: the result of `async_get("k")` starts nothing until you await it in a
/// coroutine or call it with another token, once.

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/recycling_allocator.hpp>
#include <boost/asio/system_executor.hpp>

#include <reprise/couchbase/cluster.hpp>
#include <reprise/couchbase/collection.hpp>
#include <reprise/couchbase/detail/calls.hpp>
#include <reprise/couchbase/management.hpp>
#include <reprise/couchbase/streams.hpp>

namespace reprise::couchbase {

/// Connects as cluster::connect does and runs the client on `executor`, without a thread of its
/// own. Several threads may run the executor; one at a time runs the client. Stop the executor's
/// context before you destroy it; client and handles may live longer. Operations that are left
/// complete with errc::request_canceled when the context is destroyed, and later ones fail with
/// errc::executor_gone. Fails with errc::option_invalid for
/// thread_mode::caller_drives. Blocking calls work on threads that do not run the executor; on the
/// threads of its io_context or thread pool they fail with errc::blocking_call_in_loop.
[[nodiscard]] std::expected<cluster, error> connect(
    const boost::asio::any_io_executor& executor, std::string_view connection_string,
    const cluster_options& options = {});

namespace detail {

// A call that is about to start. It borrows everything from the asynchronous function that it is
// an argument of. A token that starts it later, like `deferred`, moves or copies it, and what it is
// moved or copied to owns everything.
class stored_call {
public:
    stored_call(const call_target& target, document_call& call) noexcept
        : target_(&target), call_(&call) {}
    stored_call(const stored_call& other) { own(*other.target_, document_call(*other.call_)); }
    // NOLINTNEXTLINE(performance-noexcept-move-constructor): it copies what the other one borrows
    stored_call(stored_call&& other) { own(*other.target_, std::move(*other.call_)); }
    stored_call& operator=(const stored_call&) = delete;
    stored_call& operator=(stored_call&&) = delete;
    ~stored_call() = default;

    [[nodiscard]] const call_target& target() const noexcept { return *target_; }
    [[nodiscard]] document_call&& release() noexcept { return std::move(*call_); }

private:
    struct owned {
        call_target target;
        document_call call;
        std::string key;
        std::string value;
    };

    void own(const call_target& target, document_call&& call) {
        const auto* const value = reinterpret_cast<const char*>(call.value.data());
        std::string key(call.key);
        std::string bytes(value, call.value.size());
        owned_.emplace(target, std::move(call), std::move(key), std::move(bytes));
        owned_->call.key = owned_->key;
        owned_->call.value = std::as_bytes(std::span{owned_->value});
        target_ = &owned_->target;
        call_ = &owned_->call;
    }

    const call_target* target_ = nullptr;
    document_call* call_ = nullptr;
    std::optional<owned> owned_{};
};

// Calls handlers with the result of their call.
template <class Handler, class Result>
struct handler_call {
    using executor_type = boost::asio::associated_executor_t<Handler>;
    using allocator_type =
        boost::asio::associated_allocator_t<Handler, boost::asio::recycling_allocator<void>>;

    // Runs the handler on `executor`: at once if that is possible, unless the start of the call is
    // still running (`is_inline`).
    static void deliver(
        Handler&& handler, const executor_type& executor, const allocator_type& allocator,
        std::expected<Result, error>&& result, bool is_inline) {
        // The system's executor, which a handler without one has, runs what is dispatched to it
        // at once. So the result need not be moved.
        constexpr bool is_run_here = std::is_same_v<executor_type, boost::asio::system_executor>;
        if (is_run_here && !is_inline) {
            call_here(handler, std::move(result));
        } else {
            submit(std::move(handler), executor, allocator, std::move(result), is_inline);
        }
    }

    [[nodiscard]] static allocator_type allocator_of(const Handler& handler) noexcept {
        return boost::asio::get_associated_allocator(
            handler, boost::asio::recycling_allocator<void>());
    }

private:
    static void submit(
        Handler&& handler, const executor_type& executor, const allocator_type& allocator,
        std::expected<Result, error>&& result, bool is_inline) {
        auto later = boost::asio::bind_allocator(
            allocator, [handler = std::move(handler), result = std::move(result)]() mutable {
                call(handler, std::move(result));
            });
        if (is_inline) {
            boost::asio::post(executor, std::move(later));
        } else {
            boost::asio::dispatch(executor, std::move(later));
        }
    }

    static void call(Handler& handler, std::expected<Result, error>&& result) {
        // A later signal must find no operation. The slot is cleared here and not earlier since it
        // belongs to the handler's executor.
        if (auto slot = boost::asio::get_associated_cancellation_slot(handler);
            slot.is_connected()) {
            slot.clear();
        }
        std::move(handler)(std::move(result));
    }

    // An exception ends the program, as in that executor.
    static void call_here(Handler& handler, std::expected<Result, error>&& result) noexcept {
        call(handler, std::move(result));
    }
};

// Holds the handler while the call is running, in memory of the handler's allocator, and keeps the
// handler's executor busy so that its context does not run out of work.
template <class Handler, class Result>
class handler_memory {
    using calls = handler_call<Handler, Result>;
    using own_traits = typename std::allocator_traits<
        typename calls::allocator_type>::template rebind_traits<handler_memory>;
    using own_allocator = typename own_traits::allocator_type;

public:
    [[nodiscard]] static handler_memory* make(Handler&& handler) {
        own_allocator allocator(calls::allocator_of(handler));
        handler_memory* memory = own_traits::allocate(allocator, 1);
        return ::new (static_cast<void*>(memory)) handler_memory(std::move(handler));
    }

    static void finish(
        handler_memory* self, std::expected<Result, error>&& result, bool is_inline) {
        Handler handler(std::move(self->handler_));
        const auto work = std::move(self->work_);
        const auto allocator = calls::allocator_of(handler);
        own_allocator own(allocator);
        self->~handler_memory();
        own_traits::deallocate(own, self, 1);
        calls::deliver(
            std::move(handler), work.get_executor(), allocator, std::move(result), is_inline);
    }

private:
    explicit handler_memory(Handler&& handler)
        : handler_(std::move(handler)),
          work_(boost::asio::make_work_guard(boost::asio::get_associated_executor(handler_))) {}

    Handler handler_;
    boost::asio::executor_work_guard<typename calls::executor_type> work_;
};

// A handler of a few plain bytes that names neither an executor nor an allocator. The receiver
// itself holds it.
template <class Handler, class Result>
struct kept_handler {
    using calls = handler_call<Handler, Result>;
    static constexpr bool is_possible =
        result_receiver<Result>::template can_hold<Handler> &&
        std::is_same_v<typename calls::executor_type, boost::asio::system_executor> &&
        std::is_same_v<typename calls::allocator_type, boost::asio::recycling_allocator<void>>;

    void operator()(std::expected<Result, error>&& result, bool is_inline) {
        calls::deliver(std::move(handler), {}, {}, std::move(result), is_inline);
    }

    Handler handler;
};

template <class Result, class Handler>
[[nodiscard]] result_receiver<Result> make_receiver(Handler&& handler) {
    using stored = std::decay_t<Handler>;
    if constexpr (kept_handler<stored, Result>::is_possible) {
        return result_receiver<Result>::make(kept_handler<stored, Result>{handler});
    } else {
        return result_receiver<Result>::to(
            handler_memory<stored, Result>::make(stored(std::forward<Handler>(handler))));
    }
}

// Connects the handler's cancellation slot, if it has one, with the function that `make_cancel`
// returns. Must be called before the start: afterwards the handler may have run already.
template <class Handler, class MakeCancel>
void assign_cancellation(Handler& handler, const MakeCancel& make_cancel) {
    if (auto slot = boost::asio::get_associated_cancellation_slot(handler); slot.is_connected()) {
        slot.assign([cancel = make_cancel()](boost::asio::cancellation_type type) mutable {
            if (type != boost::asio::cancellation_type::none) {
                cancel();
            }
        });
    }
}

// The same for a call that is started with the returned ticket; 0 if it cannot be canceled.
template <class Handler>
[[nodiscard]] call_ticket assign_ticket(Handler& handler, const call_target& target) {
    call_ticket ticket = 0;
    assign_cancellation(handler, [&] {
        ticket = reserve_ticket(target);
        return [client = std::weak_ptr(target.client), ticket] { cancel_call(client, ticket); };
    });
    return ticket;
}

// The same for a call that starts operations one after another.
template <class Handler>
[[nodiscard]] step_cancellation assign_steps(
    Handler& handler, const std::shared_ptr<session>& client) {
    step_cancellation cancellation;
    assign_cancellation(handler, [&] {
        cancellation = step_cancellation(client);
        return [cancellation] { cancellation.request(); };
    });
    return cancellation;
}

template <class Result, auto Start = &start_call<Result>>
struct start_stored_call {
    template <class Handler>
    void operator()(Handler&& handler, stored_call&& stored) const {
        call_cancellation<Result> cancellation{};
        if constexpr (is_of_replicas<Result>) {
            cancellation = assign_steps(handler, stored.target().client);
        } else {
            cancellation = assign_ticket(handler, stored.target());
        }
        Start(
            stored.target(), stored.release(),
            make_receiver<Result>(std::forward<Handler>(handler)), std::move(cancellation));
    }
};

template <class Result>
struct start_stored_work {
    template <class Handler>
    void operator()(Handler&& handler, const service_work& work) const {
        const call_ticket ticket = assign_ticket(handler, {work.client, 0, {}});
        start_work<Result>(work, make_receiver<Result>(std::forward<Handler>(handler)), ticket);
    }
};

struct start_stored_next {
    template <class Handler>
    void operator()(Handler&& handler, const row_handle& rows) const {
        assign_cancellation(handler, [&] {
            return [client = std::weak_ptr(rows.client), ticket = ticket_of(rows)] {
                cancel_call(client, ticket);
            };
        });
        start_next_row(
            rows, make_receiver<std::optional<row_view>>(std::forward<Handler>(handler)));
    }
};

struct start_stored_document {
    template <class Handler>
    void operator()(Handler&& handler, const scan_handle& scan) const {
        assign_cancellation(handler, [&] { return make_cancel(scan); });
        start_next_document(
            scan, make_receiver<std::optional<scanned_document>>(std::forward<Handler>(handler)));
    }
};

// Results of a token form that are meant for a `co_await` expression.
template <class Initiated>
inline constexpr bool is_awaited = requires(const Initiated& initiated) {
    initiated.await_ready();
} || boost::asio::is_deferred<Initiated>::value;

// Calls without a token are deferred: they start when they are awaited or given a token.
template <class Token>
using chosen_token = std::conditional_t<
    std::is_same_v<std::remove_cvref_t<Token>, default_token>, boost::asio::deferred_t, Token>;
template <class Token>
[[nodiscard]] auto& choose_token(Token& token) noexcept {
    if constexpr (std::is_same_v<std::remove_cvref_t<Token>, default_token>) {
        static boost::asio::deferred_t deferred;
        return deferred;
    } else {
        return token;
    }
}

// Starts what `start(receiver, cancellation)` starts.
template <class Result, class Start>
struct start_stored {
    template <class Handler>
    void operator()(
        Handler&& handler, const std::shared_ptr<session>& client, const Start& start) const {
        const step_cancellation cancellation = assign_steps(handler, client);
        start(make_receiver<Result>(std::forward<Handler>(handler)), cancellation);
    }
};

// The definition for every token: what programs get that include this header.
template <class Token>
struct initiation<Token, void> {
    template <class Result, auto Start, class... Given>
    static auto call(
        given<Given...>, const call_target& target, document_call&& call, Token& token) {
        stored_call stored(target, call);
        return begin<Result, Given...>(
            start_stored_call<Result, Start>{}, token, std::move(stored));
    }
    template <class Result, class... Given>
    static auto work(given<Given...>, service_work&& work, Token& token) {
        return begin<Result, Given...>(start_stored_work<Result>{}, token, std::move(work));
    }
    template <class Result, class Start, class... Given>
    static auto started(
        given<Given...>, const std::shared_ptr<session>& client, Start&& start, Token& token) {
        return begin<Result, Given...>(
            start_stored<Result, std::decay_t<Start>>{}, token, std::shared_ptr<session>(client),
            std::decay_t<Start>(std::forward<Start>(start)));
    }
    static auto next_row(row_handle& rows, Token& token) {
        return begin<std::optional<row_view>>(start_stored_next{}, token, rows);
    }
    static auto next_document(scan_handle& scan, Token& token) {
        return begin<std::optional<scanned_document>>(start_stored_document{}, token, scan);
    }

private:
    template <class Result, class... Given, class Start, class... What>
    static auto begin(Start start, Token& token, What&&... what) {
        using signature = void(std::expected<Result, error>);
        using initiated = decltype(boost::asio::async_initiate<chosen_token<Token>, signature>(
            std::move(start), choose_token(token), std::forward<What>(what)...));
        reprise::detail::check_co_await_arguments<is_awaited<initiated>, Given...>();
        return boost::asio::async_initiate<chosen_token<Token>, signature>(
            std::move(start), choose_token(token), std::forward<What>(what)...);
    }
};

}  // namespace detail

}  // namespace reprise::couchbase
