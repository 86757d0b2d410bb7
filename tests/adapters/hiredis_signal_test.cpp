#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include <reprise/retry.hpp>

#include "redis_server.hpp"

// Nodes that close the connection while a long command is written.

namespace adapters {
namespace {

volatile std::sig_atomic_t signal_count = 0;

// A restart of the server during a long SET ended the program with SIGPIPE.
TEST(hiredis_signal, connection_closed_during_a_long_command_is_an_error_and_no_signal) {
    const auto close_in_steps = [](int client) {
        scripted_node::read_command(client);
        ::shutdown(client, SHUT_WR);
        for (int count = 0; count < 50; ++count) {
            scripted_node::read_command(client);
        }
    };
    const scripted_node node({close_in_steps, close_in_steps, close_in_steps});
    redis_connection connection({"127.0.0.1", node.port()});
    signal_count = 0;
    auto* const previous = std::signal(SIGPIPE, [](int) { signal_count = signal_count + 1; });
    const std::string value(50'000'000, 'x');
    EXPECT_THROW(
        static_cast<void>(reprise::retry(
            reprise::attempts(3).every(0ms),
            [&](const reprise::attempt& current) {
                return connection.command(
                    current, {"SET", "name", value}, reprise::repeatability::repeatable);
            })),
        redis_error);
    std::signal(SIGPIPE, previous);
    EXPECT_EQ(signal_count, 0);
}

}  // namespace
}  // namespace adapters
