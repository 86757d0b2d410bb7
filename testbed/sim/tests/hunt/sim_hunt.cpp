/// sim_hunt PROFILE FIRST..LAST or SEED,SEED,... Runs seeds of a profile until a checker finds
/// something; prints "seed 17 ledger ..." and exits with 1. Exits with 0 if nothing was found and
/// with 2 on wrong usage. `./dev mutants` runs it with clients that have a deliberate bug, and then
/// runs the same seeds without the bug.

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/sim/simulation.hpp>

namespace {

namespace sim = reprise::sim;

constexpr std::uint64_t seed_count_max = 1'000'000;

std::optional<std::uint64_t> number_of(std::string_view text) {
    std::uint64_t result = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), result);
    return ec == std::errc{} && end == text.data() + text.size() ? std::optional(result)
                                                                 : std::nullopt;
}

// Empty if it cannot be parsed.
std::vector<std::uint64_t> seeds_of(std::string_view text) {
    std::vector<std::uint64_t> seeds;
    if (const auto dots = text.find(".."); dots != std::string_view::npos) {
        const auto first = number_of(text.substr(0, dots));
        const auto last = number_of(text.substr(dots + 2));
        if (first && last && *first <= *last && *last - *first < seed_count_max) {
            for (std::uint64_t seed = *first; seed <= *last; ++seed) {
                seeds.push_back(seed);
            }
        }
        return seeds;
    }
    while (!text.empty()) {
        const auto comma = text.find(',');
        const auto seed = number_of(text.substr(0, comma));
        if (!seed) {
            return {};
        }
        seeds.push_back(*seed);
        text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
    }
    return seeds;
}

int hunt(const sim::profile& from, const std::vector<std::uint64_t>& seeds) {
    for (const std::uint64_t seed : seeds) {
        const sim::run_report report = sim::run_scenario(sim::random_scenario(seed, from));
        if (!report.is_clean()) {
            const sim::finding& found = report.findings.front();
            const std::string text = found.text.substr(0, found.text.find('\n'));
            std::printf(
                "seed %llu %s %s\n", static_cast<unsigned long long>(seed),
                std::string(to_string(found.what)).c_str(), text.c_str());
            return 1;
        }
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        const sim::profile* from = argc == 3 ? sim::find_profile(argv[1]) : nullptr;
        const auto seeds = argc == 3 ? seeds_of(argv[2]) : std::vector<std::uint64_t>{};
        if (from == nullptr || seeds.empty()) {
            std::fprintf(stderr, "usage: sim_hunt PROFILE FIRST..LAST|SEED,SEED,...\n");
            return 2;
        }
        return hunt(*from, seeds);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "sim_hunt: %s\n", error.what());
        return 2;
    }
}
