#include <algorithm>
#include <mutex>
#include <utility>

#include <reprise/couchbase/cluster.hpp>
#include <reprise/couchbase/overriding_strategy.hpp>

#include "service_kind.hpp"
#include "session.hpp"
#include "unsent_request.hpp"

namespace reprise::couchbase {
namespace {

constexpr duration usual_timeout = std::chrono::seconds{2};
// A check that has no time left still reports why it failed.
constexpr duration shortest_check = std::chrono::milliseconds{1};

// One node of a service, or the service itself if its nodes are not known.
struct check_target {
    service_kind service = service_kind::key_value;
    std::string remote{};  // empty: any node
};

service_ping to_ping(check_target&& asked, duration latency, std::optional<error> failure) {
    service_ping made{
        asked.service, ping_state::ok, std::move(asked.remote), latency, std::move(failure)};
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

service_ping not_offered(service_kind service) {
    return {
        service,
        ping_state::not_offered,
        {},
        {},
        error(make_error_code(errc::service_not_available), {})};
}

// Checks that run at the same time.
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

// `Answer`: void for key-value.
template <class Answer>
struct check_receiver final : detail::result_receiver<Answer> {
    std::shared_ptr<running_checks> checks;
    check_target target;
    time_point begun;

    check_receiver(std::shared_ptr<running_checks> of, check_target asked)
        : detail::result_receiver<Answer>{&check_receiver::finish},
          checks(std::move(of)),
          target(std::move(asked)),
          begun(net::steady_now()) {}

    static void finish(
        detail::result_receiver<Answer>* base, std::expected<Answer, error>&& answer,
        bool /*is_inline*/) {
        const std::unique_ptr<check_receiver> self(static_cast<check_receiver*>(base));
        self->checks->add(to_ping(
            std::move(self->target), net::steady_now() - self->begun,
            answer ? std::nullopt : std::optional(std::move(answer.error()))));
    }
};

// A service that no node offers is reported at once; everything else is tried until the timeout.
std::shared_ptr<driver::retry_strategy> strategy_of(const ping_options& options) {
    return options.strategy
               ? options.strategy
               : overriding(
                     std::make_shared<fail_fast_on_terminal_error_strategy>(),
                     {{retry_reason::service_not_available, driver::retry_action::no()}});
}

class ping_run {
public:
    ping_run(
        std::shared_ptr<detail::session> client, std::string bucket, const ping_options& options)
        : client_(std::move(client)), bucket_(std::move(bucket)), options_(options) {}

    // A client that does not know its nodes yet asks any of them first. Then all nodes are asked at
    // once: all checks together take no longer than the timeout.
    std::expected<ping_report, error> run() {
        auto addresses = list_addresses();
        std::expected<void, error> reached;
        if (addresses && !offers_key_value(*addresses)) {
            reached =
                detail::run_call<void>(detail::make_target(client_, bucket_), make_kv_check({}));
            addresses = list_addresses();
        }
        if (!addresses) {
            return std::unexpected(std::move(addresses.error()));
        }
        if (!reached && reached.error().code().category() == client_category()) {
            return std::unexpected(std::move(reached.error()));  // nothing was asked
        }
        ping_report report;
        if (!reached && is_wanted(service_kind::key_value)) {
            report.services.push_back(to_ping(
                {service_kind::key_value, {}}, net::steady_now() - begun_,
                std::move(reached.error())));
            std::erase_if(*addresses, is_key_value);
        }
        if (auto checked = check(choose_targets(*addresses, report), report); !checked) {
            return std::unexpected(std::move(checked.error()));
        }
        std::ranges::sort(report.services, {}, [](const service_ping& each) {
            return std::pair(each.service, std::string_view(each.remote));
        });
        return report;
    }

private:
    static bool is_key_value(const engine::service_address& at) {
        return at.service == wire::service::key_value;
    }
    static bool offers_key_value(const std::vector<engine::service_address>& addresses) {
        return std::ranges::any_of(addresses, is_key_value);
    }
    [[nodiscard]] std::expected<std::vector<engine::service_address>, error> list_addresses()
        const {
        std::vector<engine::service_address> addresses;
        const auto refused = client_->client().inspect([&](const engine::client_engine& engine) {
            addresses = engine.service_addresses(bucket_);
        });
        if (refused != net::refusal::none) {
            return std::unexpected(detail::to_error(refused));
        }
        return addresses;
    }
    [[nodiscard]] bool is_wanted(service_kind service) const {
        return options_.services.empty() ||
               std::ranges::find(options_.services, service) != options_.services.end();
    }
    [[nodiscard]] duration time_left() const {
        const duration timeout = options_.timeout.value_or(usual_timeout);
        return std::max(timeout - (net::steady_now() - begun_), shortest_check);
    }

    // Services without a node go into the report at once.
    [[nodiscard]] std::vector<check_target> choose_targets(
        const std::vector<engine::service_address>& addresses, ping_report& report) const {
        std::vector<check_target> targets;
        for (const engine::service_address& each : addresses) {
            if (is_wanted(to_kind(each.service))) {
                targets.push_back({to_kind(each.service), each.remote});
            }
        }
        for (const wire::service each : wire::list_services(wire::is_http_service)) {
            const bool is_offered =
                std::ranges::any_of(addresses, [&](const auto& at) { return at.service == each; });
            if (!is_wanted(to_kind(each)) || is_offered) {
                continue;
            }
            if (addresses.empty()) {
                targets.push_back({to_kind(each), {}});  // says what prevents it
            } else {
                report.services.push_back(not_offered(to_kind(each)));
            }
        }
        return targets;
    }

    [[nodiscard]] detail::document_call make_kv_check(std::string_view remote) const {
        auto call = detail::make_call(detail::operation_kind::noop, remote, options_);
        call.timeout = time_left();
        return call;
    }

    void start(check_target target, const std::shared_ptr<running_checks>& checks) const {
        const std::string remote = target.remote;
        const service_kind service = target.service;
        if (service == service_kind::key_value) {
            detail::start_call<void>(
                detail::make_target(client_, bucket_), make_kv_check(remote),
                std::make_unique<check_receiver<void>>(checks, std::move(target)).release(), 0);
            return;
        }
        const management_options each{
            .timeout = time_left(),
            .strategy = strategy_of(options_),
            .user_data = options_.user_data,
            .outer_allowance = options_.outer_allowance};
        const management_request asked{
            .service = service,
            .target = std::string(wire::facts_of(to_wire(service)).health_path)};
        auto work = detail::make_management_work(client_, asked, each);
        if (auto& made = work.request->request) {
            made->node = remote;
        }
        detail::start_work<management_response>(
            work,
            std::make_unique<check_receiver<management_response>>(checks, std::move(target))
                .release(),
            0);
    }

    std::expected<void, error> check(
        const std::vector<check_target>& targets, ping_report& report) const {
        if (targets.empty()) {
            return {};
        }
        const auto checks = std::make_shared<running_checks>();
        checks->open_count = targets.size();
        const auto refused = client_->client().await([&](std::move_only_function<void()> done) {
            checks->done = std::move(done);
            for (const check_target& each : targets) {
                start(each, checks);
            }
        });
        if (refused != net::refusal::none) {
            return std::unexpected(detail::to_error(refused));
        }
        std::ranges::move(checks->ended, std::back_inserter(report.services));
        return {};
    }

    std::shared_ptr<detail::session> client_;
    std::string bucket_;
    const ping_options& options_;
    time_point begun_ = net::steady_now();
};

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
    return ping_run(client_, std::string(), options).run();
}

std::expected<ping_report, error> bucket::ping(const ping_options& options) const {
    return ping_run(client_, name_, options).run();
}

}  // namespace reprise::couchbase
