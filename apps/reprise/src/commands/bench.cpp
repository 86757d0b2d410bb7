/// `reprise bench`: reads and writes documents as fast as the cluster answers, for a bounded time.

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <reprise/json/write.hpp>

#include "bench/key_value_load.hpp"
#include "commands/commands.hpp"
#include "interrupt.hpp"
#include "kv_access.hpp"
#include "output/output.hpp"
#include "sandbox/tables.hpp"

namespace reprise::app {

namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t value_size_max_bytes = std::size_t{20} * 1024 * 1024;
constexpr duration duration_max = std::chrono::hours{1};

struct bench_options {
    kv_access_options access;
    load_options load;
    std::vector<std::string> sizes{"1KiB"};
    std::string duration = "10s";
    std::size_t threads = 1;
    std::optional<std::size_t> loops;  ///< Of one client with threads of its own.
    bool is_json = false;
};

// Both kinds of operation of all threads together.
struct bench_totals {
    std::uint64_t succeeded = 0;
    std::uint64_t failed = 0;
    std::uint64_t bytes = 0;
    driver::latency_histogram latency;

    void add(const operation_figures& figures) {
        succeeded += figures.succeeded.load(std::memory_order_relaxed);
        failed += figures.failed.load(std::memory_order_relaxed);
        bytes += figures.bytes.load(std::memory_order_relaxed);
        latency.add(figures.latency);
    }
};

struct bench_report {
    bench_totals reads;
    bench_totals writes;
    std::chrono::duration<double> time{};
    std::string first_error;
    std::size_t documents_left = 0;
    int signal = 0;  ///< That ended the run early; 0: none.
};

// Accepts 32, 16KiB and 1MiB.
[[nodiscard]] std::size_t parse_size(const std::string& text) {
    std::size_t digits = 0;
    std::uint64_t number = 0;
    while (digits < text.size() && digits < 9 && text[digits] >= '0' && text[digits] <= '9') {
        number = number * 10 + static_cast<std::uint64_t>(text[digits++] - '0');
    }
    const std::string_view unit = std::string_view(text).substr(digits);
    const std::uint64_t scale = unit.empty()    ? 1
                                : unit == "KiB" ? 1024
                                : unit == "MiB" ? std::uint64_t{1024} * 1024
                                                : 0;
    const std::uint64_t size = number * scale;
    if (digits == 0 || scale == 0 || size < 2 || size > value_size_max_bytes) {
        throw usage_error(fmt::format(
            "--size: '{}' is not a size from 2 to 20MiB, such as 32, 16KiB or 1MiB", text));
    }
    return size;
}

class bench_run {
public:
    explicit bench_run(const bench_options& options) {
        kv_access access = open_access(options.access, access_kind::reads);
        load_options load = options.load;
        load.is_driven = !options.loops;
        if (options.loops) {
            access.client.io_threads = *options.loops;
            load.in_flight *= *options.loops;
        } else {
            access.client.threads = couchbase::thread_mode::caller_drives;
        }
        if (access.timeout) {
            access.client.kv_timeout = *access.timeout;
        }
        std::random_device device;
        const std::uint64_t random = (std::uint64_t{device()} << 32U) | device();
        for (std::size_t each = 0; each < options.threads; ++each) {
            couchbase::cluster client = connect(access);
            auto documents = client.bucket(access.bucket).default_collection();
            loads_.push_back(std::make_unique<key_value_load>(
                std::move(client), std::move(documents), load,
                fmt::format("reprise-{:016x}-{}-", random, each)));
        }
        embedded_ = std::move(access.embedded);
    }

    [[nodiscard]] bench_report run(duration time) {
        const interrupt_watch watch;
        bench_report report;
        std::optional<couchbase::error> problem;
        for (const auto& load : loads_) {
            if (problem = load->prepare(); problem) {
                break;
            }
        }
        if (!problem) {
            measure(time, watch, report);
        }
        for (const auto& load : loads_) {
            report.documents_left += load->clean_up();
        }
        if (problem) {
            throw failure("cannot store the documents to work on: " + problem->message());
        }
        report.signal = watch.number();
        return report;
    }

private:
    void measure(duration time, const interrupt_watch& watch, bench_report& report) {
        const auto start = clock::now();
        {
            std::vector<std::jthread> threads;
            threads.reserve(loads_.size());
            for (const auto& load : loads_) {
                threads.emplace_back([&load = *load] { load.run(); });
            }
            follow(start, time, watch);
            report.time = clock::now() - start;
            for (const auto& load : loads_) {
                load->stop();
            }
        }
        for (const auto& load : loads_) {
            report.reads.add(load->reads());
            report.writes.add(load->writes());
            if (report.first_error.empty()) {
                report.first_error = load->first_error();
            }
        }
    }

    // Reports once a second how far the run is.
    void follow(clock::time_point start, duration time, const interrupt_watch& watch) const {
        std::uint64_t before = 0;
        auto next_line = start + 1s;
        while (clock::now() < start + time && !watch.has_come()) {
            std::this_thread::sleep_for(20ms);
            if (clock::now() < next_line) {
                continue;
            }
            bench_totals totals;
            for (const auto& load : loads_) {
                totals.add(load->reads());
                totals.add(load->writes());
            }
            print_aside(fmt::format(
                "{:>4} s  {:>9} operations/s  p99 {:.3f} ms  {} failed\n",
                std::chrono::floor<std::chrono::seconds>(clock::now() - start).count(),
                totals.succeeded - before,
                std::chrono::duration<double, std::milli>(totals.latency.percentile(0.99)).count(),
                totals.failed));
            before = totals.succeeded;
            next_line += 1s;
        }
    }

    std::unique_ptr<sandbox::embedded_cluster> embedded_;  // destroyed after the clients
    std::vector<std::unique_ptr<key_value_load>> loads_;
};

struct percentile_column {
    const char* heading;
    double share;
};
constexpr auto percentiles =
    std::to_array<percentile_column>({{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}});

[[nodiscard]] double to_ms(duration time) {
    return std::chrono::duration<double, std::milli>(time).count();
}

void print_table(const bench_report& report) {
    std::vector<std::string> heading{"", "operations", "failed", "per second", "MB/s"};
    for (const percentile_column& each : percentiles) {
        heading.push_back(fmt::format("{} ms", each.heading));
    }
    std::vector<std::vector<std::string>> rows;
    const auto add = [&](const char* name, const bench_totals& totals) {
        const double seconds = report.time.count();
        std::vector<std::string> row{
            name, fmt::format("{}", totals.succeeded), fmt::format("{}", totals.failed),
            fmt::format("{:.0f}", static_cast<double>(totals.succeeded) / seconds),
            fmt::format("{:.1f}", static_cast<double>(totals.bytes) / seconds / 1e6)};
        for (const percentile_column& each : percentiles) {
            row.push_back(fmt::format("{:.3f}", to_ms(totals.latency.percentile(each.share))));
        }
        rows.push_back(std::move(row));
    };
    add("get", report.reads);
    add("upsert", report.writes);
    print(to_columns(heading, rows));
    if (!report.first_error.empty()) {
        print(fmt::format("\nThe first error: {}\n", report.first_error));
    }
}

void print_json(const bench_report& report, const bench_options& options) {
    std::string text;
    json::writer out(text, json::layout::indented);
    out.begin_object();
    out.member("seconds", report.time.count());
    out.member("threads", options.loops.value_or(options.threads));
    out.member("clients", options.loops ? 1 : options.threads);
    out.member("in_flight", options.load.in_flight);
    const auto add = [&](const char* name, const bench_totals& totals) {
        out.key(name).begin_object();
        out.member("operations", totals.succeeded);
        out.member("failed", totals.failed);
        out.member("per_second", static_cast<double>(totals.succeeded) / report.time.count());
        out.member("bytes", totals.bytes);
        out.key("latency_ms").begin_object();
        for (const percentile_column& each : percentiles) {
            out.member(each.heading, to_ms(totals.latency.percentile(each.share)));
        }
        out.end_object().end_object();
    };
    add("get", report.reads);
    add("upsert", report.writes);
    out.member("first_error", report.first_error);
    out.member("documents_left", report.documents_left);
    out.member("interrupted", report.signal != 0);
    out.end_object();
    print(text + "\n");
}

void run_bench(bench_options& options) {
    const duration time = parse_time(options.duration, "--duration");
    if (time > duration_max) {
        throw usage_error("--duration: at most 1h");
    }
    options.load.sizes.clear();
    for (const std::string& size : options.sizes) {
        options.load.sizes.push_back(parse_size(size));
    }
    const bench_report report = bench_run(options).run(time);
    if (options.is_json) {
        print_json(report, options);
    } else {
        print_table(report);
    }
    if (report.documents_left != 0) {
        throw failure(fmt::format("{} documents could not be removed", report.documents_left));
    }
    if (report.reads.succeeded + report.writes.succeeded == 0) {
        throw exit_request(exit_code::failed);
    }
    if (report.signal != 0) {
        throw exit_request(exit_code_of_signal(report.signal));
    }
}

}  // namespace

void add_bench_command(CLI::App& app) {
    CLI::App* command =
        app.add_subcommand("bench", "Measure reads and writes of documents on your cluster");
    const auto options = std::make_shared<bench_options>();
    add_access_options(*command, options->access);
    command->add_option("--reads", options->load.read_percent, "Percentage of reads, 0 to 100")
        ->capture_default_str()
        ->check(CLI::Range(0, 100));
    command
        ->add_option(
            "--size", options->sizes, "Size of the values: 32, 16KiB, 1MiB; several are mixed")
        ->capture_default_str();
    command
        ->add_option(
            "--in-flight", options->load.in_flight,
            "Operations that each thread keeps running, 1 to 4096")
        ->capture_default_str()
        ->check(CLI::Range(1, 4096));
    CLI::Option* const threads = command
                                     ->add_option(
                                         "--threads", options->threads,
                                         "Threads, 1 to 64; each has a client of its own and runs "
                                         "its I/O")
                                     ->capture_default_str()
                                     ->check(CLI::Range(1, 64));
    command
        ->add_option(
            "--loops", options->loops,
            "Instead: one client with this many threads of its own (io_threads), 1 to 64")
        ->check(CLI::Range(1, 64))
        ->excludes(threads);
    command->add_option("--keys", options->load.key_count, "Documents per thread, 1 to 1000000")
        ->capture_default_str()
        ->check(CLI::Range(1, 1'000'000));
    command->add_option("--duration", options->duration, "How long to measure: 500ms, 10s, 5m")
        ->capture_default_str();
    command->add_flag("--json", options->is_json, "Print the results as JSON");
    command->footer(
        "Works only on its own documents (keys with a random prefix) and removes them at the end,\n"
        "even after Ctrl-C. Progress goes to standard error once a second. Latencies have a\n"
        "relative error of at most 1/8.\n\n" +
        exit_code_help({exit_code::interrupted, exit_code::terminated}) +
        "\nExamples:\n"
        "  reprise bench -c couchbase://host -u app --password-file secret.txt -b travel\n"
        "  reprise bench --reads 50 --size 32 --size 16KiB --threads 4 --duration 1m\n"
        "  reprise bench --in-flight 1 --json");
    command->callback([options] { run_bench(*options); });
}

}  // namespace reprise::app
