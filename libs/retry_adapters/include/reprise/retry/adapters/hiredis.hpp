#pragma once

/// Redis through hiredis: a connection that reconnects and follows redirections, and commands as
/// operations that `reprise::retry` repeats.
/// ```
///     reprise::adapters::redis_connection redis({"127.0.0.1", ...});
///     ...
///     const auto name = reprise::retry(strategy, options, [&](const reprise::attempt& current) {
///         return redis.command(current, {"GET", "name"});
///     });
/// ```

#if defined(_WIN32)
#error "this adapter waits with POSIX calls and does not support Windows"
#endif

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hiredis/hiredis.h>

#include <reprise/retry/adapters/redis_reply.hpp>
#include <reprise/retry/call_options.hpp>
#include <reprise/retry/failure_facts.hpp>

namespace reprise::adapters {

/// A failed command or connection. It has facts for the retry loops.
class redis_error : public std::runtime_error, public failure_description {
public:
    redis_error(const std::string& message, failure_facts facts, bool is_unknown)
        : std::runtime_error(message), facts_(facts), is_unknown_(is_unknown) {}

    /// The command may have been executed, although its answer was lost.
    [[nodiscard]] bool is_unknown() const noexcept { return is_unknown_; }
    [[nodiscard]] failure_facts retry_facts() const noexcept override { return facts_; }

private:
    failure_facts facts_;
    bool is_unknown_;
};

/// Releases what hiredis returned.
struct redis_reply_deleter {
    void operator()(redisReply* reply) const noexcept { freeReplyObject(reply); }
};
/// An answer that is not an error.
using redis_reply = std::unique_ptr<redisReply, redis_reply_deleter>;

namespace detail {

/// hiredis writes without MSG_NOSIGNAL. While one exists, this thread gets an error and no SIGPIPE,
/// which by default ends the program, if the server closes the connection.
class sigpipe_block {
public:
    sigpipe_block() noexcept {
        sigemptyset(&pipe_);
        sigaddset(&pipe_, SIGPIPE);
        was_pending_ = is_pending();
        pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
    }
    ~sigpipe_block() {
        const int error = errno;
        if (!was_pending_ && is_pending()) {
#if defined(_POSIX_REALTIME_SIGNALS) && _POSIX_REALTIME_SIGNALS > 0
            const timespec at_once{};
            static_cast<void>(sigtimedwait(&pipe_, nullptr, &at_once));
#else
            int number = 0;
            static_cast<void>(sigwait(&pipe_, &number));
#endif
        }
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
        errno = error;
    }
    sigpipe_block(const sigpipe_block&) = delete;
    sigpipe_block& operator=(const sigpipe_block&) = delete;

private:
    [[nodiscard]] static bool is_pending() noexcept {
        sigset_t pending{};
        sigpending(&pending);
        return sigismember(&pending, SIGPIPE) == 1;
    }

    sigset_t pipe_{};
    sigset_t before_{};
    bool was_pending_ = false;
};

}  // namespace detail

class redis_connection;

/// Options of `redis_connection`.
struct redis_options {
    /// Prepares each new connection before its first command, also after a redirection: AUTH,
    /// SELECT, CLIENT SETNAME.
    /// ```
    ///     {.on_connect = [](auto& on, const reprise::attempt& current) {
    ///         on.command(current, {"AUTH", "secret"});
    ///         ...
    ///     }}
    /// ```
    /// Its commands share the time of the attempt. If it throws, the connection is closed and the
    /// attempt has failed with that error. Its `redis_error`s are classified as those of commands
    /// are, except that a lost connection is safe: your command was not sent.
    std::function<void(redis_connection& on, const attempt& current)> on_connect{};
};

/// One connection, for one thread at a time. Opened when it is first needed and reopened after it
/// was lost. MOVED sends the next attempt, and those after it, to the node that it names. ASK does
/// so for the same command in the next attempt, on a connection of its own. READONLY closes the
/// connection, so that the next attempt looks up the first address again and finds the new primary.
///
/// A transaction (WATCH, MULTI) is lost with its connection, also by a redirection. What notices
/// the loss is safe, so that a loop around the whole transaction repeats it. A loop inside cannot:
/// all commands fail from then on, until you begin the transaction again, send DISCARD or UNWATCH,
/// or call `close`.
class redis_connection {
public:
    explicit redis_connection(redis_address address, redis_options options = {})
        : route_(std::move(address)), options_(std::move(options)) {}

    /// Executes one command within the time of the attempt, except that a name resolution is not
    /// limited. Throws `redis_error`.
    ///
    /// A command whose answer was lost is repeated only if it is in `is_redis_read` or you state,
    /// here or in the call's options, that it is repeatable: an INCR that is executed twice counts
    /// twice.
    redis_reply command(
        const attempt& current, const std::vector<std::string>& words,
        repeatability repeat = repeatability::unspecified) {
        if (words.empty()) {  // Redis does not answer that.
            throw redis_error(
                "a command has at least one word",
                {.safety = retry_safety::no, .fault = failure_fault::client}, false);
        }
        keep_transaction(words.front());
        std::optional<redis_address> asked;
        if (!transaction_.has_begun()) {
            asked = route_.take_asked(words, current.number);
        }
        if (asked) {
            redis_connection other(*asked, options_);
            other.open(current);
            announce_asked(other.native(), current);
            return execute(other.native(), *asked, current, words, current.stated_or_mark(repeat));
        }
        open(current);
        transaction_.start(words.front());
        redis_reply reply;
        try {
            reply = execute(
                native(), redis_address(address()), current, words, current.stated_or_mark(repeat));
        } catch (const redis_error& error) {
            if (transaction_.is_queueing() || redis_transaction::is_begun_by(words.front())) {
                fail_unexecuted(error);
            }
            throw;
        }
        transaction_.succeed(words.front());
        return reply;
    }
    [[nodiscard]] bool is_open() const noexcept { return context_ != nullptr; }
    /// Also gives up a transaction that has begun.
    void close() noexcept {
        drop();
        transaction_ = {};
    }
    /// For calls of your own; null if not open.
    [[nodiscard]] redisContext* native() const noexcept { return context_.get(); }
    /// The node that commands go to, except one that follows an ASK.
    [[nodiscard]] const redis_address& address() const noexcept { return route_.current(); }

private:
    struct context_deleter {
        void operator()(redisContext* context) const noexcept { redisFree(context); }
    };
    using context = std::unique_ptr<redisContext, context_deleter>;

    static void limit_time(redisContext* on, const attempt& current) {
        redisSetTimeout(on, to_timeval(current.time_left()));
    }
    /// A zero would mean no limit.
    [[nodiscard]] static timeval to_timeval(duration limit) noexcept {
        const auto time = std::chrono::ceil<std::chrono::microseconds>(
            std::clamp<duration>(limit, std::chrono::milliseconds{1}, std::chrono::hours{24}));
        return {
            static_cast<time_t>(time.count() / 1'000'000),
            static_cast<suseconds_t>(time.count() % 1'000'000)};
    }
    [[nodiscard]] static context connect(const redis_address& to, duration limit) {
        const timeval time = to_timeval(limit);
        const bool is_path = to.host.find('/') != std::string::npos;
        context made(
            is_path ? redisConnectUnixWithTimeout(to.host.c_str(), time)
                    : redisConnectWithTimeout(to.host.c_str(), to.port, time));
        if (made == nullptr || made->err != 0) {
            throw redis_error(
                made != nullptr ? made->errstr : "out of memory",
                {.safety = retry_safety::yes,
                 .timeout = made != nullptr && is_timeout(made.get()),
                 .fault = failure_fault::other},
                false);
        }
        return made;
    }
    /// Closes the connection; the program has not given up its transaction.
    void drop() noexcept { context_.reset(); }
    /// Throws if the command would not be part of the transaction that it belongs to. What notices
    /// the loss is safe: a loop around the transaction begins it again. A loop inside cannot.
    void keep_transaction(std::string_view command) {
        const bool is_lost_now = is_out_of_step();
        if (is_lost_now) {
            drop();
        }
        transaction_.prepare(command, is_open());
        if (transaction_.has_begun() && !is_open() && !is_being_prepared_) {
            throw redis_error(
                "the connection was lost in a transaction: begin it again or DISCARD it",
                {.safety = is_lost_now ? retry_safety::yes : retry_safety::no,
                 .fault = is_lost_now ? failure_fault::other : failure_fault::client},
                false);
        }
    }
    void open(const attempt& current) {
        if (is_open()) {
            return;
        }
        if (is_being_prepared_) {
            fail_unprepared();
        }
        try {
            context_ = connect(address(), current.time_left());
        } catch (const redis_error&) {
            route_.on_wrong_server();  // The node that a redirection named may be gone.
            throw;
        }
        if (options_.on_connect) {
            prepare(current);
        }
    }
    void prepare(const attempt& current) {
        is_being_prepared_ = true;
        try {
            options_.on_connect(*this, current);
            if (!is_open()) {
                fail_unprepared();  // The function has hidden that.
            }
        } catch (const redis_error& error) {
            abandon_preparation();
            fail_unexecuted(error);
        } catch (...) {
            abandon_preparation();
            throw;
        }
        is_being_prepared_ = false;
    }
    void abandon_preparation() noexcept {
        is_being_prepared_ = false;
        drop();
    }
    [[noreturn]] static void fail_unprepared() {
        throw redis_error(
            "the connection was lost while it was prepared",
            {.safety = retry_safety::yes, .fault = failure_fault::other}, false);
    }
    /// A step before the command has failed, so the command was not sent; or the server discards it
    /// with its transaction. Errors that the server reported stay as they are.
    [[noreturn]] static void fail_unexecuted(const redis_error& error) {
        failure_facts facts = error.retry_facts();
        if (error.is_unknown() || facts.safety == retry_safety::maybe) {
            facts.safety = retry_safety::yes;
        }
        throw redis_error(error.what(), facts, false);
    }
    /// A connection that ended while nothing was sent on it, so that the next command is sure to be
    /// lost; or one with bytes that would be taken for the answer to the next command.
    [[nodiscard]] bool is_out_of_step() const noexcept {
        if (!is_open()) {
            return false;
        }
        if (native()->reader->pos < native()->reader->len) {
            return true;
        }
        char byte = 0;
        const auto size = ::recv(native()->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        return size >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    }
    [[nodiscard]] redis_reply execute(
        redisContext* on, const redis_address& server, const attempt& current,
        const std::vector<std::string>& words, repeatability repeat) {
        const bool is_harmless = repeat == repeatability::unspecified
                                     ? is_redis_read(words.front())
                                     : repeat == repeatability::repeatable;
        redis_reply reply = send(on, current, words, is_harmless);
        if (reply->type == REDIS_REPLY_ERROR) {
            refuse({reply->str, reply->len}, server, current, words, repeat);
        }
        return reply;
    }
    /// The command follows only if the answer to ASKING arrives.
    void announce_asked(redisContext* on, const attempt& current) {
        try {
            static_cast<void>(send(on, current, {"ASKING"}, true));
        } catch (const redis_error& error) {
            fail_unexecuted(error);
        }
    }
    /// As redisCommandArgv, whose limit holds for each piece of the command and of the answer.
    [[nodiscard]] redis_reply send(
        redisContext* on, const attempt& current, const std::vector<std::string>& words,
        bool is_harmless) {
        std::vector<const char*> texts;
        std::vector<std::size_t> sizes;
        for (const std::string& word : words) {
            texts.push_back(word.data());
            sizes.push_back(word.size());
        }
        const auto check = [&](int status) {
            if (status != REDIS_OK) {
                fail_lost(on, on->errstr, is_timeout(on), is_harmless);
            }
        };
        const auto next_piece = [&](bool is_first) {
            if (!is_first && current.time_left() == duration::zero()) {
                fail_lost(on, "the server did not answer in time", true, is_harmless);
            }
            limit_time(on, current);
        };
        check(
            redisAppendCommandArgv(on, static_cast<int>(words.size()), texts.data(), sizes.data()));
        for (int is_written = 0, count = 0; is_written == 0; ++count) {
            next_piece(count == 0);
            const detail::sigpipe_block block;
            check(redisBufferWrite(on, &is_written));
        }
        redis_reply reply;
        for (int count = 0; reply == nullptr; ++count) {
            next_piece(count == 0);
            check(redisBufferRead(on));
            do {
                void* read = nullptr;
                check(redisGetReplyFromReader(on, &read));
                reply.reset(static_cast<redisReply*>(read));
            } while (is_passed_on(on, reply));
        }
        return reply;
    }
    /// True for a message of RESP3 that the server sends unasked, such as an invalidation: it is
    /// not the answer. As redisGetReply, passes it on to the connection's callback, if it has one.
    [[nodiscard]] static bool is_passed_on(
        [[maybe_unused]] redisContext* on, [[maybe_unused]] redis_reply& reply) {
#if defined(REDIS_REPLY_PUSH)  // Since hiredis 1.0.
        if (reply != nullptr && reply->type == REDIS_REPLY_PUSH && on->push_cb != nullptr) {
            on->push_cb(on->privdata, reply.release());
            return true;
        }
#endif
        return false;
    }

    [[nodiscard]] static bool is_timeout(const redisContext* on) noexcept {
        const auto* const row = reprise::detail::find_row(detail::hiredis_rows, on->err);
        return (row != nullptr && row->timeout) ||
               (on->err == REDIS_ERR_IO && (errno == EAGAIN || errno == ETIMEDOUT));
    }
    [[noreturn]] void fail_lost(
        redisContext* on, const std::string& message, bool is_timeout, bool is_harmless) {
        if (on == native()) {
            drop();
        }
        throw redis_error(
            message,
            {.safety = is_harmless ? retry_safety::maybe : retry_safety::no,
             .timeout = is_timeout,
             .fault = failure_fault::other},
            true);
    }
    [[noreturn]] void refuse(
        std::string_view message, const redis_address& server, const attempt& current,
        const std::vector<std::string>& words, repeatability repeat) {
        const bool is_bound =
            transaction_.has_begun() || redis_transaction::is_begun_by(words.front());
        if (redis_error_code(message) == "READONLY") {
            drop();
            route_.on_wrong_server();
        } else if (const auto to = parse_redis_redirection(message)) {
            if (!to->is_ask || !is_bound) {  // The connection of an ASK is for one command.
                route_.on_redirection(*to, server, words, current.number);
            }
            if (!to->is_ask || is_bound) {
                drop();
            }
        }
        throw redis_error(
            std::string(redis_error_text(message)),
            redis_reply_facts(message, words.front(), repeat), false);
    }

    redis_route route_;
    redis_options options_;
    context context_;
    redis_transaction transaction_;
    bool is_being_prepared_ = false;  ///< While `on_connect` runs.
};

}  // namespace reprise::adapters
