#include <cstdio>

#include <fmt/format.h>

#include "run.hpp"
#include "theatre.hpp"

namespace reprise::demo {

int run_demo(const demo_options& options) {
    auto opened = theatre::open(options.seed);
    if (!opened) {
        fmt::print(stderr, "reprise: {}\n", opened.error());
        return 1;
    }
    theatre& house = **opened;
    std::vector<scheduled_phase> phases = make_demo_phases();
    double shares = 0;
    std::vector<std::string> names;
    for (const scheduled_phase& one : phases) {
        shares += one.share;
        names.emplace_back(one.played->name());
    }
    const auto seen_by = make_view(choose_view(options.is_plain, options.is_json));
    seen_by->on_begin(
        fmt::format(
            "reprise demo: a cluster of 4 nodes, one client, {} users, seed {}",
            house.load_settings().workers(), options.seed),
        names);
    run_result result;
    progress shown;
    shown.total = std::chrono::duration<double>(options.seconds);
    for (std::size_t i = 0; i < phases.size(); ++i) {
        shown.phase = i;
        const std::chrono::duration<double> length{options.seconds * phases[i].share / shares};
        result.phases.push_back({names[i], house.play(*phases[i].played, length, shown, *seen_by)});
    }
    seen_by->on_end();
    result.audit = house.close();
    fmt::print("{}", options.is_json ? to_json(result) : to_text(result));
    std::fflush(stdout);
    return result.is_good() ? 0 : 1;
}

}  // namespace reprise::demo
