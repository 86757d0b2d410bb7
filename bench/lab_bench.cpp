// How fast the lab is: the time of a preview on the page of `reprise lab serve` for each scenario
// of the gallery (goal: 300 ms), and requests per second of processor time with 1,000 and with
// 1,000,000 clients (goals: 2 and 0.5 million). Prints one JSON object.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>

#include <reprise/lab/report.hpp>
#include <reprise/lab/run.hpp>
#include <reprise/lab/scenario.hpp>

namespace {

namespace lab = reprise::lab;

double cpu_seconds() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The page runs two strategies at the same time, on a thread each, and then makes the report.
double preview_seconds(const lab::gallery_entry& entry) {
    lab::scenario asked = *lab::read_scenario(entry.text);
    lab::retry_options settings;
    settings.backoff.base = std::chrono::milliseconds{100};
    asked.strategies = {
        {"your settings", settings, false},
        {"standard", lab::find_retry_preset("standard")->options, false}};
    lab::comparison compared{asked, {}};
    double slowest = 0;
    for (const lab::strategy_choice& each : asked.strategies) {
        const double start = cpu_seconds();
        compared.results.push_back({each, lab::run(with_strategy(asked, each))});
        slowest = std::max(slowest, cpu_seconds() - start);
    }
    const double start = cpu_seconds();
    const std::string report = lab::to_json(compared, "") + lab::to_table(compared);
    return slowest + cpu_seconds() - start + (report.empty() ? 1e9 : 0);
}

double requests_per_second(std::uint32_t clients) {
    const std::string text =
        "{\"length\": \"10s\", \"clients\": {\"count\": " + std::to_string(clients) +
        ", \"requests_per_second\": 200000, \"attempt_timeout\": \"1s\"},"
        "\"services\": [{\"name\": \"s\", \"capacity_per_second\": 400000, "
        "\"concurrency\": 64, \"failure_share\": 0.01}],"
        "\"strategies\": [\"standard\"]}";
    const lab::scenario asked = *lab::read_scenario(text);
    const lab::model model = with_strategy(asked, asked.strategies.front());
    const double start = cpu_seconds();
    const lab::run_result result = lab::run(model);
    return static_cast<double>(result.totals().calls) / (cpu_seconds() - start);
}

}  // namespace

int main() {
    std::printf("{\"preview_ms\": {");
    const char* separator = "";
    for (const lab::gallery_entry& each : lab::gallery()) {
        std::printf(
            "%s\"%s\": %.0f", separator, std::string(each.name).c_str(),
            preview_seconds(each) * 1e3);
        separator = ", ";
    }
    std::printf("},\n \"requests_per_second\": {");
    separator = "";
    for (const std::uint32_t clients : {1000U, 1'000'000U}) {
        std::printf("%s\"%u clients\": %.0f", separator, clients, requests_per_second(clients));
        separator = ", ";
    }
    std::printf("}}\n");
}
