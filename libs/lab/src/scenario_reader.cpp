#include <algorithm>
#include <utility>

#include <reprise/json/object_reader.hpp>
#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>
#include <reprise/lab/live_page.hpp>
#include <reprise/lab/scenario.hpp>
#include <settings_text.hpp>

namespace reprise::lab {

namespace {

using json::object_reader;
using json::reading_error;
using json::reading_report;
using json::value_path;
using retry_json::detail::read_retries;

constexpr std::size_t text_size_max_bytes = 1'000'000;
constexpr std::size_t strategies_max = 8;

constexpr std::pair<std::string_view, arrivals> arrivals_names[] = {
    {"open", arrivals::open},
    {"closed", arrivals::closed},
};
constexpr std::pair<std::string_view, work_time> work_names[] = {
    {"exponential", work_time::exponential},
    {"fixed", work_time::fixed},
};
constexpr std::pair<std::string_view, queue_order> order_names[] = {
    {"first_in", queue_order::first_in},
    {"last_in", queue_order::last_in},
};
constexpr std::pair<std::string_view, trouble_kind> trouble_names[] = {
    {"stall", trouble_kind::stall},         {"crash", trouble_kind::crash},
    {"slow_down", trouble_kind::slow_down}, {"capacity_loss", trouble_kind::capacity_loss},
    {"errors", trouble_kind::errors},       {"slow_answers", trouble_kind::slow_answers},
    {"bad_node", trouble_kind::bad_node},   {"spike", trouble_kind::spike},
    {"deploy", trouble_kind::deploy},
};
/// Whose retries a strategy replaces.
constexpr std::pair<std::string_view, bool> layer_names[] = {
    {"clients", false},
    {"all", true},
};

/// "retries", and the timeout next to it as a short form.
void read_layer(object_reader& in, retry_options& into) {
    std::optional<duration> timeout;
    in.read("attempt_timeout", timeout);
    if (const json::value* found = in.take("retries")) {
        into = read_retries(*found, in.path_of("retries"), in.report());
    }
    if (timeout && into.attempt_timeout) {
        in.fail("attempt_timeout", "is also in 'retries'; give one of both");
    } else if (timeout) {
        into.attempt_timeout = timeout;
        if (*timeout < std::chrono::microseconds{1} || *timeout > std::chrono::hours{24}) {
            in.fail("attempt_timeout", "must be between 1 us and 1 day");
        }
    }
}

void read_clients(object_reader& from, client_options& into) {
    into.retries.attempts_max = 1;
    const json::value* found = from.take("clients");
    if (found == nullptr) {
        return;
    }
    object_reader in(*found, from.path_of("clients"), from.report());
    in.read("count", into.count);
    in.read<arrivals>("arrivals", into.arrivals, arrivals_names);
    if (into.arrivals == arrivals::open) {
        in.read("requests_per_second", into.requests_per_second);
    } else {
        in.read("think_time", into.think_time);
        in.read("requests_each", into.requests_each);
    }
    in.read("is_warm", into.is_warm);
    in.read("restart_interval", into.restart_interval);
    read_layer(in, into.retries);
    in.finish();
}

void read_calls(object_reader& from, service_options& into) {
    const json::value* found = from.take("calls");
    if (found == nullptr) {
        return;
    }
    if (found->as_array() == nullptr) {
        from.fail("calls", "must be a list of services");
        return;
    }
    for (std::size_t i = 0; i < found->as_array()->size(); ++i) {
        const json::value& each = *found->at(i);
        call_target call;
        if (const auto name = each.as_string()) {
            call.service = *name;
        } else {
            value_path path = from.path_of("calls");
            path.push_back(std::to_string(i));
            object_reader in(each, path, from.report());
            in.require("service");
            in.read("service", call.service);
            in.read("count", call.count);
            in.finish();
        }
        into.calls.push_back(std::move(call));
    }
}

void read_service(object_reader& in, service_options& into) {
    into.retries.attempts_max = 1;
    in.read("name", into.name);
    in.read("capacity_per_second", into.capacity_per_second);
    in.read("work_mean", into.work_mean);
    in.read<work_time>("work", into.work, work_names);
    in.read("concurrency", into.concurrency);
    in.read("nodes", into.nodes);
    in.read("queue_limit", into.queue_limit);
    in.read<queue_order>("order", into.order, order_names);
    in.read("shed_after", into.shed_after);
    in.read("drops_expired", into.drops_expired);
    in.read("failure_share", into.failure_share);
    in.read("slow_share", into.slow_share);
    in.read("slow_delay", into.slow_delay);
    in.read("network_delay", into.network_delay);
    in.read("network_jitter", into.network_jitter);
    in.read("is_contended_record", into.is_contended_record);
    read_calls(in, into);
    read_layer(in, into.retries);
}

void read_trouble(object_reader& in, trouble& into) {
    in.require("kind");
    in.read<trouble_kind>("kind", into.kind, trouble_names);
    in.read("start", into.start);
    in.read("length", into.length);
    const auto is_any_of = [&](std::initializer_list<trouble_kind> kinds) {
        return std::ranges::find(kinds, into.kind) != kinds.end();
    };
    // Options of other kinds are unknown members, so a misplaced one is noticed.
    if (!is_any_of({trouble_kind::spike, trouble_kind::deploy})) {
        in.read("service", into.service);
    }
    if (is_any_of({trouble_kind::slow_down, trouble_kind::spike})) {
        in.read("factor", into.factor);
    }
    if (is_any_of(
            {trouble_kind::capacity_loss, trouble_kind::errors, trouble_kind::slow_answers,
             trouble_kind::bad_node})) {
        in.read("share", into.share);
    }
    if (into.kind == trouble_kind::slow_answers) {
        in.read("delay", into.delay);
    }
    if (into.kind == trouble_kind::deploy) {
        in.read("burst", into.burst);
    }
}

void read_strategy(object_reader& in, strategy_choice& into) {
    in.require("name");
    in.require("retries");
    in.read("name", into.name);
    in.read<bool>("layers", into.is_in_every_layer, layer_names);
    if (const json::value* found = in.take("retries")) {
        into.retries = read_retries(*found, in.path_of("retries"), in.report());
    }
    if (into.name.empty() || into.name.size() > 60) {
        in.fail("name", "must have 1 to 60 characters");
    }
}

/// Reads a list of objects with `read_one`. Absent: nothing changes.
template <class T, class ReadOne>
void read_list(
    object_reader& from, std::string_view name, std::size_t max, std::vector<T>& into,
    ReadOne read_one) {
    const json::value* found = from.take(name);
    if (found == nullptr) {
        return;
    }
    const json::array* elements = found->as_array();
    if (elements == nullptr || elements->size() > max) {
        from.fail(name, "must be a list of at most " + std::to_string(max));
        return;
    }
    into.clear();
    for (std::size_t i = 0; i < elements->size() && !from.has_failed(); ++i) {
        value_path path = from.path_of(name);
        path.push_back(std::to_string(i));
        T one;
        read_one((*elements)[i], path, one);
        into.push_back(std::move(one));
    }
}

void read_strategies(object_reader& root, scenario& into) {
    reading_report& report = root.report();
    read_list(
        root, "strategies", strategies_max, into.strategies,
        [&](const json::value& each, const value_path& path, strategy_choice& choice) {
            if (const auto preset = each.as_string()) {
                choice = {std::string(*preset), read_retries(each, path, report), false};
                return;
            }
            object_reader in(each, path, report);
            read_strategy(in, choice);
            in.finish();
        });
    if (root.has("strategies") && into.strategies.empty()) {
        root.fail("strategies", "must not be empty");
    }
    for (std::size_t i = 0; i < into.strategies.size(); ++i) {
        const auto same =
            std::ranges::find(into.strategies, into.strategies[i].name, &strategy_choice::name);
        if (same != into.strategies.begin() + static_cast<std::ptrdiff_t>(i)) {
            root.fail("strategies", "'" + same->name + "' is used twice");
        }
    }
}

/// The default comparison: the file's own settings with a few others.
[[nodiscard]] std::vector<strategy_choice> usual_strategies(
    const model& of, bool has_own_settings) {
    std::vector<strategy_choice> result;
    if (has_own_settings) {
        result.push_back({"your settings", of.clients.retries, false});
    }
    for (const std::string_view name : {"none", "naive", "standard"}) {
        result.push_back({std::string(name), find_retry_preset(name)->options, false});
    }
    return result;
}

[[nodiscard]] scenario read_root(const json::value& root, reading_report& report) {
    scenario result;
    object_reader in(root, {}, report);
    in.read("title", result.title);
    in.read("summary", result.summary);
    in.read("seed", result.model.seed);
    in.read("length", result.model.length);
    read_clients(in, result.model.clients);
    const auto read_with = [&](auto read_members) {
        return
            [&report, read_members](const json::value& each, const value_path& path, auto& into) {
                object_reader fields(each, path, report);
                read_members(fields, into);
                fields.finish();
            };
    };
    read_list(in, "services", 20, result.model.services, read_with(read_service));
    read_list(in, "troubles", 20, result.model.troubles, read_with(read_trouble));
    read_strategies(in, result);
    in.finish();
    if (result.strategies.empty()) {
        const json::value* clients = root.find("clients");
        const bool has_own = clients != nullptr && clients->find("retries") != nullptr;
        result.strategies = usual_strategies(result.model, has_own);
    }
    return result;
}

/// Checks the model under every strategy, since each replaces retries.
void check_all(const scenario& read, bool has_strategies, reading_report& report) {
    const auto note = [&](const std::optional<driver::settings_error>& error,
                          value_path in_strategy) {
        if (!error || report.has_failed()) {
            return;
        }
        value_path path = json::parse_path(error->field);
        const bool is_clients = path.size() >= 2 && path[0] == "clients" && path[1] == "retries";
        if (!in_strategy.empty() && is_clients) {
            in_strategy.insert(in_strategy.end(), path.begin() + 1, path.end());
            path = std::move(in_strategy);
        }
        report.add(std::move(path), error->message);
    };
    note(check(read.model), {});
    for (std::size_t i = 0; i < read.strategies.size(); ++i) {
        note(
            check(with_strategy(read, read.strategies[i])),
            has_strategies ? value_path{"strategies", std::to_string(i)} : value_path{});
    }
}

[[nodiscard]] bool starts_with(const value_path& path, const value_path& start) {
    return path.size() >= start.size() && std::equal(start.begin(), start.end(), path.begin());
}

[[nodiscard]] scenario_error located(
    std::string_view text, const reading_error& found,
    std::span<const scenario_override> overrides) {
    scenario_error error = retry_json::detail::locate(text, found);
    for (const scenario_override& each : overrides) {
        const value_path path = json::parse_path(each.path);
        if (starts_with(found.path, path) || starts_with(path, found.path)) {
            error.line = 0;
        }
    }
    return error;
}

/// Stores a value at a path. Returns what is wrong with the path, or nothing.
[[nodiscard]] std::optional<reading_error> apply(
    json::value& root, const scenario_override& change) {
    const value_path path = json::parse_path(change.path);
    if (path.empty()) {
        return reading_error{{change.path}, "is not a path, such as clients.count"};
    }
    json::value* at = &root;
    for (const std::string& step : path) {
        if (json::array* elements = at->as_array()) {
            const bool is_index = !step.empty() && step.size() < 6 &&
                                  step.find_first_not_of("0123456789") == std::string::npos;
            const std::size_t index = is_index ? std::stoul(step) : elements->size();
            if (index >= elements->size()) {
                return reading_error{path, "'" + step + "' is not an element of the list"};
            }
            at = &(*elements)[index];
            continue;
        }
        if (at->is_null()) {
            *at = json::object{};
        }
        json::object* members = at->as_object();
        if (members == nullptr) {
            return reading_error{path, "'" + step + "' is not a member"};
        }
        json::value* found = members->find(step);
        at = found != nullptr ? found : &members->set(step, json::value{});
    }
    auto parsed = json::parse(change.value, {.size_max_bytes = text_size_max_bytes});
    *at = parsed ? std::move(parsed->root) : json::value(change.value);
    return std::nullopt;
}

}  // namespace

std::expected<scenario, scenario_error> read_scenario(
    std::string_view text, std::span<const scenario_override> overrides) {
    auto parsed = retry_json::detail::parse_settings_text(text);
    if (!parsed) {
        return std::unexpected(parsed.error());
    }
    for (const scenario_override& each : overrides) {
        if (const auto problem = apply(parsed->root, each)) {
            return std::unexpected(located(text, *problem, overrides));
        }
    }
    reading_report report;
    scenario result = read_root(parsed->root, report);
    if (!report.has_failed()) {
        check_all(result, parsed->root.find("strategies") != nullptr, report);
    }
    if (report.has_failed()) {
        return std::unexpected(located(text, report.problems().front(), overrides));
    }
    return result;
}

std::expected<std::string, scenario_error> apply_overrides(
    std::string_view text, std::span<const scenario_override> overrides) {
    auto parsed = retry_json::detail::parse_settings_text(text);
    if (!parsed) {
        return std::unexpected(parsed.error());
    }
    for (const scenario_override& each : overrides) {
        if (const auto problem = apply(parsed->root, each)) {
            return std::unexpected(located(text, *problem, overrides));
        }
    }
    return json::serialize(parsed->root, json::layout::indented) + "\n";
}

}  // namespace reprise::lab
