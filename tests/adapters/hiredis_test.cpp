#include <gtest/gtest.h>

#include <arpa/inet.h>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include <reprise/retry.hpp>
#include <reprise/retry/adapters/hiredis.hpp>

#include "run_example.hpp"
#include "server_process.hpp"

// The hiredis adapter on Redis servers of its own.

namespace adapters {
namespace {

using namespace std::chrono_literals;
using reprise::repeatability;
using reprise::adapters::redis_connection;
using reprise::adapters::redis_error;
using reprise::adapters::redis_reply;

/// A port that was free a moment ago, below those that the kernel gives out.
int free_port() {
    static std::atomic<int> next = 10000 + ::getpid() % 20000;
    for (;; ++next) {
        const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(next));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const bool is_free =
            ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
        ::close(socket);
        if (is_free) {
            return next++;
        }
    }
}

class redis_server {
public:
    explicit redis_server(const std::vector<std::string>& options = {})
        : process_(
              command(folder_.path().string(), port_, options), folder_.path() / "log", SIGKILL) {
        process_.start();
        EXPECT_TRUE(becomes_ready([&] { return ask({"PING"}) != "(lost)"; }));
    }
    [[nodiscard]] int port() const noexcept { return port_; }
    void stop(int signal) { process_.stop(signal); }
    void start() { process_.start(); }
    /// One command of the test itself, without retries.
    std::string ask(const std::vector<std::string>& words) const {
        redis_connection connection({"127.0.0.1", port_});
        try {
            const redis_reply reply = connection.command({.timeout = 5s}, words);
            return reply->str != nullptr ? std::string(reply->str, reply->len)
                                         : std::to_string(reply->integer);
        } catch (const redis_error& error) {
            return error.is_unknown() || error.what() == std::string("Connection refused")
                       ? "(lost)"
                       : error.what();
        }
    }

private:
    static std::vector<std::string> command(
        const std::string& folder, int port, const std::vector<std::string>& options) {
        std::vector<std::string> words{"redis-server", "--port",    std::to_string(port),
                                       "--bind",       "127.0.0.1", "--dir",
                                       folder,         "--save",    ""};
        words.insert(words.end(), options.begin(), options.end());
        return words;
    }

    temporary_folder folder_;
    int port_ = free_port();
    server_process process_;
};

reprise::standard_strategy make_strategy() {
    return reprise::standard_strategy(
        {.attempts_max = 1000,
         .backoff = {.base = 2ms, .cap = 100ms},
         .bucket = {.capacity = 1'000'000}});
}

/// Retries one command; notes the codes of refusals, and calls `before` before each attempt.
struct retried_command {
    redis_connection connection;
    std::map<std::string, int> codes{};

    template <class Before>
    std::string run(
        const std::vector<std::string>& words, Before before,
        repeatability repeat = repeatability::unspecified) {
        auto strategy = make_strategy();
        const redis_reply reply = reprise::retry(
            strategy, {.timeout = 30s, .attempt_timeout = 5s}, [&](const reprise::attempt& a) {
                before(a);
                try {
                    return connection.command(a, words, repeat);
                } catch (const redis_error& error) {
                    ++codes[std::string(reprise::adapters::redis_error_code(error.what()))];
                    throw;
                }
            });
        return reply->str != nullptr ? std::string(reply->str, reply->len) : "";
    }
};

/// The outcome of one worker's increments.
struct increments {
    std::int64_t done = 0;
    std::int64_t unknown = 0;
    std::int64_t failed = 0;
};

TEST(hiredis_adapter, loses_and_doubles_no_increment_while_the_server_restarts) {
    redis_server server({"--appendonly", "yes", "--appendfsync", "always"});
    auto strategy = make_strategy();
    std::atomic<bool> is_over = false;
    std::atomic<int> ended = 0;
    std::map<int, increments> counted;
    {
        std::vector<std::jthread> workers;
        for (int worker = 0; worker < 4; ++worker) {
            increments& mine = counted[worker];
            workers.emplace_back([&, worker] {
                redis_connection connection({"127.0.0.1", server.port()});
                while (!is_over) {
                    try {
                        static_cast<void>(reprise::retry(
                            strategy, {.timeout = 60s}, [&](const reprise::attempt& a) {
                                return connection.command(a, {"INCR", std::to_string(worker)});
                            }));
                        ++mine.done;
                    } catch (const redis_error& error) {
                        ++(error.is_unknown() ? mine.unknown : mine.failed);
                    }
                    ++ended;
                }
            });
        }
        for (const int signal : {SIGTERM, SIGKILL, SIGTERM, SIGKILL}) {
            EXPECT_TRUE(becomes_ready([&, until = ended + 400] { return ended >= until; }));
            server.stop(signal);
            server.start();
        }
        EXPECT_TRUE(becomes_ready([&, until = ended + 400] { return ended >= until; }));
        is_over = true;
    }
    for (const auto& [worker, mine] : counted) {
        const auto value = std::stoll(server.ask({"GET", std::to_string(worker)}));
        EXPECT_GE(value, mine.done) << "lost";
        EXPECT_LE(value, mine.done + mine.unknown) << "doubled";
        EXPECT_EQ(mine.failed, 0);
        std::cout << "worker " << worker << ": " << mine.done << " done, " << mine.unknown
                  << " unknown, counter " << value << '\n';
    }
}

TEST(hiredis_adapter, waits_while_the_server_loads_its_data) {
    redis_server server(
        {"--key-load-delay", "500", "--loading-process-events-interval-bytes", "1024",
         "--rdbcompression", "no"});
    for (int key = 0; key < 2000; ++key) {
        server.ask({"SET", "key" + std::to_string(key), std::string(100, 'x')});
        if (key % 500 == 0) {
            server.ask({"SET", "name", "lamp"});
        }
    }
    EXPECT_EQ(server.ask({"SAVE"}), "OK");
    server.stop(SIGKILL);
    server.start();
    retried_command command{redis_connection({"127.0.0.1", server.port()})};
    EXPECT_EQ(command.run({"GET", "name"}, [](const auto&) {}), "lamp");
    EXPECT_GT(command.codes["LOADING"], 0);
}

TEST(hiredis_adapter, waits_until_a_replica_becomes_the_primary) {
    const redis_server primary;
    const redis_server replica;
    replica.ask({"REPLICAOF", "127.0.0.1", std::to_string(primary.port())});
    retried_command command{redis_connection({"127.0.0.1", replica.port()})};
    const auto promote = [&](const reprise::attempt& a) {
        if (a.number == 3) {
            replica.ask({"REPLICAOF", "NO", "ONE"});
        }
    };
    EXPECT_EQ(command.run({"SET", "name", "lamp"}, promote), "OK");
    EXPECT_EQ(command.codes["READONLY"], 2);
}

TEST(hiredis_adapter, waits_for_a_cluster_and_follows_its_slots) {
    const auto options = [](int bus_port) {
        return std::vector<std::string>{
            "--cluster-enabled", "yes", "--cluster-port", std::to_string(bus_port)};
    };
    const int bus_port = free_port();
    const redis_server one(options(free_port()));
    const redis_server other(options(bus_port));
    retried_command command{redis_connection({"127.0.0.1", one.port()})};
    const auto form_cluster = [&](const reprise::attempt& a) {
        if (a.number == 3) {
            one.ask({"CLUSTER", "ADDSLOTSRANGE", "0", "8191"});
            other.ask({"CLUSTER", "ADDSLOTSRANGE", "8192", "16383"});
            one.ask(
                {"CLUSTER", "MEET", "127.0.0.1", std::to_string(other.port()),
                 std::to_string(bus_port)});
        }
    };
    // The slot of "foo" is 12182, which the other node serves.
    EXPECT_EQ(command.run({"SET", "foo", "lamp"}, form_cluster), "OK");
    EXPECT_GT(command.codes["CLUSTERDOWN"], 0);
    EXPECT_EQ(command.codes["MOVED"], 1);
    EXPECT_EQ(command.connection.address().port, other.port());
    // While a slot moves, a command on several of its keys must wait.
    const std::string target = one.ask({"CLUSTER", "MYID"});
    EXPECT_EQ(other.ask({"CLUSTER", "SETSLOT", "12182", "MIGRATING", target}), "OK");
    const auto end_move = [&](const reprise::attempt& a) {
        if (a.number == 3) {
            other.ask({"CLUSTER", "SETSLOT", "12182", "STABLE"});
        }
    };
    static_cast<void>(command.run({"MGET", "foo", "{foo}2"}, end_move));
    EXPECT_EQ(command.codes["TRYAGAIN"], 2);
}

TEST(hiredis_adapter, never_repeats_a_command_of_the_wrong_type) {
    const redis_server server;
    server.ask({"SET", "name", "lamp"});
    retried_command command{redis_connection({"127.0.0.1", server.port()})};
    EXPECT_THROW(
        static_cast<void>(command.run({"LPUSH", "name", "x"}, [](const auto&) {})), redis_error);
    EXPECT_EQ(command.codes["WRONGTYPE"], 1);
}

// The name of the command was read after its memory had been released, so whether a script was
// recognised as one depended on the compiler.
TEST(hiredis_adapter, never_repeats_a_script_that_may_have_written) {
    const redis_server server;
    redis_connection connection({"127.0.0.1", server.port()});
    auto strategy = make_strategy();
    for (const std::string name : {"EVAL", "eval"}) {
        const std::vector<std::string> words{
            name, "redis.call('INCR', KEYS[1]) return redis.error_reply('TRYAGAIN later')", "1",
            "count"};
        EXPECT_THROW(
            static_cast<void>(reprise::retry(
                strategy, {.timeout = 1s},
                [&](const reprise::attempt& current) {
                    return connection.command(current, words);
                })),
            redis_error);
    }
    EXPECT_EQ(server.ask({"GET", "count"}), "2") << "once for each call";
}

TEST(hiredis_adapter, repeats_after_a_timeout_only_what_is_harmless) {
    const redis_server server;
    server.ask({"SET", "n", "1"});
    redis_connection connection({"127.0.0.1", server.port()});
    auto strategy = make_strategy();
    const auto run_paused = [&](const std::vector<std::string>& words) {
        server.ask({"CLIENT", "PAUSE", "600", "ALL"});
        reprise::retry_history history;
        try {
            static_cast<void>(reprise::retry(
                strategy, {.timeout = 20s, .attempt_timeout = 200ms, .history = &history},
                [&](const reprise::attempt& a) { return connection.command(a, words); }));
        } catch (const redis_error& error) {
            EXPECT_TRUE(error.is_unknown());
        }
        return history.refusal();
    };
    EXPECT_EQ(run_paused({"GET", "n"}), reprise::refusal_reason::none);
    EXPECT_EQ(run_paused({"INCR", "n"}), reprise::refusal_reason::unsafe);
}

/// An attempt with this time, which starts now.
reprise::attempt limited_to(reprise::duration time) {
    reprise::attempt current{.timeout = time};
    current.deadline = current.now() + time;
    return current;
}

/// Sends every command of its first connection to itself with an ASK, and answers those of the
/// second one after a while.
class slow_node {
public:
    explicit slow_node(std::chrono::milliseconds delay) : delay_(delay) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port_));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(::listen(listener_, 4), 0);
        thread_ = std::jthread([this] {
            serve("-ASK 1 127.0.0.1:" + std::to_string(port_) + "\r\n", 0ms);
            serve("+OK\r\n", delay_);
        });
    }
    ~slow_node() {
        ::shutdown(listener_, SHUT_RDWR);  // Wakes a waiting accept.
        thread_.join();
        ::close(listener_);
    }
    [[nodiscard]] int port() const noexcept { return port_; }

private:
    void serve(const std::string& answer, std::chrono::milliseconds delay) const {
        const int client = ::accept(listener_, nullptr, nullptr);
        char chunk[256];
        while (client >= 0 && ::recv(client, chunk, sizeof chunk, 0) > 0) {
            pollfd next{client, POLLIN, 0};
            ::poll(&next, 1, static_cast<int>(delay.count()));
            ::send(client, answer.data(), answer.size(), MSG_NOSIGNAL);
            if (delay == 0ms) {
                break;
            }
        }
        ::close(client);
    }

    std::chrono::milliseconds delay_;
    int port_ = free_port();
    int listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    std::jthread thread_;
};

// Connecting, ASKING and the command each had the whole time of the attempt: three times as long.
TEST(hiredis_adapter, all_steps_of_an_attempt_share_its_time) {
    slow_node node(150ms);
    redis_connection connection({"127.0.0.1", node.port()});
    EXPECT_THROW(connection.command(limited_to(200ms), {"SET", "a", "1"}), redis_error)
        << "the ASK";
    try {
        connection.command(limited_to(200ms), {"SET", "a", "1"});
        FAIL() << "took 300 ms of 200";
    } catch (const redis_error& error) {
        EXPECT_TRUE(error.is_unknown());
        EXPECT_TRUE(error.retry_facts().timeout);
    }
}

TEST(hiredis_adapter, mark_of_the_call_decides_about_a_command_whose_answer_was_lost) {
    const redis_server server;
    server.ask({"SET", "n", "1"});
    redis_connection connection({"127.0.0.1", server.port()});
    auto strategy = make_strategy();
    const auto run_paused = [&](const std::vector<std::string>& words, repeatability mark,
                                repeatability stated = repeatability::unspecified) {
        server.ask({"CLIENT", "PAUSE", "600", "ALL"});
        reprise::retry_history history;
        try {
            static_cast<void>(reprise::retry(
                strategy,
                {.timeout = 20s, .attempt_timeout = 200ms, .repeat = mark, .history = &history},
                [&](const reprise::attempt& a) { return connection.command(a, words, stated); }));
        } catch (const redis_error& error) {
            EXPECT_TRUE(error.is_unknown());
        }
        return history.refusal();
    };
    using enum repeatability;
    EXPECT_EQ(run_paused({"GET", "n"}, not_repeatable), reprise::refusal_reason::unsafe);
    EXPECT_EQ(run_paused({"SET", "n", "2"}, repeatable), reprise::refusal_reason::none);
    EXPECT_EQ(
        run_paused({"SET", "n", "3"}, repeatable, not_repeatable), reprise::refusal_reason::unsafe)
        << "what the command states about itself counts more";
}

TEST(hiredis_adapter, mark_of_the_call_decides_about_a_script_that_failed) {
    const redis_server server;
    redis_connection connection({"127.0.0.1", server.port()});
    const std::vector<std::string> words{
        "EVAL", "redis.call('INCR', KEYS[1]) return redis.error_reply('TRYAGAIN later')", "1",
        "count"};
    EXPECT_THROW(
        static_cast<void>(reprise::retry(
            reprise::attempts(3).every(0ms), {.repeat = repeatability::repeatable},
            [&](const reprise::attempt& current) { return connection.command(current, words); })),
        redis_error);
    EXPECT_EQ(server.ask({"GET", "count"}), "3");
}

/// Treats each connection as the next function of its plan says, and closes it.
class scripted_node {
public:
    using behaviour = std::function<void(int client)>;

    explicit scripted_node(std::vector<behaviour> plan) : plan_(std::move(plan)) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(static_cast<std::uint16_t>(port_));
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
        EXPECT_EQ(::listen(listener_, 4), 0);
        thread_ = std::jthread([this] {
            for (const behaviour& next : plan_) {
                const int client = ::accept(listener_, nullptr, nullptr);
                if (client >= 0) {
                    next(client);
                    ::close(client);
                }
            }
        });
    }
    ~scripted_node() {
        ::shutdown(listener_, SHUT_RDWR);  // Wakes a waiting accept.
        thread_.join();
        ::close(listener_);
    }
    scripted_node(const scripted_node&) = delete;
    scripted_node& operator=(const scripted_node&) = delete;
    [[nodiscard]] int port() const noexcept { return port_; }

    static bool read_command(int client) {
        std::array<char, 256> chunk{};
        return ::recv(client, chunk.data(), chunk.size(), 0) > 0;
    }
    static bool send_text(int client, std::string_view text) {
        return ::send(client, text.data(), text.size(), MSG_NOSIGNAL) > 0;
    }

private:
    std::vector<behaviour> plan_;
    int port_ = free_port();
    int listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    std::jthread thread_;
};

// Each piece of an answer had all the time of the attempt.
TEST(hiredis_adapter, answer_that_arrives_in_pieces_ends_with_the_attempts_time) {
    const scripted_node node({[](int client) {
        scripted_node::read_command(client);
        scripted_node::send_text(client, "$1000\r\n");
        for (int piece = 0; piece < 100 && scripted_node::send_text(client, "x"); ++piece) {
            ::poll(nullptr, 0, 30);
        }
    }});
    redis_connection connection({"127.0.0.1", node.port()});
    try {
        static_cast<void>(connection.command(limited_to(200ms), {"GET", "a"}));
        ADD_FAILURE() << "the answer has no end";
    } catch (const redis_error& error) {
        EXPECT_TRUE(error.retry_facts().timeout) << error.what();
        EXPECT_TRUE(error.is_unknown());
    }
    EXPECT_FALSE(connection.is_open());
}

// It was reported as a command that may have been executed.
TEST(hiredis_adapter, command_is_not_sent_if_its_asking_was_lost) {
    std::string redirection;
    const scripted_node node(
        {[&](int client) {
             scripted_node::read_command(client);
             scripted_node::send_text(client, redirection);
         },
         [](int client) { scripted_node::read_command(client); }});
    redirection = "-ASK 1 127.0.0.1:" + std::to_string(node.port()) + "\r\n";
    redis_connection connection({"127.0.0.1", node.port()});
    EXPECT_THROW(static_cast<void>(connection.command(limited_to(5s), {"INCR", "a"})), redis_error)
        << "the ASK";
    try {
        static_cast<void>(connection.command(limited_to(5s), {"INCR", "a"}));
        ADD_FAILURE() << "the connection was closed";
    } catch (const redis_error& error) {
        EXPECT_FALSE(error.is_unknown());
        EXPECT_EQ(error.retry_facts().safety, reprise::retry_safety::yes);
    }
}

// It was taken for the answer to the next command, and so on for all later ones.
TEST(hiredis_adapter, answer_that_nobody_asked_for_is_not_that_to_the_next_command) {
    const auto answer_with = [](std::vector<std::string> texts) {
        return [texts = std::move(texts)](int client) {
            scripted_node::read_command(client);
            for (const std::string& text : texts) {
                scripted_node::send_text(client, text);
            }
            if (scripted_node::read_command(client)) {
                scripted_node::send_text(client, "$1\r\nb\r\n");
            }
        };
    };
    const std::string asked = "$1\r\na\r\n";
    const std::string unasked = "$1\r\nx\r\n";
    for (const auto& texts : {std::vector{asked + unasked}, std::vector{asked, unasked}}) {
        const scripted_node node({answer_with(texts), answer_with({"$1\r\nb\r\n"})});
        redis_connection connection({"127.0.0.1", node.port()});
        EXPECT_STREQ(connection.command(limited_to(5s), {"GET", "a"})->str, "a");
        pollfd unread{connection.native()->fd, POLLIN, 0};
        ::poll(&unread, 1, texts.size() == 1 ? 0 : 5000);
        EXPECT_STREQ(connection.command(limited_to(5s), {"GET", "b"})->str, "b");
        connection.close();
    }
}

TEST(hiredis_adapter, sends_a_command_that_is_longer_than_the_buffers) {
    const redis_server server;
    redis_connection connection({"127.0.0.1", server.port()});
    const std::string value(std::size_t{32} << 20, 'x');
    static_cast<void>(connection.command(limited_to(60s), {"SET", "a", value}));
    const auto reply = connection.command(limited_to(60s), {"GET", "a"});
    EXPECT_EQ(reply->len, value.size());
}

TEST(hiredis_adapter, first_program_prints_a_value) {
    const redis_server server;
    server.ask({"SET", "name", "lamp"});
    const auto ran = run_example("example_4_adapters_hiredis", {std::to_string(server.port())});
    EXPECT_EQ(ran.exit_code, 0);
    EXPECT_EQ(ran.output, "lamp\n");
}

}  // namespace
}  // namespace adapters
