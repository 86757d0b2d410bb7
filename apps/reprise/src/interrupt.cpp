#include "interrupt.hpp"

#include <atomic>
#include <csignal>

namespace reprise::app {

namespace {

std::atomic<int> noted_signal = 0;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler writes the number");

extern "C" void note_signal(int number) {
    noted_signal = number;
    // A second signal means that the user does not want to wait.
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
}

// SIGHUP stays ignored under nohup.
void handle(int number, void (*how)(int)) noexcept {
    if (number != SIGHUP || !is_hangup_ignored()) {
        std::signal(number, how);
    }
}

}  // namespace

bool is_hangup_ignored() noexcept {
    struct sigaction before{};
    return ::sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
}

interrupt_watch::interrupt_watch() noexcept {
    noted_signal = 0;
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        handle(number, note_signal);
    }
}

interrupt_watch::~interrupt_watch() {
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        handle(number, SIG_DFL);
    }
}

int interrupt_watch::number() const noexcept {
    return noted_signal;
}

}  // namespace reprise::app
