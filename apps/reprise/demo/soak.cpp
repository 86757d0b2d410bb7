#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "demonstration.hpp"
#include "run.hpp"

namespace reprise::demo {

namespace {

using clock = std::chrono::steady_clock;

constexpr double phase_seconds = 5;
// New nodes get new numbers, and a cluster is limited to 256 of them.
constexpr std::size_t rebalance_count_max = 200;
// A sanitizer keeps freed memory, so its size is not meaningful there.
#if defined(REPRISE_SANITIZED)
constexpr double growth_max_mib = 4096;
#else
constexpr double growth_max_mib = 16;
#endif

[[nodiscard]] double resident_mib() {
    std::ifstream file("/proc/self/statm");
    std::size_t size = 0;
    std::size_t resident = 0;
    file >> size >> resident;
    const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
    return static_cast<double>(resident) * page / (1024.0 * 1024.0);
}

// Samples memory once a second. Bounded: a week has 600,000 samples.
class memory_watch {
public:
    explicit memory_watch(std::chrono::duration<double> total) : total_(total) {}
    void look() {
        const std::chrono::duration<double> now = clock::now() - start_;
        if (samples_.empty() || now.count() >= static_cast<double>(samples_.size())) {
            samples_.push_back(static_cast<float>(resident_mib()));
        }
    }
    [[nodiscard]] memory_result result() const {
        memory_result made;
        made.growth_max_mib = growth_max_mib;
        const std::size_t count = samples_.size();
        if (count == 0) {
            return made;
        }
        const std::size_t first =
            std::min({static_cast<std::size_t>(total_.count() / 3), std::size_t{60}, count - 1});
        made.begin_mib = static_cast<double>(samples_[first]);
        const auto last = static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, count / 10));
        made.end_mib =
            std::accumulate(samples_.end() - last, samples_.end(), 0.0) / static_cast<double>(last);
        made.peak_mib = static_cast<double>(*std::ranges::max_element(samples_));
        return made;
    }

private:
    std::chrono::duration<double> total_;
    clock::time_point start_ = clock::now();
    std::vector<float> samples_;
};

[[nodiscard]] std::vector<std::unique_ptr<phase>> make_soak_phases() {
    std::vector<std::unique_ptr<phase>> phases;
    phases.push_back(make_rebalance_phase());
    phases.push_back(make_node_loss_phase());
    phases.push_back(make_graceful_phase());
    phases.push_back(make_restart_phase());
    phases.push_back(make_lock_phase());
    phases.push_back(make_pressure_phase());
    phases.push_back(make_services_phase());
    phases.push_back(make_error_map_phase());
    phases.push_back(make_collection_phase());
    return phases;
}

}  // namespace

std::expected<bool, std::string> run_soak(
    const soak_options& options, const run_environment& around) {
    auto opened = demonstration::open(options.seed, around.should_stop);
    if (!opened) {
        return std::unexpected(std::move(opened.error()));
    }
    demonstration& show = **opened;
    const std::chrono::duration<double> total{options.minutes * 60};
    const auto phases = make_soak_phases();
    std::vector<std::string> names;
    names.reserve(phases.size());
    for (const auto& one : phases) {
        names.emplace_back(one->name());
    }
    memory_watch memory(total);
    show.set_on_look([&] { memory.look(); });
    const auto seen_by = make_view(choose_view(options.is_plain, options.is_json), around);
    seen_by->on_begin(fmt::format("reprise soak: seed {}", options.seed), names);
    // Each round runs every kind once, in a new random order.
    random_generator random(options.seed);
    std::vector<std::size_t> order(phases.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::map<std::size_t, traffic_figures> sums;
    progress shown;
    shown.total = total;
    std::size_t played = 0;
    const auto start = clock::now();
    while (clock::now() - start < total && !around.should_stop()) {
        const std::size_t round = played % order.size();
        if (round == 0) {
            for (std::size_t i = order.size(); i > 1; --i) {
                std::swap(order[i - 1], order[random.next() % i]);
            }
        }
        ++played;
        if (order[round] == 0 && played / order.size() >= rebalance_count_max) {
            continue;
        }
        shown.phase = order[round];
        sums[order[round]].add(show.play(
            *phases[order[round]], std::chrono::duration<double>(phase_seconds), shown, *seen_by));
        show.writes().forget_settled();
    }
    seen_by->on_end();
    run_result result;
    result.is_interrupted = around.should_stop();
    result.audit = show.close();
    result.memory = memory.result();
    for (const auto& [index, sum] : sums) {
        result.phases.push_back({names[index], sum});
    }
    around.print(options.is_json ? to_json(result) : to_text(result));
    return result.is_good();
}

}  // namespace reprise::demo
