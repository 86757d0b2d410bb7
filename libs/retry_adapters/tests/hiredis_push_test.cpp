#include <gtest/gtest.h>

#if !defined(_WIN32)

#include <string>
#include <vector>

#include <reprise/retry.hpp>
#include <reprise/retry/adapters/hiredis.hpp>

#include "imitated_hiredis.hpp"

// Messages of RESP3 that the server sends unasked, and a command that it does not answer. Without
// hiredis, which `imitated_hiredis.hpp` stands for: what needs a server is in tests/adapters.

namespace {

using reprise::adapters::redis_connection;

/// The answer to one command on a new connection, after `arriving`.
std::string answer_after(std::vector<std::vector<std::pair<int, std::string>>> arriving) {
    imitated::replies.assign(arriving.begin(), arriving.end());
    imitated::connections = imitated::pushes = 0;
    redis_connection redis({});
    const auto reply = redis.command(reprise::attempt{}, {"BLPOP", "jobs", "0"});
    EXPECT_TRUE(redis.is_open());
    return reply->text;
}

constexpr int pushed_type = REDIS_REPLY_PUSH;
constexpr int string_type = REDIS_REPLY_STRING;

// With CLIENT TRACKING, BLPOP returned the invalidation of a key as the job that it had popped, and
// the job was lost with the connection.
TEST(hiredis_push, message_that_arrives_before_the_answer_is_not_the_answer) {
    EXPECT_EQ(answer_after({{{pushed_type, "invalidate"}}, {{string_type, "job"}}}), "job");
    EXPECT_EQ(imitated::pushes, 1);
    EXPECT_EQ(imitated::connections, 1);
}

TEST(hiredis_push, messages_that_arrive_together_with_the_answer_are_not_the_answer) {
    EXPECT_EQ(
        answer_after(
            {{{pushed_type, "invalidate"}, {pushed_type, "invalidate"}, {string_type, "job"}}}),
        "job");
    EXPECT_EQ(imitated::pushes, 2);
}

TEST(hiredis_push, answer_without_a_message_is_the_answer) {
    EXPECT_EQ(answer_after({{{string_type, "job"}}}), "job");
    EXPECT_EQ(imitated::pushes, 0);
}

// Redis ignores it, so that the call waited for an answer without end.
TEST(hiredis_push, command_without_words_is_refused_before_it_is_sent) {
    imitated::replies.clear();
    imitated::connections = 0;
    redis_connection redis({});
    try {
        static_cast<void>(redis.command(reprise::attempt{}, {}));
        ADD_FAILURE() << "there is no answer";
    } catch (const reprise::adapters::redis_error& error) {
        EXPECT_EQ(error.retry_facts().safety, reprise::retry_safety::no);
        EXPECT_FALSE(error.is_unknown());
    }
    EXPECT_EQ(imitated::connections, 0);
}

}  // namespace

#endif
