#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "loopback.hpp"

// What both clients of the benchmark of values do, and how they report it.

namespace bench {

struct values_case {
    bool is_tls = false;
    bool is_store = false;
    std::size_t size = 0;  // of a value
    std::size_t in_flight = 0;
    std::uint64_t warm_up = 0;
    std::uint64_t operations = 0;

    // values_responder reads the size from it.
    [[nodiscard]] std::string key() const { return "v" + std::to_string(size) + "_document"; }
};

inline std::vector<values_case> values_cases() {
    struct shape {
        std::size_t size;
        std::size_t in_flight;
        std::uint64_t operations;
    };
    constexpr std::array shapes{
        shape{32, 64, 100'000}, shape{1024, 64, 100'000}, shape{16 * 1024, 16, 16'000},
        shape{1024 * 1024, 4, 300}};
    std::vector<values_case> made;
    for (const bool is_tls : {false, true}) {
        for (const bool is_store : {false, true}) {
            for (const shape& each : shapes) {
                made.push_back(
                    {is_tls, is_store, each.size, each.in_flight, each.operations / 20,
                     each.operations});
            }
        }
    }
    return made;
}

struct values_reading {
    double cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    double wall = seconds_of(CLOCK_MONOTONIC);
};

inline void print(
    const values_case& what, const values_reading& from, const values_reading& to,
    std::uint64_t operations) {
    const auto count = static_cast<double>(operations);
    std::printf(
        "\"%s_%s_%zu\": {\"cpu_ns_per_op\": %.1f, \"mb_per_second\": %.1f}",
        what.is_tls ? "tls" : "plain", what.is_store ? "upsert" : "get", what.size,
        (to.cpu - from.cpu) * 1e9 / count,
        count * static_cast<double>(what.size) / 1e6 / (to.wall - from.wall));
}

// Prints the processor time of the whole program for each connection that `open` opens and closes.
template <class Open>
void measure_connections(const Open& open) {
    constexpr int count = 100;
    open();  // reads files, derives keys
    const double begin = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    for (int each = 0; each < count; ++each) {
        open();
    }
    std::printf(
        "\"tls_connection\": {\"cpu_us\": %.1f}",
        (seconds_of(CLOCK_PROCESS_CPUTIME_ID) - begin) * 1e6 / count);
}

struct values_target {
    std::uint16_t plain_port = 0;
    std::uint16_t tls_port = 0;
    const char* ca_file = nullptr;
};

inline values_target values_arguments(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: %s PLAIN_PORT TLS_PORT CA_FILE\n", argv[0]);
        std::exit(2);
    }
    return {
        static_cast<std::uint16_t>(std::atoi(argv[1])),
        static_cast<std::uint16_t>(std::atoi(argv[2])), argv[3]};
}

// Writes the braces and commas of one JSON object.
class values_report {
public:
    values_report() = default;
    values_report(const values_report&) = delete;
    values_report& operator=(const values_report&) = delete;
    ~values_report() { std::puts("}"); }

    void next() {
        std::fputs(is_first_ ? "{" : ", ", stdout);
        is_first_ = false;
    }

private:
    bool is_first_ = true;
};

}  // namespace bench
