#pragma once

// Drives one engine against scripted servers in virtual time. Time passes only in `advance`.

#include <reprise/engine/reason_table.hpp>

#include "scripted_server.hpp"

namespace reprise::engine::testing {

class engine_driver {
public:
    struct outcome {
        operation_result result;
        time_point at{};
        int calls = 0;

        // How it ended. Both fail unless it has ended exactly once.
        std::error_code code() const {
            EXPECT_EQ(calls, 1);
            return result.ec;
        }
        bool has_succeeded() const {
            EXPECT_EQ(calls, 1);
            return calls == 1 && result.has_value();
        }
    };
    using outcome_ptr = std::shared_ptr<outcome>;

    explicit engine_driver(scripted_cluster& servers, engine_options options = {})
        : cluster(servers), server(servers) {
        if (options.seeds.empty()) {
            options.seeds = {{servers.nodes[0].host, servers.nodes[0].port}};
        }
        identity.username = "app";
        identity.password = servers.password;
        made_options = std::move(options);
    }
    ~engine_driver() {
        if (engine_) {
            destroy();
        }
    }
    engine_driver(const engine_driver&) = delete;
    engine_driver& operator=(const engine_driver&) = delete;

    scripted_cluster& cluster;
    scripted_server server;
    engine_options made_options;
    credentials identity;
    time_point now{1h};
    std::uint64_t seed = 42;                     // set it before the engine is created
    std::optional<randomness> random;            // replaces the seed
    bool holds_keys = false;                     // keys are derived only by `derive`
    std::vector<derive_key_action> derivations;  // not yet answered
    // How many bytes the operating system accepts before it blocks, for partial writes.
    std::size_t write_room = std::size_t(-1);
    std::size_t feed_size = std::size_t(-1);  // how many bytes are passed at once
    std::size_t read_size = std::size_t(-1);  // how many bytes one read returns
    std::string peer_address = "127.0.0.1";   // the peer of every connection
    engine_driver* first_loop = nullptr;      // set: another loop of the same client
    bool takes_wakes = false;                 // calls on_wake when the engine asks for it
    std::vector<connect_action> connects;
    std::vector<std::pair<connection_id, time_point>> closes;
    std::vector<resolve_srv_action> resolutions;
    std::vector<base::byte_view> parts_last;  // of the last write that was begun

    client_engine& engine() {
        if (!engine_) {
            randomness source = random.value_or(seeded_randomness(seed));
            engine_ = first_loop == nullptr ? std::make_unique<client_engine>(
                                                  made_options, identity, std::move(source), now)
                                            : std::make_unique<client_engine>(
                                                  client_engine::another_loop{first_loop->engine()},
                                                  std::move(source), now);
            engine_->set_wake_hook([this] { is_woken_ = true; });
        }
        return *engine_;
    }
    void destroy() {
        peers_.clear();
        engine_.reset();
    }

    outcome_ptr start_http(http_request request) {
        auto result = std::make_shared<outcome>();
        last_id = engine().start_http(std::move(request), record_in(result), now);
        return result;
    }
    outcome_ptr start(operation_request request) {
        auto result = std::make_shared<outcome>();
        last_id = engine().start(std::move(request), record_in(result), now);
        return result;
    }
    completion record_in(const outcome_ptr& result) {
        return [this, result](operation_result&& done) {
            result->result = std::move(done);
            result->at = now;
            ++result->calls;
        };
    }
    operation_request request(
        operation_kind kind, std::string_view key, std::string_view value = {},
        std::string_view scope = {}, std::string_view collection = {}) {
        operation_request made;
        made.kind = kind;
        made.replica = reads_replica(kind) ? 1 : 0;
        made.keyspace = engine().keyspace(cluster.bucket, scope, collection);
        made.key = base::slice::copy_of(base::as_bytes(key));
        made.value = base::slice::copy_of(base::as_bytes(value));
        return made;
    }
    outcome_ptr start(
        operation_kind kind, std::string_view key, std::string_view value = {},
        std::string_view scope = {}, std::string_view collection = {}) {
        return start(request(kind, key, value, scope, collection));
    }
    outcome_ptr get(std::string_view key) { return start(operation_kind::get, key); }
    outcome_ptr upsert(std::string_view key, std::string_view value) {
        return start(operation_kind::upsert, key, value);
    }
    // Stores "v" under the keys prefix0, prefix1, ...
    std::vector<outcome_ptr> upsert_many(int count, const std::string& prefix) {
        std::vector<outcome_ptr> all;
        for (int index = 0; index < count; ++index) {
            all.push_back(upsert(prefix + std::to_string(index), "v"));
        }
        return all;
    }
    operation_id last_id{};

    // Does everything that can happen without time passing.
    void settle() {
        for (int round = 0; round < 10000; ++round) {
            bool is_quiet = perform();
            if (takes_wakes && std::exchange(is_woken_, false)) {
                engine().on_wake(now);
                is_quiet = false;
            }
            is_quiet = deliver() && is_quiet;
            is_quiet = engine().drain_completions() == 0 && is_quiet;
            const auto due = engine().next_due();
            if (due && *due <= now) {
                engine().on_time(now);
                is_quiet = false;
            }
            if (is_quiet) {
                return;
            }
        }
        FAIL() << "the engine does not become idle";
    }
    // Lets time pass, and calls the engine whenever it is due.
    void advance(duration by) {
        const time_point end = now + by;
        settle();
        while (true) {
            const auto due = engine().next_due();
            if (!due || *due > end) {
                break;
            }
            now = std::max(now, *due);
            engine().on_time(now);
            settle();
            if (::testing::Test::HasFatalFailure()) {
                return;  // it would go on like this
            }
        }
        now = end;
        engine().on_time(now);
        settle();
    }
    // Settles, or lets time pass, and returns what was started before.
    template <class Started>
    Started settled(Started started) {
        settle();
        return started;
    }
    template <class Started>
    Started after(duration by, Started started) {
        advance(by);
        return started;
    }
    // Starts the engine and lets it connect.
    void connect() {
        engine().open(cluster.bucket, now);
        advance(1ms);
    }

    // The open connections to a node, oldest first.
    std::vector<connection_id> connections_to(std::size_t node) const {
        std::vector<connection_id> result;
        for (const auto& [id, other] : peers_) {
            if (other.node == node && other.is_up) {
                result.push_back(id);
            }
        }
        return result;
    }
    void close_node(std::size_t node, close_reason reason = close_reason::reset) {
        for (const connection_id id : connections_to(node)) {
            close_peer(id, reason);
        }
    }
    bool is_paused(connection_id id) const {
        const auto found = peers_.find(id);
        return found != peers_.end() && found->second.is_paused;
    }
    void close_peer(connection_id id, close_reason reason = close_reason::reset) {
        const auto found = peers_.find(id);
        const std::size_t unwritten = found == peers_.end() ? 0 : found->second.unwritten;
        peers_.erase(id);
        engine().on_closed(id, reason, unwritten, now);
    }
    // Answers the oldest pending derivation.
    void derive() {
        const derive_key_action first = derivations.at(0);
        derivations.erase(derivations.begin());
        engine().on_key_derived(first.derivation, wire::derive_key(first.wanted), now);
    }
    // Opens a connection that the scripted node had ignored.
    void open_ignored(connection_id id) {
        const auto asked = std::ranges::find(connects, id, &connect_action::connection);
        const auto node = std::ranges::find(cluster.nodes, asked->host, &scripted_node::host);
        node->ignores_connections = false;
        node->ignores_http_connections = false;
        const connect_action again = *asked;
        on_connect(again);
        connects.pop_back();
    }
    // Sends bytes from the server's side.
    void send(connection_id id, base::byte_view bytes) { feed(id, bytes); }
    // A node sends its configuration on its first connection.
    void push_configuration_of(std::size_t node) {
        push_configuration(connections_to(node).at(0), node, false);
        settle();
    }
    void push_configuration(connection_id id, std::size_t node, bool is_brief) {
        const std::string text = cluster.configuration_text(node);
        wire::cluster_map_change_notification pushed;
        pushed.epoch = cluster.revision.epoch;
        pushed.rev = cluster.revision.rev;
        pushed.bucket = cluster.bucket;
        pushed.config = is_brief ? base::byte_view{} : base::as_bytes(text);
        pushed.datatype = is_brief ? wire::datatype::raw : wire::datatype::json;
        std::vector<std::byte> bytes;
        base::byte_writer writer(bytes);
        ASSERT_TRUE(pushed.encode(writer).has_value());
        feed(id, bytes);
    }

private:
    // Carries out the actions. Returns true if there were none.
    bool perform() {
        action_list actions;
        engine().take_actions(actions);
        for (const driver_action& action : actions) {
            if (const auto* connecting = std::get_if<connect_action>(&action)) {
                on_connect(*connecting);
            } else if (const auto* writing = std::get_if<write_action>(&action)) {
                pending_writes_.insert(writing->connection);
            } else if (const auto* closing = std::get_if<close_action>(&action)) {
                closes.emplace_back(closing->connection, now);
                peers_.erase(closing->connection);
                engine().on_closed(closing->connection, close_reason::requested, 0, now);
            } else if (const auto* reading = std::get_if<read_action>(&action)) {
                if (const auto at = peers_.find(reading->connection); at != peers_.end()) {
                    at->second.is_paused = reading->is_paused;
                }
            } else if (const auto* deriving = std::get_if<derive_key_action>(&action)) {
                derivations.push_back(*deriving);
            } else {
                resolutions.push_back(std::get<resolve_srv_action>(action));
            }
        }
        while (!holds_keys && !derivations.empty()) {
            derive();
        }
        return !write_all() && actions.empty();
    }
    bool write_all() {
        const auto writes = std::exchange(pending_writes_, {});
        bool wrote = false;
        for (const connection_id id : writes) {
            const base::byte_views parts = engine().begin_write(id, now);
            parts_last.assign(parts.begin(), parts.end());
            const std::vector<std::byte> bytes = base::join(parts);
            const std::size_t taken = std::min(bytes.size(), write_room);
            const auto found = peers_.find(id);
            if (found == peers_.end()) {
                continue;
            }
            found->second.unwritten = bytes.size() - taken;
            if (taken < bytes.size()) {
                pending_writes_.insert(id);
            }
            if (taken == 0) {
                continue;
            }
            wrote = true;
            if (write_room != std::size_t(-1)) {
                write_room -= taken;
            }
            const std::vector<std::byte> copy(bytes.begin(), bytes.begin() + std::ptrdiff_t(taken));
            engine().on_written(id, taken, now);
            serve(found->first, found->second, copy);
        }
        return wrote;
    }
    // Passes the servers' answers to the engine. Returns true if there were none.
    bool deliver() {
        std::vector<std::pair<connection_id, std::vector<std::byte>>> batch;
        std::vector<connection_id> closing;
        for (auto& [id, other] : peers_) {
            if (!other.answers.empty() && !other.is_paused) {
                batch.emplace_back(id, take_answers(other));
            }
            if (other.closes && other.answers.empty()) {
                closing.push_back(id);
            }
        }
        for (const auto& [id, bytes] : batch) {
            feed(id, bytes);
        }
        for (const connection_id id : closing) {
            close_peer(id);
        }
        return batch.empty() && closing.empty();
    }
    // Returns at most `read_size` bytes, like one read of a socket.
    std::vector<std::byte> take_answers(server_peer& from) const {
        const auto size = std::ptrdiff_t(std::min(from.answers.size(), read_size));
        std::vector<std::byte> taken(from.answers.begin(), from.answers.begin() + size);
        from.answers.erase(from.answers.begin(), from.answers.begin() + size);
        return taken;
    }
    void feed(connection_id id, base::byte_view bytes) {
        while (!bytes.empty()) {
            const std::size_t size = std::min(bytes.size(), feed_size);
            engine().on_bytes(id, bytes.first(size), now);
            bytes = bytes.subspan(size);
        }
    }

    void on_connect(const connect_action& action) {
        connects.push_back(action);
        for (std::size_t index = 0; index < cluster.nodes.size(); ++index) {
            const scripted_node& node = cluster.nodes[index];
            if (node.host != action.host) {
                continue;
            }
            const bool is_http = action.port != node.port && action.port != 11207;
            const auto failure = is_http && node.http_connect_failure_kind
                                     ? node.http_connect_failure_kind
                                     : node.connect_failure_kind;
            if (failure) {
                return engine().on_connect_failed(action.connection, *failure, "scripted", now);
            }
            if (node.ignores_connections || (is_http && node.ignores_http_connections)) {
                return;
            }
            if (!node.refuses_connections) {
                server_peer& made = peers_[action.connection];
                made.node = index;
                made.is_up = true;
                made.port = action.port;
                if (is_http) {
                    made.http = std::make_unique<http::request_parser>();
                }
                wire::frame_limits limits;
                limits.direction = wire::frame_direction::to_server;
                made.reader = std::make_unique<wire::frame_reader>(limits);
                return engine().on_connected(action.connection, peer_address, now);
            }
        }
        engine().on_connect_failed(action.connection, connect_failure::refused, "scripted", now);
    }

    void serve_http(connection_id id, server_peer& from, base::byte_view bytes) {
        from.http->feed(bytes);
        while (true) {
            auto next = from.http->next();
            ASSERT_TRUE(next.has_value());
            if (!*next) {
                return;
            }
            cluster.http_requests.push_back({from.node, from.port, id, std::move(**next), now});
            const auto reply = cluster.on_http ? cluster.on_http(cluster.http_requests.back())
                                               : scripted_http_answer{};
            const auto out = bytes_of(reply);
            from.answers.insert(from.answers.end(), out.begin(), out.end());
            from.closes = from.closes || reply.closes;
        }
    }
    void serve(connection_id id, server_peer& from, base::byte_view bytes) {
        if (from.http) {
            return serve_http(id, from, bytes);
        }
        from.reader->feed(bytes);
        while (true) {
            const auto next = from.reader->next();
            ASSERT_TRUE(next.has_value()) << wire::to_string(next.error());
            if (!*next) {
                return;
            }
            server.on_frame(id, from, **next, now);
        }
    }

    std::unique_ptr<client_engine> engine_;
    bool is_woken_ = false;
    std::map<connection_id, server_peer> peers_;
    std::set<connection_id> pending_writes_;
};

// A driver that has opened its bucket.
class connected_driver : public engine_driver {
public:
    explicit connected_driver(scripted_cluster& servers, engine_options options = {})
        : engine_driver(servers, std::move(options)) {
        connect();
    }
};

// A cluster of one node and a driver that is connected to it.
struct connected_node {
    explicit connected_node(engine_options options = {}) : driver(cluster, std::move(options)) {}

    scripted_cluster cluster{1};
    connected_driver driver;
};
// The same without a connection, and with several nodes.
struct unconnected_node {
    scripted_cluster cluster{1};
    engine_driver driver{cluster};
};
struct connected_cluster {
    explicit connected_cluster(std::size_t node_count, std::size_t vbucket_count = 4)
        : cluster(node_count, vbucket_count), driver(cluster) {}

    scripted_cluster cluster;
    connected_driver driver;
};

}  // namespace reprise::engine::testing
