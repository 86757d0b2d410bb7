#pragma once

// The engine's parts without the engine, for tests of a single part: a topology whose listener and
// connection starter record their calls.

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "connections/kv_connection.hpp"
#include "scripted_cluster.hpp"
#include "topology/own_requests.hpp"
#include "topology/topology.hpp"

namespace reprise::engine::testing {

// Records all events in order.
class recording_listener final : public topology_listener {
public:
    std::vector<std::string> events;
    std::size_t woken_count_max = 0;  // of the last `wake`
    errc refused_with{};              // the last collection
    std::function<void()> on_next;    // what operations do at the next `wake` or terminal state

    void wake(wait_list&, std::size_t count_max, time_point) override {
        events.emplace_back("wake");
        woken_count_max = count_max;
        act();
    }
    void on_configuration(bucket_state& bucket, std::size_t, time_point) override {
        events.push_back("configuration of " + bucket.name);
    }
    void on_link_failed(node_link& link, time_point) override {
        events.push_back("failed " + link.endpoint->name);
    }
    void on_link_retired(node_link& link, time_point) override {
        events.push_back("retired " + link.endpoint->name);
    }
    void on_terminal_state(bucket_state& bucket, time_point) override {
        events.push_back("terminal " + bucket.name);
        act();
    }
    void on_terminal_state_of_services(time_point) override {
        events.emplace_back("terminal services");
    }
    void on_breaker_closed(time_point) override { events.emplace_back("breaker closed"); }
    void on_collection_missing(
        collection_entry& entry, retry_reason, std::uint16_t, time_point) override {
        events.push_back("missing " + entry.path);
    }
    void on_collection_refused(
        collection_entry& entry, errc error, std::uint16_t, time_point) override {
        events.push_back("refused " + entry.path);
        refused_with = error;
    }
    [[nodiscard]] std::vector<std::string> take() { return std::exchange(events, {}); }

private:
    void act() {
        if (on_next) {
            std::exchange(on_next, nullptr)();
        }
    }
};

// Gives each link a connection without a driver.
class recording_starter final : public connect_starter {
public:
    explicit recording_starter(engine_context& context) : context_(context) {}
    std::vector<std::string> begun;
    base::block_pool pool;
    std::deque<kv_connection> made;

    bool begin_connect(connect_request& request, time_point) override {
        auto& link = static_cast<node_link&>(request);
        begun.push_back(link.endpoint->name);
        made.emplace_back(context_.next_connection(), link, context_.options.pipeline_credit, pool);
        link.connection = &made.back();
        return true;
    }

private:
    engine_context& context_;
};

// Returns the decision that the test sets, and records the questions.
class scripted_judge final : public own_request_rules {
public:
    std::optional<duration> answer;
    std::vector<retry_reason> asked;
    std::vector<duration> reported;
    attempt_stage stage{};  // of the last one that was reported

    std::optional<duration> decide(
        const own_failure&, const retry_case& failed, time_point) override {
        asked.push_back(failed.reason);
        return answer;
    }
    void report_retry(
        const own_failure&, const failed_attempt& failed, duration delay, time_point) override {
        asked.push_back(failed.reason);
        reported.push_back(delay);
        stage = failed.stage;
    }
};

struct engine_parts {
    explicit engine_parts(engine_options options = {}, std::uint64_t random_seed = 7)
        : client(with_seed(std::move(options)), {}),
          context(client, seeded_randomness(random_seed), now) {
        context.gate.set_starter(connect_request::kind::link, starter);
    }
    ~engine_parts() {
        context.is_closed = true;
        context.gate.clear();
        nodes.close();
        endpoints.disarm_all();
        for (kv_connection& connection : starter.made) {
            context.wheel.disarm(connection);
        }
    }
    engine_parts(const engine_parts&) = delete;
    engine_parts& operator=(const engine_parts&) = delete;

    time_point now{1h};
    client_state client;
    engine_context context;
    recording_listener listener;
    recording_starter starter{context};
    endpoint_table endpoints{context};
    breakers breakers_of_nodes{context};
    topology nodes{context, endpoints, breakers_of_nodes, listener};

    // Opens the connection of the bucket's first link to this host.
    kv_connection& open_link(bucket_state& bucket, std::string_view host) {
        for (const auto& link : bucket.links) {
            if (link->endpoint->host == host) {
                context.gate.end_opening(link->connection->is_opening, now);
                link->connection->state = connection_state::open;
                link->was_open = true;
                return *link->connection;
            }
        }
        throw std::runtime_error("no such link");
    }

private:
    static engine_options with_seed(engine_options options) {
        if (options.seeds.empty()) {
            options.seeds = {{"node1", 11210}};
        }
        return options;
    }
};

}  // namespace reprise::engine::testing
