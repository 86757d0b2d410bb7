#include <gtest/gtest.h>

#include <reprise/retry/adapters/redis_reply.hpp>

namespace {

TEST(redis_reply, refusals_that_pass_or_that_another_node_can_do_are_safe) {
    for (const char* message :
         {"LOADING Redis is loading the dataset in memory", "TRYAGAIN Multiple keys request",
          "CLUSTERDOWN Hash slot not served",
          "READONLY You can't write against a read only replica", "MOVED 3999 127.0.0.1:6381",
          "ASK 3999 127.0.0.1:6381", "MASTERDOWN Link with MASTER"}) {
        EXPECT_EQ(reprise::adapters::redis_reply_facts(message).safety, reprise::retry_safety::yes)
            << message;
    }
}

TEST(redis_reply, mistake_of_the_command_is_never_repeated) {
    for (const char* message :
         {"ERR unknown command", "WRONGTYPE Operation", "NOAUTH", "", "MOVE"}) {
        EXPECT_EQ(reprise::adapters::redis_reply_facts(message).safety, reprise::retry_safety::no)
            << message;
    }
}

/// A script that failed in the middle was repeated: a command inside it was refused, and Redis
/// passes that error on.
TEST(redis_reply, script_that_may_have_written_is_repeated_only_if_stated) {
    using reprise::adapters::redis_reply_facts;
    for (const char* message :
         {"OOM command not allowed when used memory > 'maxmemory'. script: 3f7a, on "
          "@user_script:2.",
          "READONLY You can't write against a read only replica.", "BUSY come back later",
          "TRYAGAIN the queue is full", "NOREPLICAS Not enough good replicas", "MISCONF Errors"}) {
        for (const char* command : {"EVAL", "evalsha", "FCALL"}) {
            EXPECT_EQ(redis_reply_facts(message, command).safety, reprise::retry_safety::no);
            EXPECT_EQ(
                redis_reply_facts(message, command, reprise::repeatability::repeatable).safety,
                reprise::retry_safety::maybe);
        }
        EXPECT_EQ(redis_reply_facts(message, "SET").safety, reprise::retry_safety::yes);
    }
    for (const char* message :
         {"LOADING", "MASTERDOWN", "CLUSTERDOWN", "MOVED 1 a:1", "ASK 1 a:1"}) {
        EXPECT_EQ(redis_reply_facts(message, "EVAL").safety, reprise::retry_safety::yes) << message;
    }
}

TEST(redis_reply, reads_are_known_in_both_cases) {
    EXPECT_TRUE(reprise::adapters::is_redis_read("GET"));
    EXPECT_TRUE(reprise::adapters::is_redis_read("hget"));
    for (const char* command : {"INCR", "SET", "GETDEL", "G", ""}) {
        EXPECT_FALSE(reprise::adapters::is_redis_read(command)) << command;
    }
}

}  // namespace
