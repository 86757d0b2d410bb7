#include <gtest/gtest.h>

#include <reprise/retry.hpp>

#include "redis_server.hpp"

// Transactions of Redis, and connections that it refuses, on Redis servers of their own.

namespace adapters {
namespace {

// The connection that watched the key was lost, another program changed the key, and its change was
// overwritten.
TEST(hiredis_transaction, watch_counts_also_if_its_connection_is_lost) {
    const redis_server server;
    server.ask({"SET", "stock", "7"});
    redis_connection redis({"127.0.0.1", server.port()});
    int calls = 0;
    reprise::retry(
        reprise::attempts(3).every(0ms), {.timeout = 30s}, [&](const reprise::attempt& current) {
            redis.command(current, {"WATCH", "stock"});
            const redis_reply stock = redis.command(current, {"GET", "stock"});
            if (++calls == 1) {
                server.ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
                server.ask({"DECR", "stock"});
            }
            redis.command(current, {"MULTI"});
            redis.command(current, {"SET", "stock", std::to_string(std::stoi(stock->str) - 1)});
            const redis_reply ended = redis.command(current, {"EXEC"});
            EXPECT_EQ(ended->type, REDIS_REPLY_ARRAY);
        });
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(server.ask({"GET", "stock"}), "5");
}

TEST(hiredis_transaction, transaction_is_executed_whole_or_not_at_all) {
    const redis_server server;
    redis_connection redis({"127.0.0.1", server.port()});
    int calls = 0;
    reprise::retry(
        reprise::attempts(3).every(0ms), {.timeout = 30s}, [&](const reprise::attempt& current) {
            redis.command(current, {"MULTI"});
            redis.command(current, {"INCR", "sold"});
            if (++calls == 1) {
                server.ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
            }
            redis.command(current, {"INCR", "sent"});
            redis.command(current, {"EXEC"});
        });
    EXPECT_EQ(calls, 2);
    EXPECT_EQ(server.ask({"GET", "sold"}), "1");
    EXPECT_EQ(server.ask({"GET", "sent"}), "1");
}

// The command failed for good, as if it had been wrong.
TEST(hiredis_transaction, command_waits_until_the_server_accepts_its_connection) {
    const redis_server server({"--maxclients", "1"});
    redis_connection holder({"127.0.0.1", server.port()});
    redis_connection redis({"127.0.0.1", server.port()});
    int refusals = 0;
    EXPECT_TRUE(becomes_ready([&] { return server.ask({"PING"}) == "PONG"; }));
    const auto hold = [&] {
        try {
            return holder.command(limited_to(5s), {"PING"}) != nullptr;
        } catch (const redis_error&) {
            return false;
        }
    };
    EXPECT_TRUE(becomes_ready(hold));
    const redis_reply reply = reprise::retry(
        reprise::attempts(1000).every(2ms), {.timeout = 30s}, [&](const reprise::attempt& current) {
            try {
                return redis.command(current, {"INCR", "sold"}, reprise::repeatability::repeatable);
            } catch (const redis_error& error) {
                refusals += error.retry_facts().throttling ? 1 : 0;
                holder.close();
                throw;
            }
        });
    EXPECT_GE(refusals, 1);
    EXPECT_EQ(reply->integer, 1);
}

}  // namespace
}  // namespace adapters
