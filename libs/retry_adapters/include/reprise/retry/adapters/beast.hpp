#pragma once

/// Boost.Beast: one HTTP exchange as an operation that `reprise::retry` and
/// `reprise::async_retry` understand.
/// ```
///     http::request<http::empty_body> request{http::verb::get, "/report", 11};
///     ...
///     const auto page = reprise::retry(strategy, options, [&](const reprise::attempt& current) {
///         return reprise::adapters::beast_fetch({"127.0.0.1", arguments[1]}, request, current);
///     });
/// ```
/// `beast_exchange` is the same as a coroutine. With streams of your own (TLS, a connection that
/// you keep), fill in a `beast_result` yourself: the stage tells a failure before the request was
/// sent from one after it. Link `reprise::retry_asio`.

#include <chrono>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <reprise/asio/error_facts.hpp>
#include <reprise/retry/adapters/http_method.hpp>
#include <reprise/retry/call_options.hpp>
#include <reprise/retry/http_facts.hpp>
#include <reprise/retry/outcome.hpp>

namespace reprise::adapters {

enum class beast_errc;

}  // namespace reprise::adapters

/// @cond
template <>
struct boost::system::is_error_code_enum<reprise::adapters::beast_errc> : std::true_type {};
/// @endcond

namespace reprise::adapters {

/// The target of a request. The port is a number or the name of a service.
struct http_server {
    std::string host;
    std::string port = "80";
};

/// Errors of an exchange that Beast has no code for.
enum class beast_errc {
    /// More than `beast_interim_answers_max` interim answers, and still no final one. The server
    /// may have acted, so it is repeated only for requests that may be sent twice.
    too_many_interim_answers = 1,
};

/// An exchange skips at most this many interim answers, such as 100 and 103, so that a server that
/// sends nothing else cannot hold an exchange without a time limit forever.
inline constexpr unsigned beast_interim_answers_max = 16;

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
// The destructor of Boost's base is protected, so no one destroys a category through it.
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
#endif

/// The category of `beast_errc`.
class beast_error_category final : public boost::system::error_category {
public:
    // The number makes it equal to its copies in other shared libraries.
    constexpr beast_error_category() noexcept : error_category(0x7265'7072'6973'6562) {}

    [[nodiscard]] const char* name() const noexcept override { return "reprise.beast"; }
    [[nodiscard]] std::string message(int value) const override {
        return value == static_cast<int>(beast_errc::too_many_interim_answers)
                   ? "too many interim answers"
                   : "unknown error";
    }
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/// Found by `boost::system::error_code`.
[[nodiscard]] inline boost::system::error_code make_error_code(beast_errc error) noexcept {
    static constexpr beast_error_category category;
    return {static_cast<int>(error), category};
}

/// The last step that an exchange reached.
enum class beast_stage : std::uint8_t {
    connecting,  ///< Resolving the name or connecting: nothing was sent.
    writing,     ///< The request was sent, perhaps only in part.
    reading,     ///< The request was sent; the answer is not complete.
    complete,    ///< The answer was read.
};

/// The end of one exchange.
template <class Body = boost::beast::http::string_body>
struct beast_result {
    boost::system::error_code error{};  ///< Unset if an answer was read, whatever its status.
    /// If you fill in a result and do not set it, the request may have been sent.
    beast_stage stage = beast_stage::writing;
    boost::beast::http::response<Body> response{};  ///< If it broke off: what arrived of it.
    std::string method{};
    std::chrono::sys_seconds ended_at{};
    repeatability repeat = repeatability::unspecified;  ///< Whether it may be sent twice.
    /// Canceled by your program, and not because the time of the attempt was over. If you fill in
    /// the result yourself, set it: `operation_aborted` alone does not tell the two apart.
    bool is_canceled = false;

    /// An exchange that did not complete, or a status of 400 and above.
    [[nodiscard]] bool is_failure() const noexcept {
        return error.failed() || response.result_int() >= 400;
    }
    /// "HTTP 503", or the message of the error.
    [[nodiscard]] std::string message() const {
        return error.failed() ? error.message() : "HTTP " + std::to_string(response.result_int());
    }
    /// Safe to repeat: failures to resolve and to connect, and the statuses 408 and 429. Repeated
    /// only for requests that may be sent twice: timeouts and broken connections after that, too
    /// many interim answers, and 5xx. Never repeated: other 4xx, malformed or too long answers,
    /// names that do not exist, and what you canceled (`is_canceled`).
    [[nodiscard]] failure_facts retry_facts() const noexcept;
};

/// Beast's own errors, and all others as `facts_of` describes them.
[[nodiscard]] inline failure_facts beast_error_facts(
    const boost::system::error_code& error) noexcept {
    namespace http = boost::beast::http;
    failure_facts facts = facts_of(error);
    facts.timeout = facts.timeout || error == boost::beast::error::timeout;
    if (error == boost::beast::error::timeout || error == http::error::end_of_stream ||
        error == http::error::partial_message || error == beast_errc::too_many_interim_answers) {
        facts.safety = retry_safety::maybe;
        facts.fault = failure_fault::other;
    } else if (
        error.category() == http::make_error_code(http::error::bad_version).category() ||
        error == boost::asio::error::host_not_found || error == boost::asio::error::no_data) {
        facts.safety = retry_safety::no;  // Stated: without facts, `attempts(3)` would repeat it.
        facts.fault = failure_fault::other;
    }
    return facts;
}

namespace detail {

/// An error of the system or of its name resolution, while it connects. A refused certificate is of
/// another category, and the loop decides why an operation was canceled.
[[nodiscard]] inline bool is_unmade(const boost::system::error_code& error) noexcept {
    return error != boost::asio::error::operation_aborted &&
           (error.category() == boost::asio::error::get_system_category() ||
            error.category() == boost::asio::error::get_netdb_category());
}

/// An interim answer, such as 100 and 103. After 101 no other one follows.
[[nodiscard]] constexpr bool is_interim_status(unsigned status) noexcept {
    return status >= 100 && status < 200 && status != 101;
}

}  // namespace detail

template <class Body>
failure_facts beast_result<Body>::retry_facts() const noexcept {
    const std::string_view retry_after = response[boost::beast::http::field::retry_after];
    const failure_facts of_status =
        http_facts(static_cast<int>(response.result_int()), retry_after, ended_at);
    if (!error.failed()) {
        return facts_after_sending(of_status, method, repeat);
    }
    if (is_canceled) {
        return {.safety = retry_safety::no, .fault = failure_fault::client};
    }
    failure_facts facts = beast_error_facts(error);
    if (stage == beast_stage::connecting) {
        if (facts.safety == retry_safety::maybe || (!facts.safety && detail::is_unmade(error))) {
            facts.safety = retry_safety::yes;
            facts.fault = failure_fault::other;
        }
        return facts;
    }
    if (facts.safety == retry_safety::yes) {
        facts.safety = retry_safety::maybe;  // A firewall can refuse an open connection, too.
    }
    facts.minimum_wait = of_status.minimum_wait;  // Also if the rest of the answer was lost.
    return facts_after_sending(facts, method, repeat);
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
// GCC 12 mistakes Asio's own allocation of coroutine frames for a mismatch.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
#endif

/// One exchange on a connection of its own, without TLS. `request` is prepared (Content-Length) but
/// otherwise sent as it is; set its Host field. From the connection on, the exchange ends with
/// `beast::error::timeout` when the time of the attempt is over; after a name resolution that took
/// longer, nothing is sent. Cancel the coroutine to end it earlier; `async_retry` does so at the
/// deadline.
template <class RequestBody, class Fields>
[[nodiscard]] boost::asio::awaitable<beast_result<>> beast_exchange(
    http_server server, boost::beast::http::request<RequestBody, Fields> request, attempt current,
    repeatability repeat = repeatability::unspecified) {
    namespace asio = boost::asio;
    namespace http = boost::beast::http;
    beast_result<> result;
    result.stage = beast_stage::connecting;
    result.method = std::string(request.method_string());
    result.repeat = current.stated_or_mark(repeat);
    const auto executor = co_await asio::this_coro::executor;
    auto checked = asio::redirect_error(asio::use_awaitable, result.error);
    const auto ended = [&result, &current] {
        result.ended_at = current.calendar_time();
        // A loop that cancels at the attempt's limit counts this as a timeout itself.
        result.is_canceled = result.error == asio::error::operation_aborted &&
                             current.time_left() > duration::zero();
        return result.error.failed();
    };
    try {
        asio::ip::tcp::resolver resolver(executor);
        const auto found = co_await resolver.async_resolve(server.host, server.port, checked);
        if (ended()) {
            co_return result;
        }
        const duration left = current.time_left();
        if (left == duration::zero()) {
            result.error = boost::beast::error::timeout;
            co_return result;
        }
        boost::beast::tcp_stream stream(executor);
        if (left < std::chrono::hours{24 * 365}) {
            stream.expires_after(left);
        }
        co_await stream.async_connect(found, checked);
        if (ended()) {
            co_return result;
        }
        result.stage = beast_stage::writing;
        request.prepare_payload();
        co_await http::async_write(stream, request, checked);
        if (ended()) {
            co_return result;
        }
        result.stage = beast_stage::reading;
        boost::beast::flat_buffer buffer;
        std::optional<http::response_parser<http::string_body>> answer;
        unsigned interim_count = 0;
        do {
            answer.emplace();
            answer->skip(request.method() == http::verb::head);  // It has no body to wait for.
            co_await http::async_read(stream, buffer, *answer, checked);
        } while (!ended() && detail::is_interim_status(answer->get().result_int()) &&
                 ++interim_count <= beast_interim_answers_max);
        if (interim_count > beast_interim_answers_max) {
            result.error = beast_errc::too_many_interim_answers;
        } else if (answer->is_header_done()) {
            result.response = answer->release();
        }
        if (!result.error.failed()) {
            result.stage = beast_stage::complete;
        }
    } catch (const boost::beast::system_error& canceled) {
        // A coroutine that was canceled between two steps throws at the next one. The caller needs
        // the stage, which the exception does not have: a POST may have been sent.
        result.error = canceled.code();
        static_cast<void>(ended());
    }
    co_return result;
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/// The same, blocking. Only the name resolution can take longer than the attempt may.
template <class RequestBody, class Fields>
[[nodiscard]] beast_result<> beast_fetch(
    const http_server& server, const boost::beast::http::request<RequestBody, Fields>& request,
    const attempt& current, repeatability repeat = repeatability::unspecified) {
    boost::asio::io_context io(1);
    std::exception_ptr thrown;
    beast_result<> result;
    boost::asio::co_spawn(
        io, beast_exchange(server, request, current, repeat),
        [&](const std::exception_ptr& error, beast_result<> value) {
            thrown = error;
            result = std::move(value);
        });
    io.run();
    if (thrown) {
        std::rethrow_exception(thrown);
    }
    return result;
}

}  // namespace reprise::adapters

template <class Body>
struct reprise::outcome_traits<reprise::adapters::beast_result<Body>> {
    [[nodiscard]] static bool is_failure(const adapters::beast_result<Body>& result) noexcept {
        return result.is_failure();
    }
    [[nodiscard]] static failure_facts facts(const adapters::beast_result<Body>& result) noexcept {
        return result.retry_facts();
    }
};
