#include <gtest/gtest.h>

#include <map>

#include <reprise/retry.hpp>
#include <reprise/testing/virtual_clock.hpp>

#include "redis_server.hpp"
#include "run_example.hpp"

// The hiredis adapter on Redis servers of its own.

namespace adapters {
namespace {

using reprise::repeatability;

/// The table of codes compiles without hiredis, so it has them as numbers.
constexpr int code_in_table(std::string_view name) {
    return reprise::detail::find_row(reprise::adapters::detail::hiredis_rows, name)->code;
}
static_assert(code_in_table("REDIS_ERR_IO") == REDIS_ERR_IO);
static_assert(code_in_table("REDIS_ERR_OTHER") == REDIS_ERR_OTHER);
static_assert(code_in_table("REDIS_ERR_EOF") == REDIS_ERR_EOF);
static_assert(code_in_table("REDIS_ERR_PROTOCOL") == REDIS_ERR_PROTOCOL);
static_assert(code_in_table("REDIS_ERR_OOM") == REDIS_ERR_OOM);
#if defined(REDIS_ERR_TIMEOUT)  // Since hiredis 1.0.
static_assert(code_in_table("REDIS_ERR_TIMEOUT") == REDIS_ERR_TIMEOUT);
#endif
static_assert(
    reprise::adapters::detail::hiredis_rows.size() == 6, "a code that is not compared above");

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

// The next command followed the ASK instead: the other node served a key that had not moved yet as
// an empty one.
TEST(hiredis_adapter, an_ask_that_no_attempt_follows_redirects_no_other_command) {
    const int bus_port = free_port();
    const redis_server source(
        {"--cluster-enabled", "yes", "--cluster-port", std::to_string(free_port())});
    const redis_server target(
        {"--cluster-enabled", "yes", "--cluster-port", std::to_string(bus_port)});
    source.ask({"CLUSTER", "ADDSLOTSRANGE", "0", "16383"});
    source.ask(
        {"CLUSTER", "MEET", "127.0.0.1", std::to_string(target.port()), std::to_string(bus_port)});
    const std::string slot = source.ask({"CLUSTER", "KEYSLOT", "{u}:a"});
    const auto set_slot = [&slot](
                              const redis_server& on, const char* state, const redis_server& of) {
        return becomes_ready([&] {
            return on.ask({"CLUSTER", "SETSLOT", slot, state, of.ask({"CLUSTER", "MYID"})}) == "OK";
        });
    };
    ASSERT_TRUE(becomes_ready([&] { return source.ask({"SET", "{u}:b", "41"}) == "OK"; }));
    ASSERT_TRUE(becomes_ready([&] { return target.ask({"GET", "{u}:b"}).starts_with("MOVED"); }));
    ASSERT_TRUE(set_slot(target, "IMPORTING", source));
    ASSERT_TRUE(set_slot(source, "MIGRATING", target));

    redis_connection connection({"127.0.0.1", source.port()});
    const auto run = [&](std::uint32_t attempts, const std::vector<std::string>& words) {
        return reprise::retry(
            reprise::attempts(attempts).every(0ms), {.timeout = 20s},
            [&](const reprise::attempt& current) { return connection.command(current, words); });
    };
    EXPECT_THROW(static_cast<void>(run(1, {"GET", "{u}:a"})), redis_error) << "the ASK";
    EXPECT_EQ(run(1, {"INCR", "{u}:b"})->integer, 42);
    EXPECT_THROW(static_cast<void>(run(1, {"GET", "{u}:a"})), redis_error)
        << "a later call asks again";
    EXPECT_EQ(run(2, {"GET", "{u}:a"})->type, REDIS_REPLY_NIL) << "the other node answers";
}

// The first command of each attempt followed the ASK to the second one.
TEST(hiredis_adapter, an_ask_redirects_the_command_that_it_answered) {
    std::vector<std::string> received;
    const auto answer = [&](int client, std::string_view text) {
        std::array<char, 256> chunk{};
        const auto size = ::recv(client, chunk.data(), chunk.size(), 0);
        const std::string_view command(chunk.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
        for (const std::string_view word : {"ASKING", "GET", "INCR"}) {
            if (command.find(word) != std::string_view::npos) {
                received.emplace_back(word);
            }
        }
        scripted_node::send_text(client, text);
    };
    {
        const scripted_node importing({[&](int client) {
            answer(client, "+OK\r\n");
            answer(client, ":42\r\n");
        }});
        const scripted_node home({[&, port = importing.port()](int client) {
            answer(client, "$1\r\na\r\n");
            answer(client, "-ASK 1 127.0.0.1:" + std::to_string(port) + "\r\n");
            answer(client, "$1\r\na\r\n");
        }});
        redis_connection connection({"127.0.0.1", home.port()});
        const auto count = [&](const reprise::attempt& current) {
            static_cast<void>(connection.command(current, {"GET", "{u}:a"}));
            return connection.command(current, {"INCR", "{u}:b"});
        };
        const auto rule = reprise::attempts(2).every(0ms);
        EXPECT_EQ(reprise::retry(rule, {.timeout = 20s}, count)->integer, 42);
    }
    EXPECT_EQ(received, (std::vector<std::string>{"GET", "INCR", "GET", "ASKING", "INCR"}));
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

// These codes come before a script starts if Redis itself sends them. Each attempt counted.
TEST(hiredis_adapter, never_repeats_a_script_that_ends_with_a_code_of_redis_on_its_own_account) {
    const redis_server server;
    redis_connection connection({"127.0.0.1", server.port()});
    for (const std::string text :
         {"LOADING my cache", "MASTERDOWN later", "CLUSTERDOWN of the shop", "MOVED on",
          "ASK me"}) {
        server.ask({"DEL", "count"});
        const std::vector<std::string> words{
            "EVAL", "redis.call('INCR', KEYS[1]) return redis.error_reply('" + text + "')", "1",
            "count"};
        const auto run = [&](const reprise::attempt& current) {
            return connection.command(current, words);
        };
        EXPECT_THROW(
            static_cast<void>(reprise::retry(reprise::attempts(3).every(0ms), run)), redis_error);
        EXPECT_EQ(server.ask({"GET", "count"}), "1") << text;
    }
}

// They were in histories and logs.
TEST(hiredis_adapter, history_of_a_refused_command_has_no_arguments_of_it) {
    const redis_server server;
    redis_connection connection({"127.0.0.1", server.port()});
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
             {"ACL", "SETUSER", "bob", "<secret"},
             {"ACL", "SETUSER", "bob", "#it's a secret"},
             {"XREADGROUP", "GROUP", "g", "c", "STREAMS", "customer:secret", ">"},
             {"CLIENT", "secret"},
             {"CONFIG", "SET", "maxmemory", "1mb", "secret", "3"},
             {"EVAL", "local password = 'secret", "0"}}) {
        reprise::retry_history history;
        EXPECT_THROW(
            static_cast<void>(reprise::retry(
                reprise::attempts(2), {.history = &history},
                [&](const reprise::attempt& current) {
                    return connection.command(current, words);
                })),
            redis_error);
        const std::string text = to_string(history);
        EXPECT_EQ(text.find("secret"), std::string::npos) << text;
    }
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

// Connecting, ASKING and the command each had the whole time of the attempt: three times as long.
TEST(hiredis_adapter, all_steps_of_an_attempt_share_its_time) {
    const int port = free_port();
    const auto redirects_to_itself = [port](int client) {
        scripted_node::read_command(client);
        scripted_node::send_text(client, "-ASK 1 127.0.0.1:" + std::to_string(port) + "\r\n");
    };
    const auto answers_late = [](int client) {
        while (scripted_node::read_command(client)) {
            pollfd next{client, POLLIN, 0};
            ::poll(&next, 1, 150);
            scripted_node::send_text(client, "+OK\r\n");
        }
    };
    const scripted_node node({redirects_to_itself, answers_late}, port);
    redis_connection connection({"127.0.0.1", port});
    EXPECT_THROW(connection.command(limited_to(200ms), {"SET", "a", "1"}), redis_error)
        << "the ASK";
    try {
        connection.command(limited_to(200ms, 2), {"SET", "a", "1"});
        FAIL() << "took 300 ms of 200";
    } catch (const redis_error& error) {
        EXPECT_TRUE(error.is_unknown());
        EXPECT_TRUE(error.retry_facts().timeout);
    }
}

// The wait is one of real time: nothing wakes it when a virtual clock reaches the deadline.
TEST(hiredis_adapter, waits_for_an_answer_as_long_as_the_clock_of_the_call_leaves) {
    const scripted_node node({[](int client) {
        scripted_node::read_command(client);
        pollfd closed{client, POLLIN, 0};
        ::poll(&closed, 1, 5000);
        scripted_node::send_text(client, "+OK\r\n");
    }});
    redis_connection connection({"127.0.0.1", node.port()});
    reprise::testing::virtual_clock clock;
    const reprise::attempt current{.deadline = clock.now() + 1h, .timeout = 1h, .clock = &clock};
    clock.advance(1h - 100ms);
    try {
        static_cast<void>(connection.command(current, {"GET", "a"}));
        ADD_FAILURE() << "waited for the answer for seconds";
    } catch (const redis_error& error) {
        EXPECT_TRUE(error.retry_facts().timeout);
    }
}

// A budget charged it as any other failure.
TEST(hiredis_adapter, server_that_accepts_no_connection_in_time_is_a_timeout) {
    const int port = free_port();
    const int listener = listen_on(port, 0);
    std::vector<redis_connection> waiting;  // The first ones fill the queue of the listener.
    int unsent = 0;
    for (int each = 0; each < 4; ++each) {
        waiting.emplace_back(reprise::adapters::redis_address{"127.0.0.1", port});
        try {
            static_cast<void>(waiting.back().command(limited_to(100ms), {"INCR", "a"}));
            ADD_FAILURE() << "it was not accepted";
        } catch (const redis_error& error) {
            EXPECT_TRUE(error.retry_facts().timeout) << error.what();
            unsent += error.is_unknown() ? 0 : 1;
        }
    }
    EXPECT_GT(unsent, 0) << "the others were not connected";
    ::close(listener);
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
        static_cast<void>(connection.command(limited_to(5s, 2), {"INCR", "a"}));
        ADD_FAILURE() << "the connection was closed";
    } catch (const redis_error& error) {
        EXPECT_FALSE(error.is_unknown());
        EXPECT_EQ(error.retry_facts().safety, reprise::retry_safety::yes);
    }
}

// It was taken for the answer to the next command, and so on for all later ones.
TEST(hiredis_adapter, an_unrequested_answer_is_not_that_to_the_next_command) {
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
