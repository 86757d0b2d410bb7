#pragma once

/// A model: clients, services in layers, and trouble. The same model with the same seed gives the
/// same run, byte for byte.
/// ```
///     reprise::lab::model model;
///     model.clients.requests_per_second = 800;
///     model.clients.retries = my_settings;
///     model.services = {{.name = "shop", .capacity_per_second = 1000}};
///     model.troubles = {{.kind = reprise::lab::trouble_kind::stall, .start = 10s, .length = 10s}};
///     const bool is_safe = reprise::lab::run(model).recovery.has_recovered();
/// ```

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/lab/retry_options.hpp>

namespace reprise::lab {

/// When clients send requests.
enum class arrivals : std::uint8_t {
    open,    ///< At random times (Poisson), however long answers take.
    closed,  ///< Each client waits for its answer, pauses for `think_time`, and sends the next one.
};

struct client_options {
    /// 1 to 1,000,000. Each has its own budget and breaker unless they are shared.
    std::uint32_t count = 20;
    lab::arrivals arrivals = lab::arrivals::open;
    /// Of all clients together; only for open arrivals. Above 0, at most 10,000,000.
    double requests_per_second = 750.0;
    /// The mean pause between answer and next request (exponential); only for closed arrivals. All
    /// clients send their first request within one such pause. 0 to 1 day.
    duration think_time = std::chrono::seconds{1};
    /// How many requests each client sends; only for closed arrivals. Absent: no limit.
    std::optional<std::uint32_t> requests_each{};
    /// Budgets that must be earned (`token_bucket::options::initial`) start full.
    bool is_warm = false;
    /// The mean time between restarts of one client. A restarted client has a new budget. 1 s to 1
    /// day. Absent: clients run for ever.
    std::optional<duration> restart_interval{};
    retry_options retries{};
};

/// How long one piece of work takes.
enum class work_time : std::uint8_t {
    exponential,  ///< Varies as in an M/M/c queue.
    fixed,        ///< Always the mean (M/D/c).
};

/// Which waiting request a free worker takes.
enum class queue_order : std::uint8_t { first_in, last_in };

/// Calls that a service makes for each request it works on.
struct call_target {
    std::string service;
    std::uint32_t count = 1;  ///< All at the same time; 1 to 100.
};

struct service_options {
    std::string name = "server";  ///< Unique. Trouble and calls refer to it.
    /// Requests per second that all nodes together can process. Above 0, at most 10,000,000.
    /// Absent: any number at once, each taking `work_mean`.
    std::optional<double> capacity_per_second{};
    duration work_mean{};  ///< Only without a capacity. 0 to 1 h.
    work_time work = work_time::exponential;
    /// Requests that one node works on at once. The capacity is for all of them together. 1 to
    /// 10,000.
    std::uint32_t concurrency = 1;
    /// Each attempt goes to a random node, which has its own queue. 1 to 1,000.
    std::uint32_t nodes = 1;
    /// Requests that may wait at one node; more are rejected with a throttling error. At most
    /// 10,000,000. Absent: no limit.
    std::optional<std::size_t> queue_limit{};
    queue_order order = queue_order::first_in;
    /// Rejects a request with a throttling error if the work waiting before it would take longer
    /// than this (load shedding). Absent: never.
    std::optional<duration> shed_after{};
    /// Discards requests whose caller has given up before they reach a worker. Their callers must
    /// send their deadlines for that.
    bool drops_expired = false;
    /// The share of the work that ends in an error even in good times. 0 to 1.
    double failure_share = 0.0;
    /// The share of answers that arrive late by `slow_delay`. 0 to 1.
    double slow_share = 0.0;
    duration slow_delay = std::chrono::milliseconds{300};  ///< 0 to 1 h.
    /// The delay from caller to service, and again for the answer. 0 to 10 s.
    duration network_delay = std::chrono::milliseconds{1};
    /// The standard deviation of that delay, which is then normally distributed. 0 to 10 s.
    duration network_jitter{};
    /// Each attempt reads one record, returns to the caller and writes the record; the write is
    /// rejected if another write succeeded in between (optimistic concurrency). Such a service has
    /// neither a capacity nor calls.
    bool is_contended_record = false;
    std::vector<call_target> calls{};  ///< Made after the service's own work.
    retry_options retries{};           ///< Of those calls.
};

enum class trouble_kind : std::uint8_t {
    stall,          ///< The service works on nothing; requests wait in its queue.
    crash,          ///< Everything waiting or arriving is answered at once with an error.
    slow_down,      ///< Work takes `factor` times as long.
    capacity_loss,  ///< The service loses `share` of its capacity.
    errors,         ///< `share` of the work ends in an error.
    slow_answers,   ///< `share` of the answers arrive late by `delay`.
    bad_node,       ///< One node answers `share` of its requests at once with an error.
    spike,          ///< Clients send `factor` times as many requests (open arrivals).
    deploy,  ///< All clients restart one after the other: new budgets, and `burst` requests each.
};

/// "capacity_loss"
[[nodiscard]] std::string_view to_string(trouble_kind kind) noexcept;

struct trouble {
    trouble_kind kind = trouble_kind::stall;
    /// The service's name; empty: the first one. Not for `spike` and `deploy`.
    std::string service{};
    /// From the start of the run; at least 2 s, so that there is a healthy period to compare with.
    duration start = std::chrono::seconds{10};
    /// Above 0. The run must continue for at least 5 s afterwards.
    duration length = std::chrono::seconds{10};
    double factor = 2.0;                              ///< 1 to 1,000.
    double share = 0.5;                               ///< 0 to 1; below 1 for `capacity_loss`.
    duration delay = std::chrono::milliseconds{300};  ///< 0 to 1 h.
    std::uint32_t burst = 0;                          ///< At most 1,000.
};

/// Everything that a run needs.
struct model {
    /// Determines all randomness of the run.
    std::uint64_t seed = 1;
    /// In virtual time: a multiple of `slot_length`, at most 1 day.
    duration length = std::chrono::seconds{60};
    client_options clients{};
    /// 1 to 20. Clients call the first one. Calls must not form a cycle.
    std::vector<service_options> services{service_options{}};
    std::vector<trouble> troubles{};  ///< At most 20.
};

/// The maximum number of requests of one run, as expected from its options. It limits time and
/// memory.
inline constexpr double requests_per_run_max = 50'000'000.0;

/// Returns the first invalid option, if any, with its path: "services[1].capacity_per_second".
[[nodiscard]] std::optional<driver::settings_error> check(const model& checked);

/// How many requests the clients are expected to send. Exact for open arrivals; for closed ones an
/// upper limit.
[[nodiscard]] double expected_requests(const model& asked) noexcept;

/// The load of a run, for estimates: expected attempts of all layers if nothing fails.
[[nodiscard]] double expected_attempts(const model& asked);

/// From the start of the first trouble to the end of the last; zero length without any.
struct trouble_window {
    duration start{};
    duration length{};
};
[[nodiscard]] trouble_window window_of(const model& asked) noexcept;

}  // namespace reprise::lab
