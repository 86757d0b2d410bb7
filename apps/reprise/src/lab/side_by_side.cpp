#include "lab/side_by_side.hpp"

#include <unistd.h>

#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "output/output.hpp"

namespace reprise::app {

side_by_side::side_by_side(std::size_t count, std::size_t threads, bool is_quiet)
    : count_(count),
      threads_(std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(count, 1))),
      shows_progress_(!is_quiet && ::isatty(STDERR_FILENO) == 1),
      done_(count),
      shown_(std::chrono::steady_clock::now()) {}

void side_by_side::run(const std::function<void(std::size_t, const lab::run_monitor&)>& run_piece) {
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        // The first one starts even if the signal is early, so there are always results.
        for (std::size_t index = next++; index < count_ && (index == 0 || !watch_.has_come());
             index = next++) {
            run_piece(index, [&, index](double share) {
                done_[index] = std::max(share, done_[index].load());
                show_progress();
                return watch_.has_come();
            });
            done_[index] = 1.0;
        }
    };
    {
        std::vector<std::jthread> others;
        for (std::size_t i = 1; i < threads_; ++i) {
            others.emplace_back(work);
        }
        work();
    }
    if (shows_progress_) {
        rewind_aside();
        print_aside("     ");
        rewind_aside();
    }
}

void side_by_side::show_progress() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    const auto now = std::chrono::steady_clock::now();
    if (!shows_progress_ || !lock || now - shown_ < std::chrono::milliseconds{200}) {
        return;
    }
    shown_ = now;
    double sum = 0.0;
    for (const std::atomic<double>& each : done_) {
        sum += each;
    }
    rewind_aside();
    print_aside(fmt::format("{:.0f} %", 100.0 * sum / static_cast<double>(count_)));
}

}  // namespace reprise::app
