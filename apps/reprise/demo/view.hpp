#pragma once

/// How a run is shown while it is in progress.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "measurements.hpp"
#include "run.hpp"

namespace reprise::demo {

/// The state of the running phase.
struct progress {
    std::size_t phase = 0;
    std::string note{};
    std::chrono::duration<double> elapsed{};
    std::chrono::duration<double> total{};
    double operations_per_second = 0;  // key-value
    double requests_per_second = 0;    // HTTP
    std::size_t parked = 0;
    traffic_figures sofar{};  // of this phase
};

class view {
public:
    virtual ~view() = default;
    virtual void on_begin(const std::string& title, const std::vector<std::string>& phases) = 0;
    virtual void on_progress(const progress& now) = 0;
    virtual void on_phase_end(const progress& last) = 0;
    virtual void on_end() = 0;
};

enum class view_kind : std::uint8_t {
    none,
    plain,    // a line when a phase has something new, and when it ends
    terminal  // redrawn in place
};

/// Terminal, if standard output is one and no other kind was requested.
[[nodiscard]] view_kind choose_view(bool is_plain, bool is_json) noexcept;
/// Prints in complete lines.
[[nodiscard]] std::unique_ptr<view> make_view(view_kind kind, const run_environment& around);

}  // namespace reprise::demo
