#include <algorithm>
#include <mutex>
#include <utility>

#include <reprise/couchbase/cluster.hpp>
#include <reprise/couchbase/overriding_strategy.hpp>

#include "service_kind.hpp"
#include "session.hpp"

namespace reprise::couchbase {
namespace {

constexpr duration usual_timeout = std::chrono::seconds{2};
// A check that has no time left still reports why it failed.
constexpr duration shortest_check = std::chrono::milliseconds{1};

service_ping to_ping(service_kind service, duration latency, std::optional<error> failure) {
    service_ping made{service, ping_state::ok, latency, std::move(failure)};
    if (!made.failure) {
        return made;
    }
    if (made.failure->info().last_reason == retry_reason::service_not_available) {
        made.state = ping_state::not_offered;
    } else if (made.failure->code() == error_condition::timeout) {
        made.state = ping_state::timeout;
    } else {
        made.state = ping_state::error;
    }
    return made;
}

// The checks of the HTTP services, which run at the same time.
struct running_checks {
    std::mutex mutex{};
    std::vector<service_ping> ended{};
    std::size_t open_count = 0;
    std::move_only_function<void()> done{};

    void add(service_ping&& check) {
        std::move_only_function<void()> wake;
        {
            const std::scoped_lock lock(mutex);
            ended.push_back(std::move(check));
            if (--open_count == 0) {
                wake = std::move(done);
            }
        }
        if (wake) {
            wake();
        }
    }
};

struct check_receiver final : detail::result_receiver<management_response> {
    std::shared_ptr<running_checks> checks;
    service_kind service;
    time_point begun;

    check_receiver(std::shared_ptr<running_checks> of, service_kind asked)
        : detail::result_receiver<management_response>{&check_receiver::finish},
          checks(std::move(of)),
          service(asked),
          begun(net::steady_now()) {}

    static void finish(
        detail::result_receiver<management_response>* base,
        std::expected<management_response, error>&& answer, bool /*is_inline*/) {
        const std::unique_ptr<check_receiver> self(static_cast<check_receiver*>(base));
        self->checks->add(to_ping(
            self->service, net::steady_now() - self->begun,
            answer ? std::nullopt : std::optional(std::move(answer.error()))));
    }
};

// A service that no node offers is reported at once; everything else is tried until the timeout.
std::shared_ptr<retry_strategy> strategy_of(const ping_options& options) {
    return options.strategy ? options.strategy
                            : overriding(
                                  std::make_shared<fail_fast_on_terminal_error_strategy>(),
                                  {{retry_reason::service_not_available, retry_action::no()}});
}

void start_check(
    const std::shared_ptr<detail::session>& client, service_kind service,
    const management_options& options, const std::shared_ptr<running_checks>& checks) {
    const management_request asked{
        .service = service, .target = std::string(wire::facts_of(to_wire(service)).health_path)};
    detail::start_work<management_response>(
        detail::make_management_work(client, asked, options),
        std::make_unique<check_receiver>(checks, service).release(), 0);
}

std::expected<void, error> check_http(
    const std::shared_ptr<detail::session>& client, const std::vector<service_kind>& services,
    const management_options& options, ping_report& report) {
    const auto checks = std::make_shared<running_checks>();
    checks->open_count = services.size();
    const auto refused = client->client().await([&](std::move_only_function<void()> done) {
        checks->done = std::move(done);
        for (const service_kind each : services) {
            start_check(client, each, options, checks);
        }
    });
    if (refused != net::refusal::none) {
        return std::unexpected(detail::to_error(refused));
    }
    std::ranges::move(checks->ended, std::back_inserter(report.services));
    return {};
}

// Key-value first, because it finds the other services. The others are asked at once: all checks
// together take no longer than the timeout.
std::expected<ping_report, error> run_ping(
    const std::shared_ptr<detail::session>& client, const std::string& bucket,
    const ping_options& options) {
    const duration timeout = options.timeout.value_or(usual_timeout);
    const time_point begun = net::steady_now();
    const auto is_wanted = [&](service_kind service) {
        return options.services.empty() ||
               std::ranges::find(options.services, service) != options.services.end();
    };
    ping_report report;
    if (is_wanted(service_kind::key_value)) {
        auto call = detail::make_call(detail::operation_kind::noop, {}, options);
        call.timeout = timeout;
        auto answer = detail::run_call<void>(detail::make_target(client, bucket), std::move(call));
        if (!answer && answer.error().code().category() == client_category()) {
            return std::unexpected(std::move(answer.error()));  // nothing was asked
        }
        report.services.push_back(to_ping(
            service_kind::key_value, net::steady_now() - begun,
            answer ? std::nullopt : std::optional(std::move(answer.error()))));
    }
    std::vector<service_kind> others;
    for (const wire::service each : wire::list_services(wire::is_http_service)) {
        if (is_wanted(to_kind(each))) {
            others.push_back(to_kind(each));
        }
    }
    if (!others.empty()) {
        const management_options each{
            .timeout = std::max(timeout - (net::steady_now() - begun), shortest_check),
            .strategy = strategy_of(options),
            .user_data = options.user_data,
            .outer_allowance = options.outer_allowance};
        if (auto checked = check_http(client, others, each, report); !checked) {
            return std::unexpected(std::move(checked.error()));
        }
    }
    std::ranges::sort(report.services, {}, &service_ping::service);
    return report;
}

}  // namespace

std::string_view to_string(ping_state state) noexcept {
    switch (state) {
        case ping_state::ok:
            return "ok";
        case ping_state::not_offered:
            return "not_offered";
        case ping_state::timeout:
            return "timeout";
        case ping_state::error:
            return "error";
    }
    return "unknown";
}

bool ping_report::is_well() const noexcept {
    return std::ranges::all_of(services, [](const service_ping& each) {
        return each.state == ping_state::ok || each.state == ping_state::not_offered;
    });
}

std::expected<ping_report, error> cluster::ping(const ping_options& options) const {
    return run_ping(client_, {}, options);
}

std::expected<ping_report, error> bucket::ping(const ping_options& options) const {
    return run_ping(client_, name_, options);
}

}  // namespace reprise::couchbase
