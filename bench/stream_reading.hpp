#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "loopback.hpp"

// Measurements of both programs of the http benchmark about themselves.

namespace bench {

// Resources used by all threads of this process so far.
struct process_reading {
    double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    double wall = seconds_of(CLOCK_MONOTONIC);
};

// The peak memory of this program in KiB. getrusage would also count what the process used before
// it executed this program.
inline long memory_peak_kib() {
    std::ifstream status("/proc/self/status");
    std::string word;
    long peak = 0;
    while (status >> word && word != "VmHWM:") {
    }
    if (!(status >> peak)) {
        fail("VmHWM");
    }
    return peak;
}

inline std::string stream_statement(const std::string& shape, std::uint64_t row_count) {
    return "SELECT * FROM " + shape + " LIMIT " + std::to_string(row_count);
}

}  // namespace bench
