// Measures the client against http_canned_responder: it reads a long result as a stream of row
// views, with its own loop thread and with the caller's thread driving. Prints JSON: CPU time of
// the whole process, rows and bytes per second, and how much the peak memory grows while ten times
// as many rows pass.

#include <chrono>
#include <cstdlib>
#include <string>
#include <utility>

#include <reprise/couchbase.hpp>

#include "stream_reading.hpp"

namespace {

namespace couchbase = reprise::couchbase;
using namespace std::chrono_literals;

[[noreturn]] void fail(const couchbase::error& error) {
    std::fputs((error.message() + "\n").c_str(), stderr);
    std::exit(1);
}

template <class Result>
auto value_of(Result&& result) {
    if (!result) {
        fail(result.error());
    }
    return std::forward<Result>(result).value();
}

couchbase::cluster connect(const char* port, couchbase::thread_mode mode) {
    couchbase::cluster_options options;
    options.username = "bench";
    options.password = "bench";
    options.allow_plain_without_tls = true;  // the responder supports nothing else
    options.threads = mode;
    return value_of(
        couchbase::cluster::connect(std::string("couchbase://127.0.0.1:") + port, options));
}

// Returns the size of the rows in bytes. Checks that each row starts and ends like an object.
std::uint64_t read_rows(
    const couchbase::cluster& from, const std::string& shape, std::uint64_t row_count) {
    couchbase::query_options options;
    options.timeout = 30min;
    auto rows = value_of(from.query_stream(bench::stream_statement(shape, row_count), options));
    std::uint64_t size = 0;
    std::uint64_t count = 0;
    while (true) {
        const auto row = rows.next();
        if (!row) {
            fail(row.error());
        }
        if (!*row) {
            break;
        }
        const std::string_view text = (*row)->text();
        if (text.front() != '{' || text.back() != '}') {
            bench::fail("not a row");
        }
        size += text.size();
        ++count;
    }
    if (count != row_count || value_of(rows.finish()).status != "success") {
        bench::fail("rows are missing");
    }
    return size;
}

void measure(
    const char* name, const couchbase::cluster& from, const std::string& shape,
    std::uint64_t row_count) {
    read_rows(from, shape, row_count / 10 + 1);
    const long memory_before = bench::memory_peak_kib();
    const bench::process_reading begin;
    const auto size = static_cast<double>(read_rows(from, shape, row_count));
    const bench::process_reading end;
    const auto count = static_cast<double>(row_count);
    std::printf(
        "\"%s\": {\"cpu_seconds\": %.6f, \"rows\": %.0f, \"rows_per_second\": %.0f, "
        "\"row_mb_per_second\": %.1f, \"memory_peak_kib\": %ld, \"memory_growth_kib\": %ld}",
        name, end.cpu - begin.cpu, count, count / (end.wall - begin.wall),
        size / (end.wall - begin.wall) / 1e6, bench::memory_peak_kib(),
        bench::memory_peak_kib() - memory_before);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fputs("usage: http_stream_bench KV_PORT SHAPE ROWS\n", stderr);
        return 2;
    }
    const auto row_count = std::strtoull(argv[3], nullptr, 10);
    std::fputs("{", stdout);
    measure("own_thread", connect(argv[1], couchbase::thread_mode::own_thread), argv[2], row_count);
    std::fputs(", ", stdout);
    measure(
        "caller_drives", connect(argv[1], couchbase::thread_mode::caller_drives), argv[2],
        row_count);
    std::fputs("}\n", stdout);
}
