#pragma once

/// The figures of a run over time, for its page.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "measurements.hpp"
#include "report.hpp"

namespace reprise::demo {

/// Samples at intervals, at most about 500 of them.
class timeline {
public:
    explicit timeline(std::chrono::duration<double> total)
        : interval_(std::max(total / 500, std::chrono::duration<double>{0.25})) {}

    /// Whether the next sample is due at this time of the run.
    [[nodiscard]] bool is_due(std::chrono::duration<double> elapsed) const noexcept {
        return elapsed >= sampled_ + 0.9 * interval_;  // Calls come a little early or late.
    }
    /// `recent`: what ended since the last sample.
    void add_sample(std::chrono::duration<double> elapsed, const traffic_figures& recent);
    void add_phase(
        std::string name, std::chrono::duration<double> start, std::chrono::duration<double> end);

    /// See `demo_record::json`.
    [[nodiscard]] std::string to_json(const run_result& result) const;

private:
    struct sample {
        double time = 0;
        traffic_figures recent{};
    };
    struct section {
        std::string name;
        double start = 0;
        double end = 0;
    };

    std::chrono::duration<double> interval_;
    std::chrono::duration<double> sampled_{};
    std::vector<sample> samples_;
    std::vector<section> sections_;
};

}  // namespace reprise::demo
