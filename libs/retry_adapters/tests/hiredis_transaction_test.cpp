#include <gtest/gtest.h>

#if !defined(_WIN32)

#include <string>
#include <vector>

#include <reprise/retry.hpp>
#include <reprise/retry/adapters/hiredis.hpp>

#include "imitated_hiredis.hpp"

// Transactions of Redis (WATCH, MULTI) whose connection is lost. Without hiredis, which
// `imitated_hiredis.hpp` stands for.

namespace {

using reprise::adapters::redis_connection;
using reprise::adapters::redis_error;
using words = std::vector<std::string>;

/// A connection whose server answers every command and notes it with the number of the connection.
class hiredis_transactions : public testing::Test {
protected:
    void SetUp() override {
        imitated::commands.clear();
        imitated::replies.clear();
        imitated::connections = 0;
    }
    void execute(const words& command) {
        imitated::replies.assign(1, {{REDIS_REPLY_STRING, "OK"}});
        static_cast<void>(redis_.command(reprise::attempt{}, command));
    }
    /// The server closes the connection while nothing is sent on it.
    void lose() { ::shutdown(redis_.native()->peer, SHUT_RDWR); }
    /// The error of a command that is not executed.
    reprise::failure_facts refused(const words& command) {
        const auto before = imitated::commands;
        try {
            execute(command);
        } catch (const redis_error& error) {
            EXPECT_FALSE(error.is_unknown());
            EXPECT_EQ(imitated::commands, before);
            return error.retry_facts();
        }
        ADD_FAILURE() << "it was executed";
        return {};
    }

    redis_connection redis_{{}};
};

// The key had changed while the connection was lost, and the write that WATCH should have prevented
// was executed on the new connection, which watched nothing.
TEST_F(hiredis_transactions, transaction_is_not_executed_without_its_watch) {
    execute({"WATCH", "stock"});
    execute({"GET", "stock"});
    lose();
    EXPECT_EQ(refused({"MULTI"}).safety, reprise::retry_safety::yes);
    EXPECT_EQ(refused({"MULTI"}).safety, reprise::retry_safety::no);
    EXPECT_EQ(refused({"EXEC"}).safety, reprise::retry_safety::no);
    for (const char* restart : {"WATCH", "MULTI", "SET", "EXEC"}) {
        execute({restart, "stock"});
    }
    EXPECT_EQ(
        imitated::commands, (words{"1 WATCH", "1 GET", "2 WATCH", "2 MULTI", "2 SET", "2 EXEC"}));
}

// The first half of the transaction was gone, and the second was executed on its own.
TEST_F(hiredis_transactions, command_of_a_lost_transaction_is_not_executed_on_its_own) {
    execute({"multi"});
    execute({"DECR", "stock"});
    lose();
    EXPECT_EQ(refused({"INCR", "sold"}).safety, reprise::retry_safety::yes);
    EXPECT_EQ(refused({"INCR", "sold"}).safety, reprise::retry_safety::no);
    execute({"MULTI"});
    execute({"EXEC"});
    EXPECT_EQ(imitated::commands, (words{"1 multi", "1 DECR", "2 MULTI", "2 EXEC"}));
}

// A loop around the whole begins again.
TEST_F(hiredis_transactions, loop_around_the_transaction_repeats_it) {
    bool is_first = true;
    reprise::retry(reprise::attempts(2).every({}), [&] {
        execute({"WATCH", "stock"});
        if (is_first) {
            lose();
        }
        is_first = false;
        for (const char* each : {"GET", "MULTI", "SET", "EXEC"}) {
            execute({each, "stock"});
        }
    });
    EXPECT_EQ(
        imitated::commands, (words{"1 WATCH", "2 WATCH", "2 GET", "2 MULTI", "2 SET", "2 EXEC"}));
}

// The server discards what it has not executed, so nothing was executed twice; but the command was
// never repeated.
TEST_F(hiredis_transactions, transaction_that_is_lost_before_its_exec_was_not_executed) {
    const auto lost = [&](const words& command, std::vector<std::string> before) {
        SetUp();
        redis_.close();
        for (const std::string& each : before) {
            execute({each, "stock"});
        }
        imitated::replies.clear();
        try {
            static_cast<void>(redis_.command(reprise::attempt{}, command));
        } catch (const redis_error& error) {
            return error.is_unknown() ? reprise::retry_safety::no : *error.retry_facts().safety;
        }
        return reprise::retry_safety::maybe;
    };
    EXPECT_EQ(lost({"WATCH", "stock"}, {}), reprise::retry_safety::yes);
    EXPECT_EQ(lost({"MULTI"}, {"WATCH"}), reprise::retry_safety::yes);
    EXPECT_EQ(lost({"INCR", "sold"}, {"MULTI"}), reprise::retry_safety::yes);
    EXPECT_EQ(lost({"INCR", "sold"}, {"WATCH"}), reprise::retry_safety::no);
    EXPECT_EQ(lost({"EXEC"}, {"MULTI"}), reprise::retry_safety::no);
    execute({"INCR", "sold"});
    EXPECT_EQ(imitated::commands.back(), "2 INCR") << "the transaction has ended, however";
}

// A redirection closes the connection, too, and an ASK takes the command to another one.
TEST_F(hiredis_transactions, redirected_command_of_a_transaction_is_not_executed_on_its_own) {
    for (const std::string redirection : {"MOVED 1 other:7", "ASK 1 other:7"}) {
        SetUp();
        redis_.close();
        execute({"MULTI"});
        reprise::attempt current;
        const auto send = [&](const std::string& reply, int type) {
            imitated::replies.assign(2, {{type, reply}});
            static_cast<void>(redis_.command(current, {"INCR", "sold"}));
        };
        EXPECT_THROW(send(redirection, REDIS_REPLY_ERROR), redis_error);
        current.number = 2;
        EXPECT_THROW(send("1", REDIS_REPLY_STRING), redis_error) << redirection;
        EXPECT_EQ(imitated::connections, 1) << redirection;
        EXPECT_EQ(imitated::commands, (words{"1 MULTI", "1 INCR"})) << redirection;
    }
}

// The WATCH succeeded on a connection of its own, and the transaction that followed watched
// nothing.
TEST_F(hiredis_transactions, watch_stays_on_the_connection_of_its_transaction) {
    reprise::attempt current;
    imitated::replies.assign(1, {{REDIS_REPLY_ERROR, "ASK 1 other:7"}});
    EXPECT_THROW(static_cast<void>(redis_.command(current, {"WATCH", "stock"})), redis_error);
    current.number = 2;
    imitated::replies.assign(2, {{REDIS_REPLY_STRING, "OK"}});  // An ASKING has an answer, too.
    static_cast<void>(redis_.command(current, {"WATCH", "stock"}));
    execute({"MULTI"});
    EXPECT_EQ(imitated::commands, (words{"1 WATCH", "2 WATCH", "2 MULTI"}));
}

TEST_F(hiredis_transactions, connection_without_a_transaction_is_opened_again) {
    for (const auto& end : std::vector<words>{
             {"MULTI", "EXEC"},
             {"MULTI", "DISCARD"},
             {"WATCH", "UNWATCH"},
             {"WATCH", "MULTI", "EXEC"},
             {"WATCH", "reset"},
             {"GET"}}) {
        SetUp();
        redis_.close();
        for (const std::string& each : end) {
            execute({each});
        }
        lose();
        execute({"INCR"});
        EXPECT_EQ(imitated::commands.back(), "2 INCR") << end.back();
    }
}

TEST_F(hiredis_transactions, program_gives_a_lost_transaction_up) {
    for (const char* end : {"DISCARD", "UNWATCH", "RESET", ""}) {
        SetUp();
        redis_.close();
        execute({"WATCH", "stock"});
        execute({"MULTI"});
        lose();
        EXPECT_EQ(refused({"INCR"}).safety, reprise::retry_safety::yes);
        EXPECT_EQ(refused({"MULTI"}).safety, reprise::retry_safety::no) << "it would not watch";
        if (*end != '\0') {
            execute({end});
        } else {
            redis_.close();
        }
        execute({"INCR"});
        EXPECT_EQ(imitated::commands.back(), "2 INCR") << end;
    }
}

}  // namespace

#endif
