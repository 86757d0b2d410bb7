#include <gtest/gtest.h>

#include <reprise/retry.hpp>

#include "redis_server.hpp"

// What `redis_options::on_connect` does with each new connection.

namespace adapters {
namespace {

// AUTH and SELECT were lost with the connection, and all later commands failed or went to database
// 0.
TEST(hiredis_preparation, prepares_each_new_connection_before_its_first_command) {
    const redis_server server({"--requirepass", "secret"});
    // [prepare]
    redis_connection connection(
        {"127.0.0.1", server.port()}, {.on_connect = [](auto& on, const reprise::attempt& current) {
            on.command(current, {"AUTH", "secret"});
            on.command(current, {"SELECT", "3"});
        }});
    // [/prepare]
    const auto once = limited_to(5s);
    static_cast<void>(connection.command(once, {"SET", "name", "lamp"}));
    EXPECT_STREQ(connection.command(once, {"GET", "name"})->str, "lamp");
    static_cast<void>(connection.command(once, {"QUIT"}));
    pollfd closed{connection.native()->fd, POLLIN, 0};
    ::poll(&closed, 1, 5000);
    EXPECT_STREQ(connection.command(once, {"GET", "name"})->str, "lamp") << "database 3 again";
}

TEST(hiredis_preparation, refused_preparation_is_a_refused_attempt) {
    const redis_server server({"--requirepass", "secret"});
    redis_connection connection(
        {"127.0.0.1", server.port()},
        {.on_connect = [](redis_connection& on, const reprise::attempt& current) {
            on.command(current, {"AUTH", "guessed"});
        }});
    int attempts = 0;
    try {
        static_cast<void>(
            reprise::retry(reprise::attempts(3).every(0ms), [&](const reprise::attempt& current) {
                ++attempts;
                return connection.command(current, {"GET", "name"});
            }));
        ADD_FAILURE() << "the password is wrong";
    } catch (const redis_error& error) {
        EXPECT_EQ(reprise::adapters::redis_error_code(error.what()), "WRONGPASS");
    }
    EXPECT_EQ(attempts, 1);
    EXPECT_FALSE(connection.is_open()) << "the next attempt must not use it as it is";
}

TEST(hiredis_preparation, history_of_a_refused_preparation_has_no_password) {
    const redis_server server;
    redis_connection connection(
        {"127.0.0.1", server.port()},
        {.on_connect = [](redis_connection& on, const reprise::attempt& current) {
            on.command(current, {"HOWDY", "3", "AUTH", "app", "secret"});
        }});
    reprise::retry_history history;
    EXPECT_THROW(
        static_cast<void>(reprise::retry(
            reprise::attempts(2).every(0ms), {.history = &history},
            [&](const reprise::attempt& current) {
                return connection.command(current, {"GET", "name"});
            })),
        redis_error);
    const std::string text = to_string(history);
    EXPECT_NE(text.find("unknown command"), std::string::npos) << text;
    EXPECT_EQ(text.find("secret"), std::string::npos) << text;
}

TEST(hiredis_preparation, connection_lost_while_it_is_prepared_has_sent_no_command) {
    const auto close_at_once = [](int client) { scripted_node::read_command(client); };
    const auto answer_twice = [](int client) {
        for (const std::string_view answer : {"+OK\r\n", ":1\r\n"}) {
            scripted_node::read_command(client);
            scripted_node::send_text(client, answer);
        }
    };
    for (const bool is_hidden : {false, true}) {
        const scripted_node node({close_at_once, answer_twice});
        redis_connection connection(
            {"127.0.0.1", node.port()},
            {.on_connect = [&](redis_connection& on, const reprise::attempt& current) {
                try {
                    on.command(current, {"SELECT", "3"});
                } catch (const redis_error&) {
                    if (!is_hidden) {
                        throw;
                    }
                }
            }});
        reprise::retry_history history;
        const auto count = reprise::retry(
            reprise::attempts(2).every(0ms),
            {.repeat = reprise::repeatability::not_repeatable, .history = &history},
            [&](const reprise::attempt& current) {
                return connection.command(current, {"INCR", "n"});
            });
        EXPECT_EQ(count->integer, 1);
        EXPECT_EQ(history.failed_attempts(), 1U);
    }
}

// Each lost connection would begin the preparation of the next one inside its own.
TEST(hiredis_preparation, connection_that_closes_while_it_is_prepared_is_not_replaced_meanwhile) {
    const auto answer_once = [](int client) {
        scripted_node::read_command(client);
        scripted_node::send_text(client, "+OK\r\n");
    };
    const scripted_node node({answer_once, answer_once});
    int prepared = 0;
    redis_connection connection(
        {"127.0.0.1", node.port()},
        {.on_connect = [&](redis_connection& on, const reprise::attempt& current) {
            ++prepared;
            on.command(current, {"AUTH", "secret"});
            pollfd closed{on.native()->fd, POLLIN, 0};
            ::poll(&closed, 1, 5000);
            on.command(current, {"SELECT", "3"});
        }});
    try {
        static_cast<void>(connection.command(limited_to(5s), {"GET", "a"}));
        ADD_FAILURE() << "the connection was closed";
    } catch (const redis_error& error) {
        EXPECT_EQ(error.retry_facts().safety, reprise::retry_safety::yes);
        EXPECT_FALSE(error.is_unknown());
    }
    EXPECT_EQ(prepared, 1);
    connection.close();
    EXPECT_THROW(static_cast<void>(connection.command(limited_to(5s), {"GET", "a"})), redis_error);
    EXPECT_EQ(prepared, 2) << "by the next attempt";
}

TEST(
    hiredis_preparation,
    own_exception_of_a_preparation_ends_the_attempt_and_closes_the_connection) {
    const redis_server server;
    redis_connection connection({"127.0.0.1", server.port()}, {.on_connect = [](auto&, auto&) {
                                    throw std::out_of_range("no password is known");
                                }});
    EXPECT_THROW(
        static_cast<void>(connection.command(limited_to(5s), {"GET", "a"})), std::out_of_range);
    EXPECT_FALSE(connection.is_open());
}

TEST(hiredis_preparation, prepares_the_connection_to_the_node_of_an_ask_before_asking) {
    std::string redirection;
    std::vector<std::string> received;
    const auto answer = [&](int client, std::string_view text) {
        std::array<char, 256> chunk{};
        const auto size = ::recv(client, chunk.data(), chunk.size(), 0);
        const std::string_view command(chunk.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
        for (const std::string_view word : {"AUTH", "ASKING", "GET"}) {
            if (command.find(word) != std::string_view::npos) {
                received.emplace_back(word);
            }
        }
        scripted_node::send_text(client, text);
    };
    {
        const scripted_node node(
            {[&](int client) {
                 answer(client, "+OK\r\n");
                 answer(client, redirection);
             },
             [&](int client) {
                 answer(client, "+OK\r\n");
                 answer(client, "+OK\r\n");
                 answer(client, "$1\r\nb\r\n");
             }});
        redirection = "-ASK 1 127.0.0.1:" + std::to_string(node.port()) + "\r\n";
        redis_connection connection(
            {"127.0.0.1", node.port()},
            {.on_connect = [](redis_connection& on, const reprise::attempt& current) {
                on.command(current, {"AUTH", "secret"});
            }});
        EXPECT_THROW(
            static_cast<void>(connection.command(limited_to(5s), {"GET", "a"})), redis_error);
        EXPECT_STREQ(connection.command(limited_to(5s, 2), {"GET", "a"})->str, "b");
    }
    EXPECT_EQ(received, (std::vector<std::string>{"AUTH", "GET", "AUTH", "ASKING", "GET"}));
}

}  // namespace
}  // namespace adapters
