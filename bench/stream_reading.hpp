#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "loopback.hpp"

// What both programs of the http benchmark read off themselves.

namespace bench {

// What this process has used up by a moment, all of its threads together.
struct process_reading {
    double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    double wall = seconds_of(CLOCK_MONOTONIC);
};

// The most memory this program ever had, in KiB. Not getrusage, which counts what the process was
// before it became this program.
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
