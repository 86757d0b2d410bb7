#include <dlfcn.h>
#include <gtest/gtest.h>
#include <netdb.h>

#include <atomic>
#include <ctime>
#include <optional>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <reprise/asio/async_retry.hpp>
#include <reprise/retry.hpp>
#include <reprise/testing/virtual_clock.hpp>

#include "http_clients.hpp"
#include "misbehaving_server.hpp"
#include "run_example.hpp"

// The adapters of libcurl and Boost.Beast against a real server that misbehaves. Attempts take real
// time; the waits between them do not.

namespace adapters {
namespace {

using namespace std::chrono_literals;

/// While one exists, each name resolution of this program takes this time on the clock.
class slow_name_server {
public:
    slow_name_server(reprise::testing::virtual_clock& clock, reprise::duration delay)
        : clock_(&clock), delay_(delay) {
        current_ = this;
    }
    ~slow_name_server() { current_ = nullptr; }
    slow_name_server(const slow_name_server&) = delete;
    slow_name_server& operator=(const slow_name_server&) = delete;

    static void on_resolution() {
        if (const slow_name_server* const slow = current_) {
            slow->clock_->advance(slow->delay_);
        }
    }

private:
    static inline std::atomic<const slow_name_server*> current_ = nullptr;
    reprise::testing::virtual_clock* clock_;
    reprise::duration delay_;
};

}  // namespace
}  // namespace adapters

/// Replaces that of the C library, which it calls.
extern "C" int getaddrinfo(
    const char* host, const char* service, const addrinfo* hints, addrinfo** found) {
    adapters::slow_name_server::on_resolution();
    static const auto real =
        reinterpret_cast<decltype(&getaddrinfo)>(::dlsym(RTLD_NEXT, "getaddrinfo"));
    return real(host, service, hints, found);
}

namespace adapters {
namespace {

/// One call: its last result and its history.
template <class Client>
struct outcome {
    typename Client::result last;
    reprise::retry_history history;
    std::vector<reprise::duration> waits;

    [[nodiscard]] int status() const { return Client::status(last); }
    [[nodiscard]] std::string body() const { return Client::body(last); }
};

template <class Client>
outcome<Client> call(
    const Client& client, std::optional<reprise::duration> attempt_timeout = 5s,
    reprise::repeatability repeat = {}) {
    reprise::testing::virtual_clock clock;
    reprise::standard_strategy strategy({.attempts_max = 3, .backoff = {.base = 1ms}});
    outcome<Client> made;
    made.last = reprise::retry(
        strategy,
        {.attempt_timeout = attempt_timeout,
         .repeat = repeat,
         .history = &made.history,
         .clock = &clock},
        client);
    made.waits = clock.waits();
    return made;
}

/// The date of an HTTP header field, `ahead` from the date at which calls start here.
std::string http_date(std::chrono::seconds ahead) {
    const auto start = reprise::testing::virtual_clock().calendar_time();
    const std::time_t time = std::chrono::system_clock::to_time_t(start + ahead);
    std::array<char, 64> text{};
    std::tm parts{};
    std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", ::gmtime_r(&time, &parts));
    return text.data();
}

template <class Client>
class http_adapters : public testing::Test {};
using clients = testing::Types<curl_client, beast_client>;
TYPED_TEST_SUITE(http_adapters, clients);

TYPED_TEST(http_adapters, wait_as_long_as_a_429_asks_for) {
    misbehaving_server server({answers(429, "Retry-After: 7\r\n"), answers(200, "", "fine")});
    const auto made = call(TypeParam{"GET", server.port()});
    EXPECT_EQ(made.status(), 200);
    EXPECT_EQ(made.body(), "fine");
    EXPECT_EQ(made.waits, std::vector<reprise::duration>{7s});
}

TYPED_TEST(http_adapters, wait_until_the_date_that_a_503_names) {
    misbehaving_server server(
        {answers(503, "Retry-After: " + http_date(60s) + "\r\n"), answers(200)});
    const auto made = call(TypeParam{"GET", server.port()});
    EXPECT_EQ(made.status(), 200);
    ASSERT_EQ(made.waits.size(), 1U);
    EXPECT_EQ(made.waits[0], 60s);
}

TYPED_TEST(http_adapters, repeat_a_get_but_no_post_after_a_503) {
    misbehaving_server gets({answers(503), answers(200)});
    EXPECT_EQ(call(TypeParam{"GET", gets.port()}).status(), 200);
    misbehaving_server posts({answers(503), answers(200)});
    const auto made = call(TypeParam{"POST", posts.port()});
    EXPECT_EQ(made.status(), 503);
    EXPECT_EQ(made.history.refusal(), reprise::refusal_reason::unsafe);
    EXPECT_EQ(posts.requests(), std::vector<std::string>{"POST /r HTTP/1.1"});
}

// The mark of the call was ignored: only that of the adapter's own options counted.
TYPED_TEST(http_adapters, repeat_a_post_that_the_call_marks_as_repeatable) {
    misbehaving_server posts({answers(503), answers(200)});
    const auto made = call(TypeParam{"POST", posts.port()}, 5s, reprise::repeatability::repeatable);
    EXPECT_EQ(made.status(), 200);
    EXPECT_EQ(posts.requests().size(), 2U);
}

TYPED_TEST(http_adapters, repeat_a_post_that_was_refused_with_429) {
    misbehaving_server server({answers(429), answers(200)});
    EXPECT_EQ(call(TypeParam{"POST", server.port()}).status(), 200);
    EXPECT_EQ(server.requests().size(), 2U);
}

TYPED_TEST(http_adapters, repeat_a_post_that_is_stated_as_repeatable) {
    misbehaving_server server({answers(503), answers(200)});
    const TypeParam client{"POST", server.port(), reprise::repeatability::repeatable};
    EXPECT_EQ(call(client).status(), 200);
}

TYPED_TEST(http_adapters, never_repeat_a_404) {
    misbehaving_server server({answers(404), answers(200)});
    const auto made = call(TypeParam{"GET", server.port()});
    EXPECT_EQ(made.status(), 404);
    EXPECT_EQ(made.history.failed_attempts(), 1U);
}

TYPED_TEST(http_adapters, repeat_a_post_that_could_not_connect) {
    std::string closed_port;
    {
        const misbehaving_server gone({hangs_up()});
        closed_port = gone.port();
    }
    const auto made = call(TypeParam{"POST", closed_port});
    EXPECT_TRUE(made.last.is_failure());
    EXPECT_EQ(made.history.failed_attempts(), 3U);
    EXPECT_EQ(made.history.refusal(), reprise::refusal_reason::attempts_exhausted);
}

TYPED_TEST(http_adapters, repeat_a_get_but_no_post_whose_connection_broke) {
    misbehaving_server gets({reads_and_closes(), answers(200)});
    EXPECT_EQ(call(TypeParam{"GET", gets.port()}).status(), 200);
    misbehaving_server posts({reads_and_closes(), answers(200)});
    EXPECT_TRUE(call(TypeParam{"POST", posts.port()}).last.is_failure());
    EXPECT_EQ(posts.requests().size(), 1U);
}

TYPED_TEST(http_adapters, repeat_a_get_but_no_post_without_an_answer_in_time) {
    misbehaving_server gets({is_silent(), answers(200)});
    const auto made = call(TypeParam{"GET", gets.port()}, 300ms);
    EXPECT_EQ(made.status(), 200);
    EXPECT_EQ(made.history.failed_attempts(), 1U);
    misbehaving_server posts({is_silent(), answers(200)});
    const auto post = call(TypeParam{"POST", posts.port()}, 300ms);
    EXPECT_TRUE(post.last.retry_facts().timeout);
    EXPECT_EQ(posts.requests().size(), 1U);
}

TYPED_TEST(http_adapters, start_with_an_empty_body_after_a_truncated_answer) {
    misbehaving_server server(
        {sends("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nfirst"), answers(200, "", "second")});
    const auto made = call(TypeParam{"GET", server.port()});
    EXPECT_EQ(made.body(), "second");
    EXPECT_EQ(made.history.failed_attempts(), 1U);
}

TYPED_TEST(http_adapters, never_repeat_after_an_answer_that_is_not_http) {
    misbehaving_server server({sends("220 mail.example.com ESMTP\r\n"), answers(200)});
    const auto made = call(TypeParam{"GET", server.port()});
    EXPECT_TRUE(made.last.is_failure());
    EXPECT_EQ(server.connection_count(), 1U);
}

TEST(curl_adapter, repeats_a_post_that_timed_out_in_the_tls_handshake) {
    misbehaving_server server({is_silent()});
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(
        curl_easy_init(), curl_easy_cleanup);
    curl_easy_setopt(curl.get(), CURLOPT_URL, ("https://127.0.0.1:" + server.port()).c_str());
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, "n=1");
    reprise::retry_history history;
    const auto last = reprise::retry(
        reprise::attempts(2).every(1ms), {.attempt_timeout = 300ms, .history = &history},
        [&](const reprise::attempt& a) { return reprise::adapters::curl_perform(curl.get(), a); });
    EXPECT_EQ(last.code, CURLE_OPERATION_TIMEDOUT);
    EXPECT_EQ(last.retry_facts().safety, reprise::retry_safety::yes);
    EXPECT_EQ(history.failed_attempts(), 2U);
}

TEST(curl_adapter, never_repeats_a_post_that_a_redirect_turned_into_a_get) {
    misbehaving_server server(
        {answers(303, "Location: /shown\r\n"), answers(429), answers(200), answers(200)});
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(
        curl_easy_init(), curl_easy_cleanup);
    curl_easy_setopt(curl.get(), CURLOPT_URL, ("http://127.0.0.1:" + server.port()).c_str());
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, "n=1");
    curl_easy_setopt(curl.get(), CURLOPT_FOLLOWLOCATION, 1L);
    const auto last =
        reprise::retry(reprise::attempts(3).every(0ms), [&](const reprise::attempt& current) {
            return reprise::adapters::curl_perform(curl.get(), current);
        });
    EXPECT_TRUE(last.is_redirected);
    EXPECT_EQ(last.method, "GET");
    EXPECT_EQ(last.status, 429);
    EXPECT_EQ(server.requests().size(), 2U);
}

// libcurl itself sends a request again if a connection that it reused closes without an answer.
TEST(curl_adapter, post_that_is_not_repeatable_is_sent_once_also_after_another_transfer) {
    misbehaving_server server({answers_one(200), reads_and_closes()});
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(
        curl_easy_init(), curl_easy_cleanup);
    curl_easy_setopt(curl.get(), CURLOPT_URL, ("http://127.0.0.1:" + server.port()).c_str());
    EXPECT_EQ(reprise::adapters::curl_perform(curl.get(), {}).status, 200);
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, "n=1");
    const auto last =
        reprise::retry(reprise::attempts(3).every(0ms), [&](const reprise::attempt& current) {
            return reprise::adapters::curl_perform(
                curl.get(), current, {.repeat = reprise::repeatability::not_repeatable});
        });
    EXPECT_EQ(last.code, CURLE_GOT_NOTHING);
    EXPECT_EQ(server.requests(), (std::vector<std::string>{"GET / HTTP/1.1", "POST / HTTP/1.1"}));
}

/// Ends a transfer that has run for a while, unless a time limit ends it before.
int end_after_a_while(void* started, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    const auto& since = *static_cast<std::chrono::steady_clock::time_point*>(started);
    return std::chrono::steady_clock::now() - since > 100ms ? 1 : 0;
}

// Each transfer had all the time of the attempt, although the one before had used most of it.
TEST(curl_adapter, has_only_the_time_that_is_left_of_the_attempt) {
    misbehaving_server server({is_silent()});
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(
        curl_easy_init(), curl_easy_cleanup);
    curl_easy_setopt(curl.get(), CURLOPT_URL, server.url().c_str());
    auto started = std::chrono::steady_clock::now() + 5s;
    curl_easy_setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl.get(), CURLOPT_XFERINFODATA, &started);
    curl_easy_setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, end_after_a_while);
    reprise::testing::virtual_clock clock;
    const auto last = reprise::retry(
        reprise::attempts(1), {.attempt_timeout = 1h, .clock = &clock},
        [&](const reprise::attempt& current) {
            clock.advance(1h - 100ms);
            return reprise::adapters::curl_perform(curl.get(), current);
        });
    EXPECT_EQ(last.code, CURLE_OPERATION_TIMEDOUT);
}

TEST(curl_adapter, refuses_a_body_that_is_too_long) {
    misbehaving_server server({answers(200, "", "0123456789")});
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(
        curl_easy_init(), curl_easy_cleanup);
    curl_easy_setopt(curl.get(), CURLOPT_URL, server.url().c_str());
    const auto made = reprise::adapters::curl_perform(curl.get(), {}, {.body_size_max = 9});
    EXPECT_EQ(made.code, CURLE_WRITE_ERROR);
    EXPECT_EQ(made.retry_facts().safety, reprise::retry_safety::no);
}

TEST(curl_adapter, limit_of_an_attempt_does_not_end_the_next_transfer_of_the_program) {
    misbehaving_server server({is_silent(), is_silent()});
    const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(
        curl_easy_init(), curl_easy_cleanup);
    curl_easy_setopt(curl.get(), CURLOPT_URL, server.url().c_str());
    reprise::attempt limited;
    limited.timeout = 20ms;
    EXPECT_EQ(reprise::adapters::curl_perform(curl.get(), limited).code, CURLE_OPERATION_TIMEDOUT);
    auto started = std::chrono::steady_clock::now();
    curl_easy_setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl.get(), CURLOPT_XFERINFODATA, &started);
    curl_easy_setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, end_after_a_while);
    EXPECT_EQ(curl_easy_perform(curl.get()), CURLE_ABORTED_BY_CALLBACK);
}

/// Runs the coroutine form on a context of its own.
reprise::adapters::beast_result<> co_call(const beast_client& client, reprise::retry_history& to) {
    boost::asio::io_context io;
    reprise::standard_strategy strategy({.attempts_max = 3, .backoff = {.base = 1ms}});
    const reprise::async_call_options options{
        .attempt_timeout = 300ms, .history = reprise::borrowed(&to)};
    reprise::adapters::beast_result<> last;
    boost::asio::co_spawn(
        io,
        reprise::async_retry(
            strategy, options,
            [&client](const reprise::attempt& a) {
                return reprise::adapters::beast_exchange(
                    {"127.0.0.1", client.port}, client.request(), a, client.repeat);
            }),
        [&](const std::exception_ptr& error, reprise::adapters::beast_result<> value) {
            EXPECT_EQ(error, nullptr);
            last = std::move(value);
        });
    io.run();
    return last;
}

// They had no facts, which the standard strategy refuses and a rule of one line retries.
TEST(beast_adapter, states_of_pointless_failures_that_they_must_not_be_repeated) {
    namespace http = boost::beast::http;
    using reprise::adapters::beast_stage;
    const auto attempts_after = [](boost::system::error_code error, beast_stage stage) {
        unsigned count = 0;
        const auto last = reprise::retry(reprise::attempts(3).every(0ms), [&] {
            ++count;
            reprise::adapters::beast_result<> result;
            result.error = error;
            result.stage = stage;
            result.method = "GET";
            return result;
        });
        EXPECT_EQ(last.error, error);
        return count;
    };
    EXPECT_EQ(attempts_after(http::error::bad_version, beast_stage::reading), 1U);
    EXPECT_EQ(attempts_after(http::error::body_limit, beast_stage::reading), 1U);
    EXPECT_EQ(attempts_after(boost::asio::error::host_not_found, beast_stage::connecting), 1U);
    EXPECT_EQ(attempts_after(http::error::end_of_stream, beast_stage::reading), 3U);
    EXPECT_EQ(
        attempts_after(boost::asio::error::host_not_found_try_again, beast_stage::connecting), 3U);
}

TEST(beast_adapter, describes_its_failure_in_words) {
    reprise::adapters::beast_result<> result;
    result.response.result(503);
    EXPECT_EQ(result.message(), "HTTP 503");
    result.error = boost::asio::error::connection_reset;
    EXPECT_EQ(result.message(), result.error.message());
}

TEST(beast_adapter, repeats_a_get_in_a_coroutine) {
    misbehaving_server server({is_silent(), hangs_up(), answers(200, "", "fine")});
    reprise::retry_history history;
    EXPECT_EQ(co_call({"GET", server.port()}, history).response.body(), "fine");
    EXPECT_EQ(history.failed_attempts(), 2U);
}

TEST(beast_adapter, never_repeats_a_post_that_was_canceled_at_its_deadline) {
    misbehaving_server server({is_silent(), answers(200)});
    reprise::retry_history history;
    EXPECT_TRUE(co_call({"POST", server.port()}, history).is_failure());
    EXPECT_EQ(server.requests().size(), 1U);
    EXPECT_EQ(history.refusal(), reprise::refusal_reason::unsafe);
}

// A signal between two steps became an exception without a stage, which a loop takes for a failure
// that leaves open whether the POST was sent, so it could be sent again.
TEST(beast_adapter, an_exchange_returns_its_stage_whenever_it_is_canceled) {
    namespace asio = boost::asio;
    namespace http = boost::beast::http;
    for (int steps = 0; steps < 4; ++steps) {
        asio::io_context io(1);
        asio::ip::tcp::acceptor server(io, {asio::ip::address_v4::loopback(), 0});
        const std::string port = std::to_string(server.local_endpoint().port());
        http::request<http::string_body> request{http::verb::post, "/orders", 11};
        asio::cancellation_signal signal;
        std::optional<reprise::adapters::beast_result<>> ended;
        asio::co_spawn(
            io, reprise::adapters::beast_exchange({"127.0.0.1", port}, request, {}),
            asio::bind_cancellation_slot(
                signal.slot(),
                [&](const std::exception_ptr& thrown, reprise::adapters::beast_result<> result) {
                    EXPECT_EQ(thrown, nullptr) << "after " << steps << " steps";
                    ended = std::move(result);
                }));
        for (int step = 0; step < steps; ++step) {
            io.run_one();
        }
        signal.emit(asio::cancellation_type::all);
        io.run();
        ASSERT_TRUE(ended.has_value());
        EXPECT_EQ(ended->error, asio::error::operation_aborted) << "after " << steps << " steps";
        EXPECT_EQ(ended->retry_facts().safety, reprise::retry_safety::no);
    }
}

/// One exchange with the limit of an attempt, on a name server that takes a part of its time. Empty
/// if the exchange does not end within five seconds of real time.
std::optional<reprise::adapters::beast_result<>> resolve_slowly(
    const std::string& port, reprise::duration limit, reprise::duration resolution) {
    reprise::testing::virtual_clock clock;
    const slow_name_server names(clock, resolution);
    const reprise::attempt current{
        .deadline = clock.now() + limit, .timeout = limit, .clock = &clock};
    boost::asio::io_context io(1);
    std::optional<reprise::adapters::beast_result<>> ended;
    boost::asio::co_spawn(
        io,
        reprise::adapters::beast_exchange(
            {"127.0.0.1", port}, beast_client{"POST", port}.request(), current),
        [&](const std::exception_ptr& thrown, reprise::adapters::beast_result<> result) {
            EXPECT_EQ(thrown, nullptr);
            ended = std::move(result);
        });
    io.run_for(5s);
    return ended;
}

// The exchange had all the time of the attempt once more after the name resolution.
TEST(beast_adapter, name_resolution_is_part_of_the_attempts_time) {
    misbehaving_server server({is_silent()});
    const auto ended = resolve_slowly(server.port(), 1h, 1h - 200ms);
    ASSERT_TRUE(ended.has_value()) << "waits for an hour";
    EXPECT_EQ(ended->error, boost::beast::error::timeout);
    EXPECT_EQ(ended->stage, reprise::adapters::beast_stage::reading);
}

TEST(beast_adapter, sends_nothing_if_the_name_resolution_took_all_the_time) {
    misbehaving_server server({answers(200)});
    const auto ended = resolve_slowly(server.port(), 1s, 2s);
    ASSERT_TRUE(ended.has_value());
    EXPECT_EQ(ended->error, boost::beast::error::timeout);
    EXPECT_EQ(ended->stage, reprise::adapters::beast_stage::connecting);
    EXPECT_TRUE(ended->retry_facts().timeout);
    EXPECT_EQ(ended->retry_facts().safety, reprise::retry_safety::yes);
    EXPECT_EQ(server.connection_count(), 0U);
}

// A GET that the program itself had canceled had no facts, so a rule of one line sent it again.
TEST(beast_adapter, never_repeats_an_exchange_that_the_program_canceled) {
    namespace asio = boost::asio;
    misbehaving_server server({is_silent()});
    unsigned count = 0;
    const auto fetch_and_cancel = [&](const reprise::attempt& current) {
        ++count;
        asio::io_context io(1);
        asio::cancellation_signal signal;
        reprise::adapters::beast_result<> ended;
        asio::co_spawn(
            io,
            reprise::adapters::beast_exchange(
                {"127.0.0.1", server.port()}, beast_client{"GET", server.port()}.request(),
                current),
            asio::bind_cancellation_slot(
                signal.slot(),
                [&](const std::exception_ptr&, reprise::adapters::beast_result<> result) {
                    ended = std::move(result);
                }));
        io.run_one();
        io.run_one();
        signal.emit(asio::cancellation_type::all);
        io.run();
        return ended;
    };
    const auto last =
        reprise::retry(reprise::attempts(3).every(0ms), {.attempt_timeout = 1h}, fetch_and_cancel);
    EXPECT_EQ(last.error, asio::error::operation_aborted);
    EXPECT_TRUE(last.is_canceled);
    EXPECT_EQ(count, 1U);
}

// The loop cancels it in the same way, but that is a timeout.
TEST(beast_adapter, repeats_a_get_that_the_loop_canceled_at_the_limit_of_the_attempt) {
    misbehaving_server server({is_silent(), answers(200, "", "fine")});
    const beast_client client{"GET", server.port()};
    reprise::testing::virtual_clock clock;
    reprise::retry_history history;
    boost::asio::io_context io(1);
    std::vector<reprise::adapters::beast_result<>> results;
    reprise::adapters::beast_result<> last;
    const auto fetch = [&](const reprise::attempt& current)
        -> boost::asio::awaitable<reprise::adapters::beast_result<>> {
        const reprise::adapters::http_server to{"127.0.0.1", client.port};
        const auto request = client.request();
        results.push_back(co_await reprise::adapters::beast_exchange(to, request, current));
        co_return results.back();
    };
    const auto rule = reprise::attempts(3).every(0ms);
    const reprise::async_call_options options{
        .attempt_timeout = 1h,
        .history = reprise::borrowed(&history),
        .clock = reprise::borrowed(&clock)};
    boost::asio::co_spawn(
        io, reprise::async_retry(rule, options, fetch),
        [&](const std::exception_ptr& thrown, reprise::adapters::beast_result<> value) {
            EXPECT_EQ(thrown, nullptr);
            last = std::move(value);
        });
    std::jthread runs([&] { io.run(); });
    EXPECT_EQ(server.requests().size(), 1U);
    clock.advance(1h);
    runs.join();
    ASSERT_EQ(results.size(), 2U);
    EXPECT_EQ(results[0].error, boost::asio::error::operation_aborted);
    EXPECT_FALSE(results[0].is_canceled);
    EXPECT_EQ(last.response.body(), "fine");
    EXPECT_EQ(history.failed_attempts(), 1U);
}

TEST(curl_adapter, first_program_prints_the_page_after_a_429) {
    misbehaving_server server({answers(429, "Retry-After: 0\r\n"), answers(200, "", "21 degrees")});
    const auto ran = run_example("example_4_adapters_curl", {server.url()});
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_EQ(ran.output, "200 21 degrees\n");
    EXPECT_EQ(server.requests().size(), 2U);
}

TEST(beast_adapter, first_program_prints_the_page_after_a_429) {
    misbehaving_server server({answers(429, "Retry-After: 0\r\n"), answers(200, "", "21 degrees")});
    const auto ran = run_example("example_4_adapters_beast", {server.port()});
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_EQ(ran.output, "21 degrees\n");
    EXPECT_EQ(server.requests().size(), 2U);
}

}  // namespace
}  // namespace adapters
