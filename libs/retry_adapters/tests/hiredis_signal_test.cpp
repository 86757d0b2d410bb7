#include <gtest/gtest.h>

#if !defined(_WIN32)

#include <pthread.h>
#include <signal.h>

#include <reprise/retry.hpp>
#include <reprise/retry/adapters/hiredis.hpp>

#include "imitated_hiredis.hpp"

// A connection that the server closes while a command is written. Without hiredis, which
// `imitated_hiredis.hpp` stands for.

namespace {

using reprise::adapters::redis_connection;
using reprise::adapters::redis_error;

/// Counts SIGPIPE instead of ending the program.
class counted_signal {
public:
    counted_signal() {
        count_ = 0;
        previous_ = ::signal(SIGPIPE, [](int) { count_ = count_ + 1; });
    }
    ~counted_signal() { ::signal(SIGPIPE, previous_); }
    counted_signal(const counted_signal&) = delete;
    counted_signal& operator=(const counted_signal&) = delete;
    [[nodiscard]] int count() const { return count_; }

private:
    static inline volatile sig_atomic_t count_ = 0;
    void (*previous_)(int);
};

void lose_a_command() {
    imitated::is_closed_early = true;
    redis_connection redis({});
    EXPECT_THROW(
        static_cast<void>(redis.command(reprise::attempt{}, {"SET", "name", "lamp"})), redis_error);
    imitated::is_closed_early = false;
}

// A restart of the server during a long SET ended the program: hiredis writes as write(2) does.
TEST(hiredis_signal, lost_connection_is_an_error_and_no_signal) {
    const counted_signal sigpipe;
    lose_a_command();
    EXPECT_EQ(sigpipe.count(), 0);
    ::raise(SIGPIPE);
    EXPECT_EQ(sigpipe.count(), 1) << "signals of the program itself arrive as before";
}

TEST(hiredis_signal, signal_that_waits_for_the_program_still_waits) {
    const counted_signal sigpipe;
    sigset_t pipe{};
    sigset_t before{};
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    ::raise(SIGPIPE);
    lose_a_command();
    EXPECT_EQ(sigpipe.count(), 0);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    EXPECT_EQ(sigpipe.count(), 1);
}

}  // namespace

#endif
