#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

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

// In a cluster, every change of the node costs an attempt. Ten of them opened the circuit breaker,
// and all later commands were kept away from nodes that worked.
TEST(redis_reply, redirections_and_mistakes_do_not_open_a_circuit_breaker) {
    using reprise::failure_fault;
    const auto fault_of = [](const char* message) {
        return reprise::adapters::redis_reply_facts(message).fault;
    };
    for (const char* message :
         {"MOVED 3999 127.0.0.1:6381", "ASK 3999 127.0.0.1:6381", "WRONGTYPE Operation"}) {
        EXPECT_EQ(fault_of(message), failure_fault::client) << message;
    }
    for (const char* message : {"LOADING", "READONLY", "CLUSTERDOWN", "MOVED nowhere"}) {
        EXPECT_EQ(fault_of(message), failure_fault::server) << message;
    }
}

// It counted as a mistake of the command that came first on the connection, and was final.
TEST(redis_reply, too_many_connections_is_throttling) {
    for (const char* message :
         {"ERR max number of clients reached",
          "ERR max number of clients + cluster connections reached"}) {
        for (const char* command : {"INCR", "EVAL"}) {
            const auto facts = reprise::adapters::redis_reply_facts(message, command);
            EXPECT_EQ(facts.safety, reprise::retry_safety::yes) << message;
            EXPECT_TRUE(facts.throttling) << message;
            EXPECT_EQ(facts.fault, reprise::failure_fault::server) << message;
        }
    }
    const auto other = reprise::adapters::redis_reply_facts("ERR max number of clientsets", "INCR");
    EXPECT_EQ(other.safety, reprise::retry_safety::no);
    EXPECT_EQ(
        reprise::adapters::redis_reply_facts("ERR max number of clients, says a script", "EVAL")
            .safety,
        reprise::retry_safety::no);
}

// A server before Redis 6 has no HELLO, and the password was in all logs.
TEST(redis_reply, text_of_an_unknown_command_is_without_its_arguments) {
    using reprise::adapters::redis_error_text;
    EXPECT_EQ(
        redis_error_text("ERR unknown command `HELLO`, with args beginning with: `3`, `AUTH`, "
                         "`app`, `secret`, "),
        "ERR unknown command `HELLO`");
    EXPECT_EQ(redis_error_text("WRONGTYPE Operation"), "WRONGTYPE Operation");
    EXPECT_EQ(redis_error_text("ERR unknown command 'HELLO'"), "ERR unknown command 'HELLO'");
    EXPECT_EQ(redis_error_text(""), "");
}

// Passwords, keys and pieces of scripts were in histories.
TEST(redis_reply, text_of_an_error_has_nothing_that_redis_quotes) {
    using reprise::adapters::redis_error_text;
    for (const auto& [message, text] : std::vector<std::pair<std::string, std::string>>{
             {"ERR Error in ACL SETUSER modifier '<secret': Syntax error",
              "ERR Error in ACL SETUSER modifier '...': Syntax error"},
             {"ERR Error in ACL SETUSER modifier '<it's secret': Syntax error",
              "ERR Error in ACL SETUSER modifier '...': Syntax error"},
             {"ERR Error in ACL SETUSER modifier '<a' secret': Syntax error",
              "ERR Error in ACL SETUSER modifier '...': Syntax error"},
             {"NOGROUP No such key 'ada' or consumer group 'g' in XREADGROUP with GROUP option",
              "NOGROUP No such key '...' in XREADGROUP with GROUP option"},
             {"ERR unknown subcommand 'secret'. Try CLIENT HELP.",
              "ERR unknown subcommand '...'. Try CLIENT HELP."},
             {"ERR user_script:1: unfinished string near ''secret'",
              "ERR user_script:1: unfinished string near '...'"},
             {"ERR no key `secret` here", "ERR no key '...' here"},
             {"ERR no key \"secret\"", "ERR no key '...'"},
             {"ERR no end 'of the secret", "ERR no end '...'"},
             {"ERR no end 'of the secret that's it", "ERR no end '...'"},
             {"ERR 'secret' doesn't exist", "ERR '...' doesn't exist"},
             {"'secret'", "'...'"},
             {"ERR unknown command 'AUTH secret'", "ERR unknown command '...'"},
             {"ERR unknown command 'a' 'secret'", "ERR unknown command '...'"},
             {"ERR unknown command '", "ERR unknown command '...'"},
             {"ERR unknown command ", "ERR unknown command "},
             {"ERR unknown command 'JSON.SET'", "ERR unknown command 'JSON.SET'"},
             {"READONLY You can't write against a read only replica.",
              "READONLY You can't write against a read only replica."}}) {
        EXPECT_EQ(redis_error_text(message), text);
        EXPECT_EQ(redis_error_text(text), text) << "an error that is passed on keeps its text";
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
         {"LOADING Redis is loading the dataset in memory",
          "LOADING Valkey is loading the dataset in memory",
          "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
          "MASTERDOWN Link with MASTER is down and slave-serve-stale-data is set to 'no'.",
          "CLUSTERDOWN The cluster is down",
          "CLUSTERDOWN The cluster is down and only accepts read commands",
          "CLUSTERDOWN Hash slot not served",
          ("MASTERDOWN Link with MASTER is down, replica-serve-stale-data is set to 'no' and "
           "'allow-stale' flag is not set on the script."),
          "MOVED 1 a:1", "ASK 1 a:1"}) {
        EXPECT_EQ(redis_reply_facts(message, "EVAL").safety, reprise::retry_safety::yes) << message;
    }
}

// "LOADING my cache" counted as the answer of a server that loads its data.
TEST(redis_reply, script_that_ends_with_a_code_of_redis_on_its_own_account_may_have_written) {
    using reprise::adapters::redis_reply_facts;
    for (const char* message :
         {"LOADING", "LOADING my cache", "LOADING Redis is loading the dataset in memory, too",
          "MASTERDOWN later", "CLUSTERDOWN", "CLUSTERDOWN of the shop", "MOVED", "MOVED on",
          "ASK me", "ASK 1 a:b"}) {
        EXPECT_EQ(redis_reply_facts(message, "EVAL").safety, reprise::retry_safety::no) << message;
        EXPECT_EQ(
            redis_reply_facts(message, "EVAL", reprise::repeatability::repeatable).safety,
            reprise::retry_safety::maybe)
            << message;
        EXPECT_EQ(redis_reply_facts(message, "SET").safety, reprise::retry_safety::yes) << message;
    }
}

TEST(redis_reply, reads_are_known_in_both_cases) {
    EXPECT_TRUE(reprise::adapters::is_redis_read("GET"));
    EXPECT_TRUE(reprise::adapters::is_redis_read("hget"));
    for (const char* command : {"INCR", "SET", "GETDEL", "G", ""}) {
        EXPECT_FALSE(reprise::adapters::is_redis_read(command)) << command;
    }
}

using reprise::adapters::parse_redis_redirection;
using reprise::adapters::redis_address;

TEST(redis_route, redirections_are_read_and_malformed_ones_are_none) {
    const auto moved = parse_redis_redirection("MOVED 3999 127.0.0.1:6381");
    ASSERT_TRUE(moved);
    EXPECT_EQ(moved->host, "127.0.0.1");
    EXPECT_EQ(moved->port, 6381);
    EXPECT_FALSE(moved->is_ask);
    const auto ask = parse_redis_redirection("ASK 3999 ::1:6381");
    ASSERT_TRUE(ask);
    EXPECT_EQ(ask->host, "::1");
    EXPECT_TRUE(ask->is_ask);
    EXPECT_EQ(parse_redis_redirection("MOVED 3999 :6381")->host, "");
    const std::string long_host(256, 'h');
    for (const std::string& message :
         {std::string(), std::string("MOVED"), std::string("MOVED:6381"), std::string("ASK 1 host"),
          std::string("ASK 1 host:"), std::string("ASK 1 host:0"), std::string("ASK 1 host:65536"),
          std::string("ASK 1 host:-1"), std::string("ASK 1 host:63x"),
          std::string("ASKED 1 host:1"), std::string("MOVED a:1 b"),
          std::string("MOVED 1 /run/other.sock:6379"), std::string("ASK 1 run/other.sock:6379"),
          "MOVED 1 " + long_host + ":1"}) {
        EXPECT_FALSE(parse_redis_redirection(message)) << message;
    }
}

const std::vector<std::string> get{"GET", "{u}:a"};

// After an ASK, all later commands used to go to the other node, which refuses them with MOVED.
TEST(redis_route, an_ask_redirects_one_command_only) {
    const redis_address home{"10.0.0.1", 6379};
    reprise::adapters::redis_route route(home);
    EXPECT_EQ(route.take_asked(get, 1), std::nullopt);
    route.on_redirection(*parse_redis_redirection("ASK 3999 10.0.0.2:6380"), home, get, 1);
    EXPECT_EQ(route.current(), home);
    EXPECT_EQ(route.take_asked(get, 2), (redis_address{"10.0.0.2", 6380}));
    EXPECT_EQ(route.take_asked(get, 2), std::nullopt) << "one command";
    EXPECT_EQ(route.current(), home);
}

// Where no retry followed the ASK, the next command went to the other node, whatever it was.
TEST(redis_route, an_ask_redirects_only_the_command_it_answered_and_only_in_the_next_attempt) {
    const redis_address home{"10.0.0.1", 6379};
    const redis_address importing{"10.0.0.2", 6380};
    const std::vector<std::string> increment{"INCR", "{u}:b"};
    reprise::adapters::redis_route route(home);
    const auto ask = [&](std::uint32_t attempt_number) {
        const auto to = parse_redis_redirection("ASK 3999 10.0.0.2:6380");
        route.on_redirection(*to, home, get, attempt_number);
    };
    ask(1);
    EXPECT_EQ(route.take_asked(increment, 2), std::nullopt) << "another command";
    EXPECT_EQ(route.take_asked(get, 2), importing) << "waits for its own";
    for (const std::uint32_t number : {1U, 2U, 4U}) {
        ask(2);
        EXPECT_EQ(route.take_asked(get, number), std::nullopt) << "not the next attempt";
        EXPECT_EQ(route.take_asked(get, 3), std::nullopt) << "that ended it";
    }
}

TEST(redis_route, a_move_holds_until_that_server_cannot_be_reached) {
    const redis_address home{"10.0.0.1", 6379};
    reprise::adapters::redis_route route(home);
    route.on_redirection(*parse_redis_redirection("MOVED 3999 :6380"), home, get, 1);
    EXPECT_EQ(route.current(), (redis_address{"10.0.0.1", 6380})) << "the host that answered";
    EXPECT_EQ(route.take_asked(get, 2), std::nullopt);
    route.on_wrong_server();
    EXPECT_EQ(route.current(), home);
}

}  // namespace
