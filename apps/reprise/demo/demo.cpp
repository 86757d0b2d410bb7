#include <fmt/format.h>

#include "demonstration.hpp"
#include "run.hpp"
#include "timeline.hpp"

namespace reprise::demo {

std::expected<bool, std::string> run_demo(
    const demo_options& options, const run_environment& around) {
    auto opened = demonstration::open(options.seed, around.should_stop);
    if (!opened) {
        return std::unexpected(std::move(opened.error()));
    }
    demonstration& show = **opened;
    std::vector<scheduled_phase> phases = make_demo_phases();
    double shares = 0;
    std::vector<std::string> names;
    for (const scheduled_phase& one : phases) {
        shares += one.share;
        names.emplace_back(one.played->name());
    }
    const auto seen_by = make_view(choose_view(options.is_plain, options.is_json), around);
    const std::string description = fmt::format(
        "A cluster of 4 nodes, one client, {} users, seed {}", show.load_settings().workers(),
        options.seed);
    seen_by->on_begin("reprise demo. " + description, names);
    run_result result;
    progress shown;
    shown.total = std::chrono::duration<double>(options.seconds);
    timeline record(shown.total);
    show.set_on_look([&] {
        if (record.is_due(shown.elapsed)) {
            record.add_sample(shown.elapsed, show.take_recent());
        }
    });
    for (std::size_t i = 0; i < phases.size() && !around.should_stop(); ++i) {
        shown.phase = i;
        const std::chrono::duration<double> length{options.seconds * phases[i].share / shares};
        const std::chrono::duration<double> start = shown.elapsed;
        result.phases.push_back({names[i], show.play(*phases[i].played, length, shown, *seen_by)});
        record.add_phase(names[i], start, shown.elapsed);
    }
    seen_by->on_end();
    result.is_interrupted = around.should_stop();
    result.audit = show.close();
    around.print(options.is_json ? to_json(result) : to_text(result));
    if (options.on_record) {
        options.on_record(
            {result.is_good(), description, to_text(result.audit), record.to_json(result)});
    }
    return result.is_good();
}

}  // namespace reprise::demo
