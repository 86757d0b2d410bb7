#pragma once

/// Redis through hiredis: a connection that reconnects and follows redirections, and commands as
/// operations that `reprise::retry` repeats.
///
///     reprise::adapters::redis_connection redis({"127.0.0.1", 6379});
///     const auto name = reprise::retry(strategy, {.timeout = 5s}, [&](const reprise::attempt& a) {
///         return redis.command(a, {"GET", "name"});
///     });

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hiredis/hiredis.h>

#include <reprise/retry/adapters/redis_reply.hpp>
#include <reprise/retry/call_options.hpp>
#include <reprise/retry/exception_facts.hpp>

namespace reprise::adapters {

/// A failed command or connection. The retry loops know its facts without being asked to.
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

/// A server. With a host that contains a slash, the path of its unix socket; the port is not used.
struct redis_address {
    std::string host = "127.0.0.1";
    int port = 6379;

    friend bool operator==(const redis_address&, const redis_address&) = default;
};

/// One connection, for one thread at a time. Opened when it is first needed and reopened after it
/// was lost. MOVED sends the next attempt, and those after it, to the node that it names. ASK does
/// so for one attempt. READONLY closes the connection, so that the next attempt looks up the
/// address again and finds the new primary.
class redis_connection {
public:
    explicit redis_connection(redis_address address) : home_(std::move(address)), current_(home_) {}

    /// Executes one command within the time of the attempt. Throws `redis_error`.
    ///
    /// A command whose answer was lost is repeated only if it is in `is_redis_read` or you state
    /// that it is repeatable: an INCR that is executed twice counts twice.
    redis_reply command(
        const attempt& current, const std::vector<std::string>& words,
        repeatability repeat = repeatability::unspecified) {
        open(current.timeout);
        if (std::exchange(is_asking_, false)) {
            static_cast<void>(send({"ASKING"}, true));
        }
        const bool is_harmless = repeat == repeatability::unspecified
                                     ? !words.empty() && is_redis_read(words.front())
                                     : repeat == repeatability::repeatable;
        redis_reply reply = send(words, is_harmless);
        if (reply->type == REDIS_REPLY_ERROR) {
            refuse({reply->str, reply->len}, words.empty() ? "" : words.front(), repeat);
        }
        return reply;
    }
    [[nodiscard]] bool is_open() const noexcept { return context_ != nullptr; }
    void close() noexcept { context_.reset(); }
    /// For calls of your own; null if not open.
    [[nodiscard]] redisContext* native() const noexcept { return context_.get(); }
    /// The node that the next command goes to.
    [[nodiscard]] const redis_address& address() const noexcept { return current_; }

private:
    struct context_deleter {
        void operator()(redisContext* context) const noexcept { redisFree(context); }
    };

    /// A zero would mean no limit.
    [[nodiscard]] static timeval to_timeval(duration limit) noexcept {
        const auto time = std::chrono::ceil<std::chrono::microseconds>(
            std::clamp<duration>(limit, std::chrono::milliseconds{1}, std::chrono::hours{24}));
        return {
            static_cast<time_t>(time.count() / 1'000'000),
            static_cast<suseconds_t>(time.count() % 1'000'000)};
    }
    void open(duration limit) {
        const timeval time = to_timeval(limit);
        if (is_closed_by_server()) {
            close();
        }
        if (!is_open()) {
            const bool is_path = current_.host.find('/') != std::string::npos;
            context_.reset(
                is_path ? redisConnectUnixWithTimeout(current_.host.c_str(), time)
                        : redisConnectWithTimeout(current_.host.c_str(), current_.port, time));
            if (context_ == nullptr || context_->err != 0) {
                fail_connecting();
            }
        }
        redisSetTimeout(native(), time);
    }
    /// A connection that ended while nothing was sent on it: the next command is sure to be lost.
    [[nodiscard]] bool is_closed_by_server() const noexcept {
        if (!is_open()) {
            return false;
        }
        char byte = 0;
        const auto size = ::recv(native()->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
        return size == 0 || (size < 0 && errno != EAGAIN && errno != EWOULDBLOCK);
    }
    [[nodiscard]] redis_reply send(const std::vector<std::string>& words, bool is_harmless) {
        std::vector<const char*> texts;
        std::vector<std::size_t> sizes;
        for (const std::string& word : words) {
            texts.push_back(word.data());
            sizes.push_back(word.size());
        }
        redis_reply reply(static_cast<redisReply*>(redisCommandArgv(
            native(), static_cast<int>(words.size()), texts.data(), sizes.data())));
        if (reply == nullptr) {
            fail_lost(is_harmless);
        }
        return reply;
    }

    [[noreturn]] void fail_connecting() {
        const std::string message = context_ != nullptr ? context_->errstr : "out of memory";
        close();
        current_ = home_;  // The node that a redirection named may be gone.
        is_asking_ = false;
        throw redis_error(
            message, {.safety = retry_safety::yes, .fault = failure_fault::other}, false);
    }
    [[noreturn]] void fail_lost(bool is_harmless) {
        const auto* const row = reprise::detail::find_row(detail::hiredis_rows, native()->err);
        const bool is_timeout =
            (row != nullptr && row->timeout) || (native()->err == REDIS_ERR_IO && errno == EAGAIN);
        const std::string message = native()->errstr;
        close();
        throw redis_error(
            message,
            {.safety = is_harmless ? retry_safety::maybe : retry_safety::no,
             .timeout = is_timeout,
             .fault = failure_fault::other},
            true);
    }
    [[noreturn]] void refuse(
        std::string_view message, std::string_view command, repeatability repeat) {
        const std::string_view code = redis_error_code(message);
        const std::string text(message);
        const failure_facts facts = redis_reply_facts(message, command, repeat);
        if (code == "READONLY") {
            close();
            current_ = home_;
        } else if (code == "MOVED" || code == "ASK") {
            redirect(text, code == "ASK");
        }
        throw redis_error(text, facts, false);
    }
    /// "MOVED 3999 127.0.0.1:6381". An empty host means the host that answered.
    void redirect(const std::string& message, bool is_asking) {
        const auto host = message.rfind(' ') + 1;
        const auto colon = message.rfind(':');
        int port = 0;
        if (colon == std::string::npos || colon < host ||
            std::from_chars(message.data() + colon + 1, message.data() + message.size(), port).ec !=
                std::errc{}) {
            return;
        }
        if (colon > host) {
            current_.host = message.substr(host, colon - host);
        }
        current_.port = port;
        if (!is_asking) {
            home_ = current_;
        }
        is_asking_ = is_asking;
        close();
    }

    redis_address home_;
    redis_address current_;
    bool is_asking_ = false;
    std::unique_ptr<redisContext, context_deleter> context_;
};

}  // namespace reprise::adapters
