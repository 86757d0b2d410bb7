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

}  // namespace

interrupt_watch::interrupt_watch() noexcept {
    noted_signal = 0;
    std::signal(SIGINT, note_signal);
    std::signal(SIGTERM, note_signal);
}

interrupt_watch::~interrupt_watch() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
}

int interrupt_watch::number() const noexcept {
    return noted_signal;
}

}  // namespace reprise::app
