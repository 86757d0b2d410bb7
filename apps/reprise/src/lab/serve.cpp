#include "lab/serve.hpp"

#include <future>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>
#include <reprise/lab/live_page.hpp>
#include <reprise/lab/report.hpp>

#include "kv_access.hpp"
#include "lab/local_server.hpp"
#include "lab/sources.hpp"
#include "output/output.hpp"

namespace reprise::app {

namespace {

/// A page must not occupy the server for minutes.
constexpr double page_attempts_max = 3'000'000.0;

[[nodiscard]] local_response refuse(std::string_view message) {
    std::string text;
    json::writer(text).begin_object().member("error", message).end_object();
    return {400, "application/json", std::move(text)};
}

/// As `lab::compare`, with one thread for each strategy, since someone is waiting.
[[nodiscard]] lab::comparison compare_side_by_side(const lab::scenario& asked) {
    std::vector<std::future<lab::run_result>> running;
    running.reserve(asked.strategies.size());
    for (const lab::strategy_choice& each : asked.strategies) {
        running.push_back(std::async(
            std::launch::async, [&asked, &each] { return lab::run(with_strategy(asked, each)); }));
    }
    lab::comparison compared{asked, {}};
    for (std::size_t i = 0; i < running.size(); ++i) {
        compared.results.push_back({asked.strategies[i], running[i].get()});
    }
    return compared;
}

/// The body is {"scenario": text, "set": [{"path": "...", "value": "..."}]}.
[[nodiscard]] local_response run_request(const std::string& body) {
    const auto parsed = json::parse(body, {.size_max_bytes = lab_file_size_max_bytes});
    const json::value* text = parsed ? parsed->root.find("scenario") : nullptr;
    if (text == nullptr || !text->as_string()) {
        return refuse("the request has no scenario");
    }
    std::vector<lab::scenario_override> overrides;
    const json::value* changes = parsed->root.find("set");
    for (std::size_t i = 0; changes != nullptr && changes->at(i) != nullptr; ++i) {
        const json::value* path = changes->at(i)->find("path");
        const json::value* value = changes->at(i)->find("value");
        if (path == nullptr || value == nullptr || !path->as_string() || !value->as_string()) {
            return refuse("each change needs a path and a value");
        }
        overrides.push_back({std::string(*path->as_string()), std::string(*value->as_string())});
    }
    const auto read = lab::read_scenario(*text->as_string(), overrides);
    if (!read) {
        return refuse(to_string(read.error()));
    }
    if (lab::expected_attempts(read->model) > page_attempts_max) {
        return refuse("too large for a page: use reprise lab run");
    }
    const lab::comparison compared = compare_side_by_side(*read);
    std::string answer;
    json::writer out(answer);
    out.begin_object()
        .key("report")
        .raw(lab::to_json(compared, ""))
        .member("table", lab::to_table(compared))
        .member("code", lab::to_cpp(read->strategies.front().retries))
        .member("file", lab::apply_overrides(*text->as_string(), overrides).value_or(""))
        .end_object();
    return {200, "application/json", std::move(answer)};
}

}  // namespace

void serve_lab(const lab_serve_options& typed) {
    const std::string own =
        typed.scenario.empty() ? "" : read_input(typed.scenario, lab_file_size_max_bytes);
    if (!own.empty()) {
        if (const auto read = lab::read_scenario(own); !read) {
            throw usage_error(fmt::format("{}: {}", typed.scenario, to_string(read.error())));
        }
    }
    const std::string page = lab::to_live_page(own);
    const interrupt_watch watch;
    std::unique_ptr<access_check> access;
    serve_locally(
        typed.port, watch,
        [&](std::uint16_t port) {
            access = std::make_unique<access_check>(make_token(), port);
            std::string text;
            json::writer(text).begin_object().member("link", access->link()).end_object();
            print(
                typed.is_json ? text + "\n"
                              : fmt::format("Open {} and end with Ctrl-C.\n", access->link()));
        },
        [&](const local_request& request) -> local_response {
            if (local_response refused = access->check(request); refused.status != 200) {
                return refused;
            }
            if (request.method == "GET" && request.target.starts_with("/?")) {
                return {200, "text/html; charset=utf-8", page};
            }
            if (request.method == "POST" && request.target == "/run") {
                return run_request(request.body);
            }
            return {404, "text/plain; charset=utf-8", "Not found.\n"};
        });
    throw exit_request(exit_code_of_signal(watch.number()));
}

}  // namespace reprise::app
