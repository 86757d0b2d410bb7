/// `reprise sim`: runs the client and the cluster on a simulated network and clock, one seed at a
/// time.

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <reprise/json/write.hpp>
#include <reprise/sim/scenario.hpp>
#include <reprise/sim/shrink.hpp>
#include <reprise/sim/simulation.hpp>

#include "commands/commands.hpp"
#include "interrupt.hpp"
#include "output/output.hpp"
#include "output/sim_report.hpp"

namespace reprise::app {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t lines_before = 40;
constexpr std::size_t lines_after = 8;

struct sim_options {
    std::string seeds = "1..200";
    double minutes = 0;  ///< 0: no limit, run all seeds.
    std::string profile = "swarm";
    std::optional<std::uint64_t> replay;
    std::optional<std::size_t> loops;  ///< Of every client; absent: as the seed determines.
    std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
    bool json = false;
    bool shrink = false;
    bool keep_going = false;
    bool cells = false;
    bool list_profiles = false;
};

struct seed_range {
    std::uint64_t first = 1;
    std::uint64_t last = 1;
};

[[nodiscard]] std::optional<std::uint64_t> read_number(std::string_view text) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc{} && stop == end ? std::optional(value) : std::nullopt;
}

/// Parses "A..B", or "A" for one seed; "A.." runs until the minutes are over.
[[nodiscard]] seed_range read_seeds(const std::string& text, bool is_timed) {
    const std::size_t dots = text.find("..");
    const auto first = read_number(std::string_view(text).substr(0, dots));
    std::optional<std::uint64_t> last = first;
    if (dots != std::string::npos) {
        const std::string_view rest = std::string_view(text).substr(dots + 2);
        last = rest.empty() && is_timed ? std::numeric_limits<std::uint64_t>::max()
                                        : read_number(rest);
    }
    if (!first || !last || *last < *first) {
        throw usage_error(
            fmt::format("--seeds: '{}' is not A..B with whole numbers and A <= B", text));
    }
    return {*first, *last};
}

[[nodiscard]] const sim::profile& read_profile(const std::string& name) {
    const sim::profile* found = sim::find_profile(name);
    if (found == nullptr) {
        throw usage_error(
            fmt::format("--profile: '{}' does not exist; see reprise sim --list-profiles", name));
    }
    return *found;
}

[[nodiscard]] sim::scenario make_scenario(
    const sim_options& options, const sim::profile& from, std::uint64_t seed) {
    sim::scenario plan = sim::random_scenario(seed, from);
    for (sim::planned_client& each : plan.clients) {
        each.loop_count = options.loops.value_or(each.loop_count);
    }
    return plan;
}

/// The options that, with a seed, determine a run.
[[nodiscard]] std::string replay_options(const sim_options& options) {
    return fmt::format("--profile {}", options.profile) +
           (options.loops ? fmt::format(" --loops {}", *options.loops) : std::string());
}

void list_profiles(bool is_json) {
    std::string text;
    std::string json_text;
    json::writer out(json_text, json::layout::indented);
    out.begin_object().key("profiles").begin_array();
    for (const sim::profile& each : sim::all_profiles()) {
        text += fmt::format(
            "{:<8}  {} ({}..{} operations, up to {} faults)\n", each.name, each.meaning,
            each.operation_count_min, each.operation_count_max, each.fault_count_max);
        out.begin_object();
        out.member("name", each.name);
        out.member("meaning", each.meaning);
        out.member("operations_min", each.operation_count_min);
        out.member("operations_max", each.operation_count_max);
        out.member("faults_max", each.fault_count_max);
        out.end_object();
    }
    out.end_array().end_object();
    print(is_json ? json_text + "\n" : text);
}

[[nodiscard]] double seconds_since(clock::time_point start) {
    return std::max(std::chrono::duration<double>(clock::now() - start).count(), 1e-9);
}

/// On a terminal one line that is updated, otherwise a line every ten seconds.
class progress_line {
public:
    explicit progress_line(bool is_quiet)
        : is_quiet_(is_quiet), is_terminal_(isatty(STDERR_FILENO) == 1) {}
    ~progress_line() {
        if (is_shown_ && is_terminal_) {
            print_aside("\n");
        }
    }
    progress_line(const progress_line&) = delete;
    progress_line& operator=(const progress_line&) = delete;

    void show(const sim_totals& totals) {
        const double pause = is_terminal_ ? 0.5 : 10.0;
        if (is_quiet_ || seconds_since(shown_) < pause) {
            return;
        }
        shown_ = clock::now();
        is_shown_ = true;
        const std::string text = sim_progress(totals, seconds_since(start_));
        if (is_terminal_) {
            rewind_aside();
        }
        print_aside(text + (is_terminal_ ? "  " : "\n"));
    }

private:
    bool is_quiet_;
    bool is_terminal_;
    bool is_shown_ = false;
    clock::time_point start_ = clock::now();
    clock::time_point shown_ = start_;
};

[[nodiscard]] sim_failure describe_failure(
    const sim::scenario& plan, const sim::run_report& report, bool is_shrunk,
    const interrupt_watch& watch) {
    sim_failure failure{plan.seed, report.findings, {}, {}};
    if (is_shrunk) {
        failure.shrunk =
            sim::shrink(plan, sim::shrink_run_count_max, [&watch] { return watch.has_come(); });
        failure.events = events_around(failure.shrunk.plan, lines_before, lines_after);
    }
    return failure;
}

/// Runs seeds on several threads, and returns their reports in the order of the seeds.
class seed_runs {
public:
    seed_runs(const sim_options& options, const sim::profile& from, const seed_range& seeds)
        : options_(options),
          from_(from),
          seeds_(seeds),
          free_threads_(static_cast<std::ptrdiff_t>(options.threads)) {}
    seed_runs(const seed_runs&) = delete;
    seed_runs& operator=(const seed_runs&) = delete;
    ~seed_runs() { is_over_ = true; }

    /// The next seed's report.
    [[nodiscard]] sim::run_report next() {
        while (ahead_.size() < 4 * options_.threads && !is_all_begun_) {
            ahead_.push_back(
                std::async(std::launch::async, [this, seed = seeds_.first] { return run(seed); }));
            is_all_begun_ = seeds_.first++ == seeds_.last;
        }
        std::future<sim::run_report> first = std::move(ahead_.front());
        ahead_.pop_front();
        return first.get();
    }

private:
    /// More seeds are begun than there are threads, so that none waits for a long one before it.
    [[nodiscard]] sim::run_report run(std::uint64_t seed) {
        free_threads_.acquire();
        const std::unique_ptr<std::counting_semaphore<>, void (*)(std::counting_semaphore<>*)>
            taken(&free_threads_, [](std::counting_semaphore<>* from) { from->release(); });
        return is_over_ ? sim::run_report{}
                        : sim::run_scenario(make_scenario(options_, from_, seed));
    }

    const sim_options& options_;
    const sim::profile& from_;
    seed_range seeds_;  ///< Those that are not begun yet.
    bool is_all_begun_ = false;
    std::atomic<bool> is_over_ = false;  ///< No further report is wanted.
    std::counting_semaphore<> free_threads_;
    std::deque<std::future<sim::run_report>> ahead_;
};

/// The results of a range of seeds.
struct seed_results {
    sim_totals totals;
    std::vector<sim_failure> failures;
    double seconds = 0;
};

[[nodiscard]] seed_results try_seeds(
    const sim_options& options, const sim::profile& from, const seed_range& seeds,
    const interrupt_watch& watch) {
    const auto start = clock::now();
    seed_results results;
    progress_line progress(options.json);
    seed_runs runs(options, from, seeds);
    for (std::uint64_t seed = seeds.first;; ++seed) {
        const sim::run_report report = runs.next();
        results.totals.add(report);
        progress.show(results.totals);
        if (!report.is_clean()) {
            // The first one is shrunk; the others can be replayed.
            results.failures.push_back(describe_failure(
                make_scenario(options, from, seed), report, results.failures.empty(), watch));
            if (!options.keep_going) {
                break;
            }
        }
        const bool is_late = options.minutes > 0 && seconds_since(start) > options.minutes * 60;
        if (seed == seeds.last || is_late || watch.has_come()) {
            break;
        }
    }
    results.seconds = seconds_since(start);
    return results;
}

void run_seeds(const sim_options& options) {
    const sim::profile& from = read_profile(options.profile);
    const seed_range seeds = read_seeds(options.seeds, options.minutes > 0);
    const interrupt_watch watch;
    const auto [totals, failures, seconds] = try_seeds(options, from, seeds, watch);
    if (options.json) {
        print(to_json(totals, failures, options.profile, watch.has_come()));
    } else {
        for (const sim_failure& each : failures) {
            print(to_text(each, replay_options(options)) + "\n");
        }
        print(to_text(totals));
        print(fmt::format(
            "{}{:.1f} s, {:.1f} seeds/s, {:.0f} operations/s\n",
            watch.has_come() ? "interrupted after " : "", seconds,
            static_cast<double>(totals.seeds) / seconds,
            static_cast<double>(totals.operations) / seconds));
        if (options.cells) {
            print("\ncells not reached:\n" + missing_cells(totals.cells));
            print("\nsituations not met:\n" + missing_situations(totals.situations));
        }
    }
    if (!failures.empty()) {
        throw exit_request(exit_code::failed);
    }
    if (watch.has_come()) {
        throw exit_request(exit_code_of_signal(watch.number()));
    }
}

/// Prints every event of one seed, one per line. Every run of a seed prints the same.
void replay(const sim_options& options) {
    sim::scenario plan = make_scenario(options, read_profile(options.profile), *options.replay);
    if (options.shrink) {
        const interrupt_watch watch;
        plan = sim::shrink(plan, sim::shrink_run_count_max, [&watch] {
                   return watch.has_come();
               }).plan;
    }
    sim::run_options how;
    // Destructors of the simulated world trace, too, so the trace must not throw. The reader of our
    // output may go away at any time.
    std::exception_ptr output_failure;
    if (!options.json) {
        print(sim::to_string(plan) + "\n");
        how.trace = [&output_failure](duration at, std::string_view line) noexcept {
            try {
                if (!output_failure) {
                    print(fmt::format("{:>14} {}\n", sim_time(at), line));
                }
            } catch (const std::exception&) {
                output_failure = std::current_exception();
            }
        };
    }
    const sim::run_report report = sim::run_scenario(plan, how);
    if (output_failure) {
        std::rethrow_exception(output_failure);
    }
    if (options.json) {
        print(to_json(plan, report));
    } else {
        sim_totals totals;
        totals.add(report);
        print("\n" + to_text(totals));
        print(fmt::format("fingerprint {:016x}\n", report.fingerprint));
    }
    if (!report.is_clean()) {
        throw exit_request(exit_code::failed);
    }
}

[[nodiscard]] std::string check_seed(const std::string& text) {
    return read_number(text) ? std::string{} : fmt::format("'{}' is not a whole number", text);
}

}  // namespace

void add_sim_command(CLI::App& app) {
    CLI::App* command = app.add_subcommand(
        "sim", "Simulate the client and a test cluster for many seeds, and check every promise");
    const auto options = std::make_shared<sim_options>();
    command->add_option("--seeds", options->seeds, "Seeds: A..B, or a single one (1..200)");
    command
        ->add_option(
            "--minutes", options->minutes, "Stop after this many minutes; allows --seeds A..")
        ->check(CLI::PositiveNumber);
    command->add_option(
        "--profile", options->profile, "Profile that scenarios are generated from (swarm)");
    command->add_option("--replay", options->replay, "Replay one seed and print every event")
        ->check(check_seed);
    command
        ->add_option(
            "--loops", options->loops, "Loops (io_threads) of every client (by the seed: 1 to 3)")
        ->check(CLI::Range(1, 64));
    command->add_option("--threads", options->threads, "Seeds at the same time (one per core)")
        ->check(CLI::Range(1, 256));
    command->add_flag("--shrink", options->shrink, "With --replay: shrink the scenario first");
    command->add_flag("--keep-going", options->keep_going, "Continue after a seed that fails");
    command->add_flag(
        "--cells", options->cells, "List the cells and situations that were not reached");
    command->add_flag("--list-profiles", options->list_profiles, "List the profiles");
    command->add_flag("--json", options->json, "Print the results as JSON, without progress");
    command->footer(
        "Examples:\n"
        "  reprise sim --seeds 1..1000\n"
        "  reprise sim --seeds 5000.. --minutes 10 --profile network\n"
        "  reprise sim --replay 4711\n"
        "\n"
        "A broken promise is a failure (1). SIGINT (Ctrl-C) and SIGTERM end the run after the "
        "seed\n"
        "being run, with the totals so far.\n\n" +
        exit_code_help({exit_code::interrupted, exit_code::terminated}));
    command->callback([options] {
        if (options->list_profiles) {
            list_profiles(options->json);
        } else if (options->replay) {
            replay(*options);
        } else if (options->shrink) {
            throw usage_error("--shrink: requires --replay");
        } else {
            run_seeds(*options);
        }
    });
}

}  // namespace reprise::app
