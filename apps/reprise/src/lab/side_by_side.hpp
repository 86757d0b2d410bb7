#pragma once

/// Runs pieces of a simulation in several threads, with progress on a terminal.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

#include <reprise/lab/run.hpp>

#include "interrupt.hpp"

namespace reprise::app {

/// Calls `run_piece(index, monitor)` for each index below `count`, at most `threads` at a time.
/// After a signal, monitors stop their runs, and no further piece is started.
class side_by_side {
public:
    side_by_side(std::size_t count, std::size_t threads, bool is_quiet);

    void run(const std::function<void(std::size_t, const lab::run_monitor&)>& run_piece);

    [[nodiscard]] const interrupt_watch& watch() const noexcept { return watch_; }

private:
    void show_progress();

    std::size_t count_;
    std::size_t threads_;
    bool shows_progress_;
    interrupt_watch watch_;
    std::vector<std::atomic<double>> done_;  ///< Share of each piece, 0 to 1.
    std::mutex mutex_;                       ///< Guards `shown_`.
    std::chrono::steady_clock::time_point shown_;
};

}  // namespace reprise::app
