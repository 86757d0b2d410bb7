#include "world/world.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <reprise/base/assert.hpp>
#include <reprise/sandbox/services.hpp>
#include <reprise/wire/error_map.hpp>
#include <reprise/wire/scram.hpp>
#include <reprise/wire/vbucket.hpp>

#include "world/host_names.hpp"

namespace reprise::sim {
namespace {

using namespace std::chrono_literals;
using wire::error_attribute;

constexpr std::uint16_t final_key_first = 200;
constexpr std::size_t key_count_max = 1024;
constexpr std::uint16_t final_step_count = 12;
constexpr std::uint64_t event_count_max = 20'000'000;

// Statuses that only the map explains, each with a different waiting rule.
wire::error_map make_error_map() {
    std::vector<wire::error_map_entry> entries;
    const auto add = [&entries](std::uint16_t code, wire::error_attributes attributes) {
        entries.push_back({code, "SIM", "made up", attributes, std::nullopt});
        return &entries.back();
    };
    entries.reserve(8);
    add(0x7ff0, {error_attribute::temp, error_attribute::auto_retry})->retry =
        wire::retry_spec{wire::retry_spec_kind::constant, 7ms, 3ms, {}, 400ms};
    add(0x7ff1, {error_attribute::temp, error_attribute::auto_retry})->retry =
        wire::retry_spec{wire::retry_spec_kind::linear, 5ms, 1ms, 20ms, {}};
    add(0x7ff2, {error_attribute::temp, error_attribute::auto_retry})->retry =
        wire::retry_spec{wire::retry_spec_kind::exponential, 2ms, 2ms, 50ms, 900ms};
    add(0x7ff3, {error_attribute::retry_now});
    add(0x7ff4, {error_attribute::retry_later, error_attribute::fetch_config});
    add(0x7ff5, {error_attribute::item_only});
    add(0x7ff6, {error_attribute::conn_state_invalidated});
    return {2, 1, std::move(entries)};
}

sandbox::cluster make_cluster(const scenario& plan) {
    static const wire::error_map error_map = make_error_map();
    sandbox::cluster_options options;
    options.node_count = plan.node_count;
    options.replica_count = plan.replica_count;
    options.vbucket_count = plan.vbucket_count;
    options.seed = random_generator::mix(plan.seed ^ 0x73616e64U);
    options.scram_iterations = wire::scram_iterations_min;  // the minimum that clients accept
    options.audit_entry_count_max = 16;
    options.error_map = error_map;
    options.users.push_back(
        {std::string(user_name), std::string(right_password), std::string(right_token), {}, true});
    options.buckets.push_back(make_bucket(plan));
    auto made = sandbox::cluster::make(std::move(options));
    REPRISE_ASSERT(made.has_value());
    for (std::uint32_t node = 0; node < plan.node_count; ++node) {
        const auto is_set =
            made->topology().set_endpoints(sandbox::node_id{node}, make_endpoints(plan, node));
        REPRISE_ASSERT(is_set.has_value());
    }
    return std::move(*made);
}

enum class phase_number : std::uint32_t { end_faults, final_round, finish };

}  // namespace

sandbox::bucket_options make_bucket(const scenario& plan) {
    sandbox::bucket_options bucket;
    bucket.name = bucket_name;
    bucket.type =
        plan.is_ephemeral ? sandbox::bucket_type::ephemeral : sandbox::bucket_type::couchbase;
    bucket.scopes.push_back({std::string(scope_name), {"c1", "c2"}});
    return bucket;
}

wire::cluster_node make_endpoints(const scenario& plan, std::size_t node) {
    wire::cluster_node at;
    at.hostname = host_of(plan, node);
    const auto offer = [&at](wire::service which, wire::transport over) {
        at.ports.set(which, over, wire::default_port(which, over));
    };
    offer(wire::service::key_value, wire::transport::plain);
    offer(wire::service::key_value, wire::transport::tls);
    offer(wire::service::management, wire::transport::plain);
    if (!plan.calls.empty()) {
        for (const wire::service each : wire::list_services(wire::is_http_service)) {
            offer(each, wire::transport::plain);
            offer(each, wire::transport::tls);
        }
    }
    return at;
}

std::optional<wire::service> service_at(std::uint16_t port, wire::transport over) noexcept {
    if (port == wire::default_port(wire::service::key_value, wire::transport::plain) ||
        port == wire::default_port(wire::service::key_value, wire::transport::tls)) {
        return std::nullopt;
    }
    const auto* const found = std::ranges::find_if(wire::service_table, [&](const auto& facts) {
        return wire::is_http_service(facts) && wire::default_port(facts.which, over) == port;
    });
    return found == wire::service_table.end() ? wire::service::management : found->which;
}

world::world(const scenario& given, const run_options& options)
    : plan(given),
      record(options),
      now(origin),
      cluster(make_cluster(given)),
      net(*this),
      checks(*this),
      warming_until(given.node_slots()),
      faults_(*this),
      vbuckets_(key_count_max, 0xffff) {
    cluster.audit().set_observer(
        [this](const sandbox::audit_entry& entry) { checks.requests.on_audit(entry); });
    if (!plan.calls.empty()) {
        cluster.services().audit().set_observer(
            [this](const sandbox::service_audit_entry& entry) { net.services().on_audit(entry); });
        faults_.make_definitions();
    }
    for (std::uint32_t number = 0; number < plan.clients.size(); ++number) {
        clients.push_back(std::make_unique<sim_client>(*this, number));
    }
}

world::~world() {
    cluster.audit().set_observer({});
    // Destroy connections before their cluster, and engines before what they refer to.
    for (std::uint32_t index = 0; index < net.link_count(); ++index) {
        net.link(index).server.reset();
        net.link(index).http.reset();
    }
    if (!plan.calls.empty()) {
        cluster.services().audit().set_observer({});
    }
    clients.clear();
}

sandbox::time_point world::server_now() const noexcept {
    return sandbox::time_point{std::chrono::seconds{1'700'000'000} + elapsed()};
}

const std::string& world::key_text(const planned_operation& operation) {
    static const std::vector<std::string> texts = [] {
        constexpr std::string_view kinds = "pctl";
        std::vector<std::string> made;
        made.reserve(key_count_max);
        for (std::size_t key = 0; key < key_count_max; ++key) {
            made.push_back(kinds[key % 4] + std::to_string(key));
        }
        return made;
    }();
    return texts[operation.key];
}

std::uint16_t world::vbucket_of(const planned_operation& operation) {
    std::uint16_t& known = vbuckets_[operation.key];
    if (known == 0xffff) {
        known = wire::vbucket_of(key_text(operation), plan.vbucket_count).value;
    }
    return known;
}

duration world::settle_time() const {
    duration longest{};
    duration login{};
    for (const planned_client& client : plan.clients) {
        const duration breaker =
            client.breaker ? client.breaker->sleep + client.breaker->canary : duration::zero();
        longest = std::max(
            longest, client.kv_timeout + client.kv_durable_timeout + client.connect_timeout +
                         (plan.calls.empty() ? duration::zero() : client.http_timeout) +
                         client.bootstrap_timeout + 2 * client.reconnect_delay_max +
                         2 * client.config_poll_interval + client.probe_after +
                         client.probe_timeout + 2 * client.internal_timeout + 2 * breaker);
        login = std::max(login, client.connect_timeout + client.bootstrap_timeout);
    }
    // The last packets of a slow path; locks, and the longest answers that a rule holds back. A
    // login that failed at the last moment of a fault, its pause, and the next one.
    return std::max(longest + 5s, login_pause + 2 * login);
}

void world::plan_start(const operation_record& added) {
    queue.push(origin + added.plan.at, event_kind::start_operation, added.number);
    if (added.plan.cancel_after != duration::zero()) {
        queue.push(
            origin + added.plan.at + added.plan.cancel_after, event_kind::cancel_operation,
            added.number);
    }
}

run_report world::run() {
    for (const planned_operation& operation : plan.operations) {
        plan_start(records.add(operation));
    }
    for (const planned_call& call : plan.calls) {
        plan_start(records.add_call(call));
    }
    for (std::uint32_t index = 0; index < plan.faults.size(); ++index) {
        const planned_fault& fault = plan.faults[index];
        queue.push(origin + fault.at, event_kind::begin_fault, index);
        if (fault.length != duration::zero()) {
            queue.push(
                origin + std::min(fault.at + fault.length, plan.span), event_kind::end_fault,
                index);
        }
    }
    queue.push(origin + plan.span, event_kind::phase, 0);
    queue.begin();
    time_point stood_at = now;
    std::uint64_t events_here = 0;
    while (!queue.empty() && !is_over_ && record.findings().empty()) {
        const event next = queue.pop();
        now = std::max(now, next.at);
        record.at = elapsed();
        handle(next);
        events_here = now == stood_at ? events_here + 1 : 0;
        stood_at = now;
        if (events_here > 200'000 || event_count_ > event_count_max) {
            record.report(checker::progress, std::nullopt, "time does not advance");
        }
    }
    if (!is_over_ && record.findings().empty()) {
        record.report(checker::progress, std::nullopt, "the run ended too early");
    }
    run_report result;
    result.seed = plan.seed;
    result.fingerprint = record.fingerprint();
    result.operations = records.size();
    result.succeeded = checks.results.succeeded_count();
    result.ambiguous = checks.results.ambiguous_count();
    result.requests = checks.requests.count() + checks.calls.request_count();
    result.connections = net.link_count();
    result.events = event_count_;
    result.faults = plan.faults.size();
    result.virtual_time = elapsed();
    result.writes = checks.documents.writes().totals();
    result.cells = cells;
    result.situations = situations;
    result.findings = record.findings();
    for (const operation_record& each : records.all()) {
        result.retries += each.retries;
        result.calls += each.call ? 1U : 0U;
    }
    result.rows = checks.calls.row_count();
    return result;
}

void world::handle(const event& next) {
    ++event_count_;
    record.mix(static_cast<std::uint64_t>(next.kind) * 7919 + next.index);
    record.mix(static_cast<std::uint64_t>(elapsed().count()));
    dispatch(next);
    // Pending durable writes of the cluster depend on time.
    if (const auto due = cluster.next_due()) {
        const time_point at = std::max(now, now + (*due - server_now()));
        if (!cluster_due_ || at < *cluster_due_) {
            cluster_due_ = at;
            queue.push(at, event_kind::cluster_timer, 0);
        }
    }
}

// Actions of users.
void world::dispatch_user(const event& next) {
    operation_record& which = records.at(next.index);
    sim_client& client = *clients[which.plan.client];
    if (next.kind == event_kind::start_operation) {
        client.start(which);
    } else if (next.kind == event_kind::cancel_operation) {
        client.cancel(which);
    } else {
        client.take_rows(which);
    }
}

void world::dispatch(const event& next) {
    const auto is_stalled = [&](std::uint32_t client) {
        const time_point until = clients[client]->stalled_until;
        if (until > now) {
            queue.push(until, next.kind, next.index, next.extra);
        }
        return until > now;
    };
    switch (next.kind) {
        case event_kind::start_operation:
        case event_kind::cancel_operation:
        case event_kind::take_rows:
            return is_stalled(records.at(next.index).plan.client) ? void() : dispatch_user(next);
        case event_kind::begin_fault:
            return faults_.begin(plan.faults[next.index], next.index);
        case event_kind::end_fault:
            return faults_.end(plan.faults[next.index], next.index);
        case event_kind::client_timer:
            return is_stalled(next.index) ? clients[next.index]->wait_for_timer(now)
                                          : clients[next.index]->on_timer();
        case event_kind::client_wake:
            return is_stalled(next.index) ? void() : clients[next.index]->on_wake();
        case event_kind::name_found:
            return is_stalled(next.index) ? void() : clients[next.index]->on_name_found(next.extra);
        case event_kind::key_derived:
            return is_stalled(next.index) ? void()
                                          : clients[next.index]->on_key_derived(next.extra);
        case event_kind::strategy_answer:
            return clients[next.index]->on_strategy_answer(next.extra);
        case event_kind::connect_done:
            return net.on_connect_done(next.index);
        case event_kind::deliver_up:
            return net.on_deliver_up(next.index);
        case event_kind::deliver_down:
            return net.on_deliver_down(next.index);
        case event_kind::write_more:
            return net.on_write_more(next.index);
        case event_kind::report_written:
            return net.on_report_written(next.index);
        case event_kind::report_closed:
            return net.on_report_closed(next.index);
        case event_kind::server_timer:
            return net.on_server_timer(next.index);
        case event_kind::step_fault:
            return faults_.step(plan.faults[next.index], next.index);
        case event_kind::cluster_timer:
            cluster_due_.reset();
            cluster.on_time(server_now());
            return net.pump_wakeups();
        case event_kind::phase:
            break;
    }
    switch (static_cast<phase_number>(next.index)) {
        case phase_number::end_faults:
            faults_.end_all();
            queue.push(now + settle_time(), event_kind::phase, 1);
            return;
        case phase_number::final_round:
            checks.results.after_settling();
            start_final_round();
            queue.push(now + settle_time(), event_kind::phase, 2);
            return;
        case phase_number::finish:
            finish();
            return;
    }
}

// All faults have ended and all clients had time to notice: now everything must work.
void world::start_final_round() {
    if (record.is_tracing()) {
        record.line("all faults have ended: the final round");
    }
    // One at a time, so that small credits and queues do not get in the way.
    const duration pause = 5ms + 20 * (plan.network.latency + plan.network.jitter);
    for (std::size_t client = 0; client < clients.size(); ++client) {
        if (!can_find_cluster(plan, client)) {
            continue;  // its name server does not let it
        }
        for (std::uint16_t step = 0; step < final_step_count && !clients[client]->is_closed();
             ++step) {
            planned_operation operation;
            operation.at = elapsed();
            operation.client = static_cast<std::uint8_t>(client);
            operation.collection = static_cast<std::uint8_t>(step % (1 + named_collection_count));
            operation.key =
                static_cast<std::uint16_t>(final_key_first + 64 * client + std::size_t{4} * step);
            operation.kind =
                step % 4 == 3 ? engine::operation_kind::get : engine::operation_kind::upsert;
            // A recreated collection takes three round trips, and a slow socket many writes for
            // each.
            operation.timeout = plan.clients[client].kv_timeout + 3s;
            const auto owner = cluster.topology().active_node(
                bucket_name, wire::vbucket_id{vbucket_of(operation)});
            if (!owner) {
                continue;  // lost with its last copy
            }
            operation_record& added = records.add(operation);
            added.is_final_round = true;
            queue.push(now + pause * step, event_kind::start_operation, added.number);
        }
        if (!plan.calls.empty() && !clients[client]->is_closed()) {
            start_final_calls(static_cast<std::uint8_t>(client), pause);
        }
    }
}

// Every service must work again, even for statements that were forgotten.
void world::start_final_calls(std::uint8_t client, duration pause) {
    int step = 0;
    for (std::size_t kind = 0; kind < call_kind_count; ++kind) {
        for (const auto prepared : {prepared_choice::plain, prepared_choice::enhanced}) {
            planned_call call;
            call.at = elapsed() + pause * ++step;
            call.kind = static_cast<call_kind>(kind);
            call.client = client;
            call.key = static_cast<std::uint16_t>(final_key_first + 64 * client + step);
            call.row_count = 10;
            call.prepared = prepared;
            call.timeout = plan.clients[client].http_timeout + 3s;
            // Forgotten statements need a retry: a strategy that allows it, and enough budget.
            call.strategy = strategy_choice::best_effort;
            const bool has_budget = plan.clients[client].budget_units > 0;
            if (prepared == prepared_choice::plain || (is_statement(call.kind) && !has_budget)) {
                operation_record& added = records.add_call(call);
                added.is_final_round = true;
                plan_start(added);
            }
        }
    }
}

void world::finish() {
    for (const auto& client : clients) {
        if (!client->is_closed()) {
            client->close();
        }
    }
    // Reports of the closed sockets that are still due.
    const time_point end = now + settle_time();
    while (!queue.empty() && record.findings().empty()) {
        const event next = queue.pop();
        if (next.at > end) {
            break;
        }
        now = std::max(now, next.at);
        record.at = elapsed();
        handle(next);
    }
    checks.at_end();
    is_over_ = true;
}

}  // namespace reprise::sim
