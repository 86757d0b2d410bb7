#include <algorithm>
#include <mutex>
#include <utility>

#include <reprise/base/enum_table.hpp>
#include <reprise/couchbase/cluster.hpp>
#include <reprise/couchbase/retry_strategy.hpp>
#include <reprise/services/service_kind.hpp>

#include "service_calls.hpp"
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

// Receives the end of one request of a ping. `Answer`: void for key-value.
template <class Answer>
struct check_receiver {
    using handler = std::move_only_function<void(std::optional<error>&&)>;
    handler on_end;

    [[nodiscard]] static detail::result_receiver<Answer> make(handler&& ended) {
        auto made = std::make_unique<check_receiver>(std::move(ended));
        return detail::result_receiver<Answer>::to(made.release());
    }
    static void finish(
        check_receiver* at, std::expected<Answer, error>&& answer, bool /*is_inline*/) {
        const std::unique_ptr<check_receiver> self(at);
        self->on_end(answer ? std::nullopt : std::optional(std::move(answer.error())));
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

// One ping, on the client's loop:
//
//     list nodes -> [no key-value node known: ask any of them, list again] -> ask all -> report
//
// All nodes are asked at once, so all checks together take no longer than the timeout. The requests
// share this object; it does not keep the client alive, because requests end with the client.
class ping_run : public std::enable_shared_from_this<ping_run> {
public:
    ping_run(
        const detail::ping_start& asked, const detail::result_receiver<ping_report>& receiver,
        const detail::step_cancellation& cancellation)
        : client_(asked.client),
          bucket_(asked.bucket),
          options_(asked.options),
          receiver_(receiver),
          cancellation_(cancellation) {}

    void begin(detail::session& client) {
        const auto refused =
            client.client().post([self = shared_from_this()] { self->list_nodes(); });
        if (refused != net::refusal::none) {
            complete(std::unexpected(detail::to_error(refused)), true);
        }
    }

private:
    static error ended_error() { return {errc::request_canceled, "the client has ended"}; }
    static bool is_key_value(const engine::service_address& at) {
        return at.service == wire::service::key_value;
    }

    void complete(std::expected<ping_report, error>&& result, bool is_inline = false) {
        receiver_.complete(std::move(result), is_inline);
    }

    void list_nodes() {
        const auto addresses = list_addresses();
        if (!addresses) {
            return complete(std::unexpected(addresses.error()));
        }
        if (std::ranges::any_of(*addresses, is_key_value)) {
            return check_all(*addresses);
        }
        start_kv_check({}, [self = shared_from_this()](std::optional<error>&& failure) {
            self->on_reached(std::move(failure));
        });
        cancellation_.apply();
    }

    void on_reached(std::optional<error>&& failure) {
        auto addresses = list_addresses();
        if (!addresses) {
            return complete(std::unexpected(addresses.error()));
        }
        if (failure && failure->code() == error_condition::not_started) {
            return complete(std::unexpected(std::move(*failure)));  // nothing was asked
        }
        if (failure && is_wanted(service_kind::key_value)) {
            report_.services.push_back(to_ping(
                {service_kind::key_value, {}}, net::steady_now() - begun_, std::move(failure)));
            std::erase_if(*addresses, is_key_value);
        }
        check_all(*addresses);
    }

    [[nodiscard]] std::expected<std::vector<engine::service_address>, error> list_addresses()
        const {
        const auto client = client_.lock();
        if (client == nullptr) {
            return std::unexpected(ended_error());
        }
        std::vector<engine::service_address> addresses;
        const auto refused = client->client().inspect([&](const engine::client_engine& engine) {
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
        const std::vector<engine::service_address>& addresses) {
        std::vector<check_target> targets;
        for (const engine::service_address& each : addresses) {
            if (is_wanted(services::to_kind(each.service))) {
                targets.push_back({services::to_kind(each.service), each.remote});
            }
        }
        for (const wire::service each : wire::list_services(wire::is_http_service)) {
            const bool is_offered =
                std::ranges::any_of(addresses, [&](const auto& at) { return at.service == each; });
            if (!is_wanted(services::to_kind(each)) || is_offered) {
                continue;
            }
            if (addresses.empty()) {
                targets.push_back({services::to_kind(each), {}});  // its error is what prevents it
            } else {
                report_.services.push_back(not_offered(services::to_kind(each)));
            }
        }
        return targets;
    }

    void check_all(const std::vector<engine::service_address>& addresses) {
        const auto targets = choose_targets(addresses);
        open_count_ = targets.size() + 1;  // one for this function
        for (const check_target& each : targets) {
            auto on_end = [self = shared_from_this(), target = each,
                           begun = net::steady_now()](std::optional<error>&& failure) mutable {
                self->add(
                    to_ping(std::move(target), net::steady_now() - begun, std::move(failure)));
            };
            if (each.service == service_kind::key_value) {
                start_kv_check(each.remote, std::move(on_end));
            } else {
                start_http_check(each, std::move(on_end));
            }
        }
        cancellation_.apply();
        add(std::nullopt);
    }

    void add(std::optional<service_ping>&& check) {
        {
            const std::scoped_lock lock(mutex_);
            if (check) {
                report_.services.push_back(std::move(*check));
            }
            if (--open_count_ != 0) {
                return;
            }
        }
        std::ranges::sort(report_.services, {}, [](const service_ping& each) {
            return std::pair(each.service, std::string_view(each.remote));
        });
        complete(std::move(report_));
    }

    void start_kv_check(std::string_view remote, check_receiver<void>::handler on_end) const {
        const auto client = client_.lock();
        if (client == nullptr) {
            return on_end(ended_error());
        }
        auto call = detail::make_call(detail::operation_kind::noop, remote, options_);
        call.timeout = time_left();
        detail::start_call<void>(
            detail::make_target(client, bucket_), std::move(call),
            check_receiver<void>::make(std::move(on_end)), cancellation_.ticket());
    }

    void start_http_check(
        const check_target& target, check_receiver<management_response>::handler on_end) const {
        const auto client = client_.lock();
        if (client == nullptr) {
            return on_end(ended_error());
        }
        const management_options each{
            .timeout = time_left(),
            .strategy = strategy_of(options_),
            .user_data = options_.user_data,
            .outer_allowance = options_.outer_allowance};
        const management_request asked{
            .service = target.service,
            .target = std::string(wire::facts_of(services::to_wire(target.service)).health_path)};
        auto work = detail::make_management_work(client, asked, each);
        if (auto& made = work.request->request) {
            made->node = target.remote;
        }
        detail::start_work<management_response>(
            work, check_receiver<management_response>::make(std::move(on_end)),
            cancellation_.ticket());
    }

    const std::weak_ptr<detail::session> client_;
    const std::string bucket_;
    const ping_options options_;
    const time_point begun_ = net::steady_now();
    const detail::result_receiver<ping_report> receiver_;
    const detail::step_cancellation cancellation_;
    std::mutex mutex_;
    ping_report report_;
    std::size_t open_count_ = 0;
};

}  // namespace

std::string_view to_string(ping_state state) noexcept {
    return base::name_of(state);
}

bool ping_report::is_well() const noexcept {
    return std::ranges::all_of(services, [](const service_ping& each) {
        return each.state == ping_state::ok || each.state == ping_state::not_offered;
    });
}

namespace detail {

void ping_start::operator()(
    const result_receiver<ping_report>& receiver, const step_cancellation& cancellation) const {
    std::make_shared<ping_run>(*this, receiver, cancellation)->begin(*client);
}

}  // namespace detail

std::expected<ping_report, error> cluster::ping(const ping_options& options) const {
    return detail::await_started<ping_report>(
        client_, [&](const detail::result_receiver<ping_report>& receiver) {
            detail::ping_start{client_, {}, options}(receiver, {});
        });
}

std::expected<ping_report, error> bucket::ping(const ping_options& options) const {
    return detail::await_started<ping_report>(
        client_, [&](const detail::result_receiver<ping_report>& receiver) {
            detail::ping_start{client_, name_, options}(receiver, {});
        });
}

}  // namespace reprise::couchbase
