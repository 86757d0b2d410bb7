// Keeps a scenario as a test: do our retry settings let the service recover from a stall?

#include <cstdio>
#include <cstdlib>

#include <reprise/lab/region.hpp>
#include <reprise/lab/scenario.hpp>

namespace {

// Usually a file of the repository; `reprise lab run` shows the same file as charts.
constexpr const char* our_service = R"({
  "clients": { "count": 20, "requests_per_second": 800, "attempt_timeout": "500ms",
               "retries": { "preset": "standard", "attempts_max": 3 } },
  "services": [{ "name": "shop", "capacity_per_second": 1000 }],
  "troubles": [{ "kind": "stall", "start": "10s", "length": "5s" }],
  "length": "60s"
})";

void expect(bool holds, const char* what) {
    std::printf("%s: %s\n", holds ? "ok" : "failed", what);
    if (!holds) {
        std::exit(1);
    }
}

}  // namespace

int main() {
    const auto read = reprise::lab::read_scenario(our_service);
    if (!read) {
        std::printf("%s\n", to_string(read.error()).c_str());
        return 1;
    }
    // [run]
    reprise::lab::model model = read->model;
    expect(reprise::lab::run(model).recovery.has_recovered(), "our settings recover at 80 % load");
    // [/run]

    // The same settings without their budget.
    model.clients.retries.budget = {};
    expect(!reprise::lab::run(model).recovery.has_recovered(), "without a budget they do not");

    const auto edge =
        reprise::lab::find_edge(model, reprise::lab::region_axis::attempts, 3).value();
    std::printf("without a budget they recover up to %.0f requests/s\n", edge.recovers_up_to);
}
