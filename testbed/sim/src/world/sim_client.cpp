#include "world/sim_client.hpp"

#include <algorithm>
#include <utility>

#include <reprise/base/bytes.hpp>
#include <reprise/wire/vbucket.hpp>

#include "world/host_names.hpp"
#include "world/world.hpp"

namespace reprise::sim {
namespace {

using engine::operation_kind;

constexpr std::size_t key_space = 512;  // per collection
// The cost of one password iteration on a machine of 2024.
constexpr duration time_of_one_round = std::chrono::nanoseconds{700};

// Forwards the engine's observations and log to the checkers.
class client_recorder final : public couchbase::operation_observer, public couchbase::log_sink {
public:
    using couchbase::operation_observer::on_decision;

    client_recorder(world& owner, std::uint32_t client) : world_(owner), client_(client) {}
    void on_attempt(const couchbase::operation_attempt& record) noexcept override {
        if (record.which.service == "kv") {
            world_.checks.requests.on_request(client_, record);
        }
    }
    void on_decision(
        couchbase::log_level, const couchbase::decision_record& record) noexcept override {
        if (record.id == 0 || record.operation == "canary") {
            return;  // the client's own request
        }
        const std::uint32_t number = world_.clients[client_]->number_of(record.id);
        if (!carries_earlier_reason(record)) {
            world_.cells.note(record.reason, record.stage, class_of(world_.records.at(number)));
        }
        world_.checks.decisions.on_decision(client_, record);
    }
    void on_message(couchbase::log_level, std::string_view text) noexcept override {
        if (world_.record.is_tracing()) {
            world_.record.line("client " + std::to_string(client_) + ": " + std::string(text));
        }
    }

private:
    world& world_;
    std::uint32_t client_;
};

// The hostile seed comes first. Nodes that may join are seeds, too: a client that was disconnected
// must find the others.
std::vector<wire::bootstrap_address> seeds_of(const scenario& plan) {
    std::vector<wire::bootstrap_address> seeds;
    const std::size_t slots = plan.node_slots();
    seeds.reserve(slots);
    const std::size_t first = plan.has_hostile_seed ? slots - 1 : 0;
    for (std::size_t step = 0; step < slots; ++step) {
        seeds.push_back({host_of(plan, (first + step) % slots), std::nullopt});
    }
    return seeds;
}

base::slice slice_of(std::string_view text) {
    return base::slice::copy_of(base::as_bytes(text));
}

}  // namespace

sim_client::sim_client(world& owner, std::uint32_t number)
    : world_(owner),
      plan_(owner.plan.clients[number]),
      number_(number),
      cas_((1 + named_collection_count) * key_space) {
    make_loops();
}

void sim_client::make_loops() {
    engine::credentials identity;
    identity.username = user_name;
    identity.password = right_password;
    if (plan_.uses_bearer) {
        identity.bearer_token = right_token;
    }
    for (std::size_t loop = 0; loop < plan_.loop_count; ++loop) {
        const std::uint64_t seed = world_.plan.seed * 31 + number_ + 1 + loop * 7919;
        auto random = engine::seeded_randomness(random_generator::mix(seed));
        auto made = loop == 0 ? std::make_unique<engine::client_engine>(
                                    make_options(), identity, std::move(random), world_.now)
                              : std::make_unique<engine::client_engine>(
                                    engine::client_engine::another_loop{loops_[0]},
                                    std::move(random), world_.now);
        loops_.add(std::move(made), [this] { wake_later(); });
    }
}

sim_client::~sim_client() = default;

engine::engine_options sim_client::make_options() {
    for (std::size_t choice = 0; choice < strategy_choice_count; ++choice) {
        strategies_.push_back(std::make_shared<observed_strategy>(
            world_, number_, static_cast<strategy_choice>(choice)));
    }
    engine::engine_options options;
    options.seeds = seeds_of(world_.plan);
    options.dns_srv_name = plan_.uses_srv ? "_couchbase._tcp.sim" : "";
    // Where no name server lies, the nodes have short names.
    options.trust_srv_targets = !world_.plan.has_lying_name_server();
    options.transport = plan_.uses_tls ? wire::transport::tls : wire::transport::plain;
    if (!plan_.uses_scram && !plan_.uses_bearer) {
        options.tls.certificate_file = "client.pem";  // it has no file: this is the identity
    }
    options.network = "default";
    options.kv_timeout = plan_.kv_timeout;
    options.kv_durable_timeout = plan_.kv_durable_timeout;
    options.connect_timeout = plan_.connect_timeout;
    options.bootstrap_timeout = plan_.bootstrap_timeout;
    options.reconnect_delay_min = std::chrono::milliseconds{10};
    options.reconnect_delay_max = plan_.reconnect_delay_max;
    options.config_poll_interval = plan_.config_poll_interval;
    options.config_poll_floor = std::chrono::milliseconds{20};
    options.internal_timeout = plan_.internal_timeout;
    options.probe_after = plan_.probe_after;
    options.probe_timeout = plan_.probe_timeout;
    options.not_my_vbucket_delay = plan_.not_my_vbucket_delay;
    options.io_threads = plan_.loop_count;
    options.kv_connections_per_node = plan_.connections_per_node;
    options.pipeline_credit = plan_.pipeline_credit;
    options.parked_count_max = plan_.parked_count_max;
    options.ready_count_max = plan_.ready_count_max;
    options.write_size_max_bytes = plan_.write_size_max;
    options.large_value_size_min_bytes = std::min<std::size_t>(plan_.write_size_max, 4096);
    options.strategy = strategies_[static_cast<std::size_t>(plan_.strategy)];
    if (plan_.budget_units > 0) {
        bucket = std::make_shared<token_bucket>(
            token_bucket::options{.capacity = plan_.budget_units, .initial = {}});
        driver::retry_prices prices;
        prices.retry = 5.0;
        prices.timeout = 5.0;
        prices.refund_last_cost = plan_.refunds_last_cost;
        options.retry_budget.emplace(bucket, prices);
    }
    if (plan_.breaker) {
        driver::circuit_breaker_options breaker;
        breaker.volume_threshold = plan_.breaker->volume;
        breaker.error_threshold_percent = plan_.breaker->percent;
        breaker.rolling_window = plan_.breaker->window;
        breaker.sleep_window = plan_.breaker->sleep;
        breaker.probe_timeout = plan_.breaker->canary;
        options.circuit_breaker = breaker;
    }
    for (const auto& service : couchbase::detail::used_services) {
        if (service.name != "key_value") {
            options.*service.timeout = plan_.http_timeout;
        }
    }
    options.http_connections_per_node_max = plan_.http_connections_max;
    const auto recorder = std::make_shared<client_recorder>(world_, number_);
    options.log = recorder;
    options.log_decisions_per_second_max = 0;
    options.operation_observers = {recorder};
    options.hello_after_authentication = plan_.hello_last;
    options.allow_plain_http = true;  // no one can eavesdrop on a virtual network
    options.enable_error_map = plan_.has_error_map;
    options.enable_unordered_execution = plan_.has_unordered;
    options.enable_compression = plan_.has_compression;
    return options;
}

std::size_t sim_client::loop_of(const operation_record& record) const {
    const bool has_key = !record.call && record.plan.kind != operation_kind::noop;
    return has_key && loops_.size() != 1
               ? wire::key_hash(world_.key_text(record.plan)) % loops_.size()
               : 0;
}

// Each value contains the number of the operation that writes it, so that checks can recognise it.
void sim_client::fill_write(
    engine::operation_request& request, const operation_record& record) const {
    const std::string value = value_of(record.plan, record.number);
    using enum wire::request_shape;
    switch (wire::opcode_info(engine::opcode_of(request.kind)).request) {
        case store:
            request.value = slice_of(value);
            request.is_json = document_kind_of(record.plan.key) == document_kind::list;
            break;
        case concat:
            request.value = slice_of(value);
            break;
        case counter:
            request.delta = delta_of(record.number);
            request.creates = true;
            request.initial = counter_initial;
            break;
        case subdoc_mutation:
            request.store = engine::store_semantics::upsert;
            request.terms().specs.push_back(
                {.verb = engine::path_verb::array_append,
                 .create_path = true,
                 .path = std::string(list_path),
                 .value = value});
            break;
        case subdoc_lookup:
            request.terms().specs.push_back({.path = std::string(list_path)});
            break;
        case touch:
            request.expiry = 1'000'000;  // seconds; longer than any run
            break;
        case other:
        case empty:
        case key:
        case lock:
        case meta:
        case subdoc_path:
        case scan:  // scans have a simulation of their own
        case scan_cancel:
            break;
    }
}

engine::operation_request sim_client::make_request(const operation_record& record) {
    const planned_operation& plan = record.plan;
    engine::operation_request request;
    request.kind = plan.kind;
    request.replica = engine::reads_replica(plan.kind) ? 1 : 0;
    request.keyspace = loops_.keyspace(loop_of(record), plan.collection);
    if (plan.kind != operation_kind::noop) {
        request.key = slice_of(world_.key_text(plan));
    }
    fill_write(request, record);
    const std::uint64_t seen = cas_[plan.collection * key_space + plan.key];
    if (plan.kind == operation_kind::unlock) {
        request.cas = seen == 0 ? 1 : seen;
    } else if (plan.uses_cas) {
        request.cas = seen;
    }
    request.durability = static_cast<engine::durability_level>(plan.durability);
    request.lock_seconds = 1;
    fill_usual(request, plan, record);
    return request;
}

void sim_client::note_start(operation_record& record, duration timeout) {
    record.is_started = true;
    record.is_canceled = is_closed_;
    record.started = world_.now;
    record.deadline = world_.now + timeout;
    ++open_count;
    starting_ = record.number;
    world_.checks.results.on_started(record);
}

void sim_client::start(operation_record& record) {
    if (record.call) {
        return start_call(record);
    }
    engine::operation_request request = make_request(record);
    const duration usual = request.durability == engine::durability_level::none
                               ? plan_.kv_timeout
                               : plan_.kv_durable_timeout;
    note_start(record, request.timeout.value_or(usual));
    record.id = loops_[loop_of(record)].start(
        std::move(request),
        [this, number = record.number](engine::operation_result&& result) {
            on_done(number, std::move(result));
        },
        world_.now);
    number_of(record.id.value);
    run_engine();
}

void sim_client::on_done(std::uint32_t number, engine::operation_result&& result) {
    operation_record& record = world_.records.at(number);
    ++record.calls;
    if (record.calls == 1) {
        --open_count;
    }
    if (!result.ec && result.cas != 0) {
        cas_[record.plan.collection * key_space + record.plan.key] = result.cas;
    }
    world_.record.mix(
        std::uint64_t{number} * 65536U + static_cast<std::uint64_t>(result.ec.value()));
    if (world_.record.is_tracing()) {
        world_.record.line(
            "operation " + std::to_string(number) +
            " ends: " + (result.ec ? result.ec.message() : "success") +
            (result.error && result.error->is_ambiguous ? " (ambiguous)" : ""));
    }
    world_.checks.results.on_done(record, result);
}

void sim_client::cancel(operation_record& record) {
    if (record.calls == 0 && record.is_started &&
        loops_[loop_of(record)].cancel(record.id, world_.now)) {
        record.is_canceled = true;
    }
    run_engine();
}

void sim_client::close() {
    is_closed_ = true;
    for (operation_record& record : world_.records.all()) {
        if (record.plan.client == number_ && record.is_started && record.calls == 0) {
            record.is_canceled = true;
        }
    }
    loops_.close(world_.now);
    run_engine();
}

void sim_client::on_timer() {
    if (armed_for_ != world_.now) {
        return;  // moved in the meantime
    }
    armed_for_.reset();
    loops_.on_time(world_.now);
    run_engine();
}

void sim_client::wake_later() {
    if (!is_wake_planned_) {
        is_wake_planned_ = true;
        world_.queue.push(world_.now, event_kind::client_wake, number_);
    }
}

void sim_client::on_wake() {
    is_wake_planned_ = false;
    static_cast<void>(loops_.take_wakes(world_.now));
    run_engine();
}

void sim_client::on_strategy_answer(std::uint64_t question) {
    strategies_[question % strategy_choice_count]->answer(question);
}

std::uint16_t sim_client::key_value_port() const noexcept {
    return plan_.uses_tls ? 11207 : 11210;
}

std::vector<wire::bootstrap_address> sim_client::lie_about_names() {
    const std::vector<std::string> targets = lying_srv_answer(world_.plan, number_);
    std::vector<wire::bootstrap_address> found;
    found.reserve(targets.size());
    for (const std::string& host : targets) {
        found.push_back({host, key_value_port()});
    }
    world_.checks.trust.on_names(number_, targets);
    return found;
}

void sim_client::on_name_found(std::size_t loop) {
    std::vector<wire::bootstrap_address> found;
    bool is_answered = world_.plan.seed % 3 != 0;
    for (std::uint32_t node = 0; node < world_.plan.node_slots(); ++node) {
        is_answered = is_answered && world_.net.path(number_, node).no_name == 0;
        found.push_back({host_of(world_.plan, node), key_value_port()});
    }
    if (!is_answered) {
        found.clear();
    }
    if (plan_.srv != srv_answer::honest) {
        found = lie_about_names();
    }
    loops_[loop].on_resolved(loops_.resolution(loop), found, world_.now);
    run_engine();
}

void sim_client::on_key_derived(std::uint64_t derivation) {
    const auto found = derivations_.find(derivation);
    const engine::derivation_id id{derivation / loops_.size()};
    loops_[derivation % loops_.size()].on_key_derived(
        id, wire::derive_key(found->second), world_.now);
    derivations_.erase(found);
    run_engine();
}

bool sim_client::run_loops() {
    bool is_busy = false;
    for (std::size_t loop = 0; loop < loops_.size(); ++loop) {
        engine::client_engine& engine = loops_[loop];
        actions_.clear();
        engine.take_actions(actions_);
        is_busy = is_busy || !actions_.empty() || engine.has_completions();
        for (const engine::driver_action& action : actions_) {
            perform(loop, action);
        }
        engine.drain_completions();
    }
    return is_busy;
}

void sim_client::run_engine() {
    bool is_busy = true;
    for (int round = 0; is_busy && round < 1000; ++round) {
        const bool was_woken = loops_.size() != 1 && loops_.take_wakes(world_.now);
        is_busy = run_loops() || was_woken;
    }
    if (const auto due = loops_.next_due(); due && (!armed_for_ || *due < *armed_for_)) {
        armed_for_ = std::max(*due, world_.now);
        world_.queue.push(*armed_for_, event_kind::client_timer, number_);
    }
    world_.checks.after_engine_run(number_);
}

void sim_client::perform(std::size_t loop, const engine::driver_action& action) {
    if (const auto* connect = std::get_if<engine::connect_action>(&action)) {
        world_.net.connect(number_, *connect);
    } else if (const auto* write = std::get_if<engine::write_action>(&action)) {
        world_.net.flush(number_, write->connection);
    } else if (const auto* closed = std::get_if<engine::close_action>(&action)) {
        world_.net.close(number_, closed->connection);
    } else if (const auto* read = std::get_if<engine::read_action>(&action)) {
        world_.net.services().set_reading(number_, read->connection, read->is_paused);
    } else if (const auto* resolve = std::get_if<engine::resolve_srv_action>(&action)) {
        loops_.resolution(loop) = resolve->resolution;
        world_.checks.trust.on_name_query(number_);
        world_.queue.push(
            world_.now + world_.plan.network.latency, event_kind::name_found, number_, loop);
    } else if (const auto* derive = std::get_if<engine::derive_key_action>(&action)) {
        const std::uint64_t id = derive->derivation.value * loops_.size() + loop;
        derivations_.emplace(id, derive->wanted);
        world_.queue.push(
            world_.now + time_of_one_round * derive->wanted.iterations, event_kind::key_derived,
            number_, id);
    }
}

void sim_client::destroy() {
    for (const auto& strategy : strategies_) {
        strategy->forget_questions();
    }
    loops_.destroy();
}

}  // namespace reprise::sim
