#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <reprise/engine/client_engine.hpp>
#include <reprise/sandbox/cluster.hpp>
#include <reprise/sim/random.hpp>
#include <reprise/wire/vbucket.hpp>

// Range scans of the engine that ships on the sandbox that ships, in virtual time: connections
// break in the middle of answers, vbuckets move, nodes restart, servers lose and refuse scans, and
// other documents come and go. Everything that existed all the time must arrive exactly once.

namespace reprise::sim {
namespace scan_simulation_tests {

using namespace std::chrono_literals;
using engine::operation_kind;
using wire::opcode;
using wire::status;

constexpr std::size_t vbucket_count = 8;
constexpr std::uint32_t node_count = 3;
constexpr int stable_count = 160;
constexpr int volatile_count = 40;
constexpr const char* bucket_name = "travel";

std::string stable_key(int number) {
    return "s_" + std::to_string(1000 + number);
}
std::string volatile_key(int number) {
    return "s_" + std::to_string(1000 + 4 * number) + "_v";  // between stable ones
}

sandbox::cluster make_cluster(std::uint64_t seed) {
    sandbox::cluster_options options;
    options.node_count = node_count;
    options.vbucket_count = vbucket_count;
    options.seed = seed;
    options.scram_iterations = 4096;
    options.buckets = {{.name = bucket_name}};
    options.users = {{.name = "app", .password = "secret"}};
    return std::move(*sandbox::cluster::make(std::move(options)));
}

// One scan, and what its reader has seen.
struct scan_record {
    engine::operation_id id{};
    wire::vbucket_id vbucket{};
    std::shared_ptr<const engine::scan_request> asked;
    std::vector<std::string> keys;
    std::optional<engine::operation_result> result;
};

class scan_world {
public:
    explicit scan_world(std::uint64_t seed)
        : random_(seed, 77), cluster_(make_cluster(seed)), engine_(make_engine(seed)) {}

    ~scan_world() {
        links_.clear();
        engine_.reset();
    }

    // Stores what exists all the time.
    void prepare() {
        for (int number = 0; number < stable_count; ++number) {
            write(operation_kind::upsert, stable_key(number));
        }
        run_until([this] { return writes_open_ == 0; });
    }

    scan_record& start(std::uint16_t vbucket, engine::scan_request asked) {
        scans_.push_back(std::make_unique<scan_record>());
        scan_record& scan = *scans_.back();
        scan.vbucket = wire::vbucket_id{vbucket};
        scan.asked = std::make_shared<engine::scan_request>(std::move(asked));
        engine::operation_request request;
        request.kind = operation_kind::range_scan;
        request.keyspace = engine_->keyspace(bucket_name);
        request.timeout = 10min;
        request.scan = engine::vbucket_scan{scan.asked, scan.vbucket};
        scan.id = engine_->start(
            std::move(request),
            [&scan](engine::operation_result&& result) {
                note_rows(scan, result.scan->rows);
                scan.result = std::move(result);
            },
            now_);
        return scan;
    }

    // Runs until all scans have ended; disturbs it for the first `steps` steps.
    void run(int steps) {
        for (int step = 0; step < steps; ++step) {
            disturb();
            turn();
        }
        cluster_.faults().clear();
        run_until([this] {
            return std::ranges::all_of(
                scans_, [](const auto& scan) { return scan->result.has_value(); });
        });
    }

    random_stream& random() noexcept { return random_; }
    const std::vector<std::unique_ptr<scan_record>>& scans() const noexcept { return scans_; }
    std::size_t count(opcode op) const {
        sandbox::audit_filter filter;
        filter.op = op;
        return cluster_.audit().count(filter);
    }

private:
    struct link {
        std::optional<sandbox::connection> server;
        std::vector<std::byte> inbox;  // sent by the server, not yet received
    };

    std::unique_ptr<engine::client_engine> make_engine(std::uint64_t seed) {
        engine::engine_options options;
        const wire::cluster_node& first = *cluster_.topology().endpoints_of(sandbox::node_id{0});
        options.seeds = {{first.hostname, port_of(first)}};
        options.kv_timeout = 1min;
        options.tls.certificate_file = "client.pem";
        engine::credentials identity{.username = "app"};
        return std::make_unique<engine::client_engine>(
            std::move(options), std::move(identity), engine::seeded_randomness(seed), now_);
    }

    static std::uint16_t port_of(const wire::cluster_node& node) {
        return node.ports.port(wire::service::key_value, wire::transport::plain);
    }
    sandbox::time_point server_now() const {
        return sandbox::time_point{1'735'689'600s} + (now_ - time_point{});
    }

    static void note_rows(scan_record& scan, const engine::row_batch& rows) {
        const auto content = scan.asked->options.keys_only ? wire::scan_content::keys
                                                           : wire::scan_content::documents;
        for (const std::string_view row : rows.rows()) {
            wire::scan_item_reader reader(content, base::as_bytes(row));
            scan.keys.emplace_back(reader.next().value()->key);
        }
    }

    void write(operation_kind kind, const std::string& key) {
        engine::operation_request request;
        request.kind = kind;
        request.keyspace = engine_->keyspace(bucket_name);
        request.key = base::slice::copy_of(base::as_bytes(key));
        request.value = base::slice::copy_of(base::as_bytes("value of " + key));
        ++writes_open_;
        engine_->start(
            std::move(request), [this](engine::operation_result&&) { --writes_open_; }, now_);
    }

    // --- the driver ---

    template <class IsDone>
    void run_until(IsDone is_done) {
        for (int step = 0; step < 200'000 && !is_done(); ++step) {
            turn();
        }
        ASSERT_TRUE(is_done()) << "not at rest";
    }

    void turn() {
        perform();
        const bool is_quiet = !deliver();
        read_some();
        engine_->drain_completions();
        if (is_quiet) {
            now_ = std::max(now_, std::min(engine_->next_due().value_or(now_ + 1ms), now_ + 1ms));
            engine_->on_time(now_);
        }
    }

    void perform() {
        engine::action_list actions;
        engine_->take_actions(actions);
        for (const engine::driver_action& action : actions) {
            if (const auto* connecting = std::get_if<engine::connect_action>(&action)) {
                connect(*connecting);
            } else if (const auto* writing = std::get_if<engine::write_action>(&action)) {
                send(writing->connection);
            } else if (const auto* closing = std::get_if<engine::close_action>(&action)) {
                drop(closing->connection, engine::close_reason::requested);
            }
        }
        std::vector<sandbox::connection_id> woken;
        cluster_.take_wakeups(woken);
        for (auto& [id, each] : links_) {
            if (each.server && std::ranges::find(woken, each.server->id()) != woken.end()) {
                each.server->on_time(server_now(), each.inbox);
            }
        }
    }

    void connect(const engine::connect_action& to) {
        for (std::uint32_t number = 0; number < node_count; ++number) {
            const sandbox::node_id node{number};
            if (port_of(*cluster_.topology().endpoints_of(node)) != to.port) {
                continue;
            }
            auto accepted = cluster_.accept(node, {.peer = {}, .certificate_user = "app"});
            if (accepted) {
                links_[to.connection].server.emplace(std::move(*accepted));
                return engine_->on_connected(to.connection, "127.0.0.1", now_);
            }
        }
        engine_->on_connect_failed(
            to.connection, engine::connect_failure::refused, "refused", now_);
    }

    void send(engine::connection_id id) {
        const auto at = links_.find(id);
        const std::vector<std::byte> copy = base::join(engine_->begin_write(id, now_));
        if (copy.empty() || at == links_.end()) {
            return;
        }
        engine_->on_written(id, copy.size(), now_);
        at->second.server->on_bytes(server_now(), copy, at->second.inbox);
    }

    // Passes a part of what has arrived to the engine. Returns false if nothing had.
    bool deliver() {
        bool has_delivered = false;
        std::vector<engine::connection_id> ids;
        for (const auto& [id, each] : links_) {
            ids.push_back(id);
        }
        for (const engine::connection_id id : ids) {
            const auto at = links_.find(id);
            if (at == links_.end()) {
                continue;
            }
            link& from = at->second;
            from.server->on_time(server_now(), from.inbox);
            if (from.inbox.empty() && from.server->is_closing()) {
                drop(id, engine::close_reason::end_of_stream);
                has_delivered = true;
            } else if (!from.inbox.empty()) {
                const std::size_t size = random_.between(1, from.inbox.size());
                const std::vector<std::byte> part(
                    from.inbox.begin(), from.inbox.begin() + static_cast<std::ptrdiff_t>(size));
                from.inbox.erase(
                    from.inbox.begin(), from.inbox.begin() + static_cast<std::ptrdiff_t>(size));
                has_delivered = true;
                engine_->on_bytes(id, part, now_);
            }
        }
        return has_delivered;
    }

    void drop(engine::connection_id id, engine::close_reason why) {
        links_.erase(id);
        engine_->on_closed(id, why, 0, now_);
    }

    void read_some() {
        for (const auto& scan : scans_) {
            engine::row_batch rows;
            if (!scan->result && random_.percent(30) && engine_->take_rows(scan->id, rows, now_)) {
                note_rows(*scan, rows);
            }
        }
    }

    // --- what goes wrong ---

    void disturb() {
        if (random_.percent(8)) {
            const bool is_removed = random_.percent(50);
            write(
                is_removed ? operation_kind::remove : operation_kind::upsert,
                volatile_key(static_cast<int>(random_.below(volatile_count))));
        }
        if (random_.percent(3) && !links_.empty()) {
            auto at = links_.begin();
            std::advance(at, static_cast<std::ptrdiff_t>(random_.below(links_.size())));
            drop(at->first, engine::close_reason::reset);
        }
        if (random_.percent(4)) {
            const wire::vbucket_id vbucket{
                static_cast<std::uint16_t>(random_.below(vbucket_count))};
            const sandbox::node_id to{static_cast<std::uint32_t>(random_.below(node_count))};
            (void)cluster_.topology().move_vbucket(bucket_name, vbucket, to);
        }
        if (random_.percent(1)) {
            const sandbox::node_id node{static_cast<std::uint32_t>(random_.below(node_count))};
            (void)cluster_.topology().restart(node, sandbox::restart_kind::with_data);
        }
        if (random_.percent(4)) {
            add_fault();
        }
    }

    void add_fault() {
        sandbox::fault_rule rule;
        rule.ops = {random_.percent(70) ? opcode::range_scan_continue : opcode::range_scan_create};
        rule.when.limit = 1;
        constexpr status refusals[] = {
            status::ebusy, status::etmpfail, status::range_scan_cancelled, status::not_my_vbucket};
        switch (random_.below(5)) {
            case 0:
                rule.effect = sandbox::fault_close_after{};
                break;
            case 1:
                rule.effect = sandbox::fault_truncate{random_.between(1, 200)};
                break;
            case 2:
                rule.effect = sandbox::fault_close_before{};
                break;
            default:
                rule.effect = sandbox::fault_status{refusals[random_.below(4)]};
                break;
        }
        cluster_.faults().add(rule);
    }

    random_stream random_;
    time_point now_{1h};
    sandbox::cluster cluster_;
    std::unique_ptr<engine::client_engine> engine_;
    std::map<engine::connection_id, link> links_;
    std::vector<std::unique_ptr<scan_record>> scans_;
    int writes_open_ = 0;
};

engine::scan_request random_request(random_stream& random) {
    engine::scan_request asked;
    asked.options.keys_only = random.percent(50);
    asked.options.batch_item_limit = static_cast<std::uint32_t>(random.between(1, 8));
    asked.options.batch_byte_limit = static_cast<std::uint32_t>(random.between(1, 400));
    if (random.percent(30)) {
        asked.what = couchbase::range_scan{
            {stable_key(static_cast<int>(random.below(40))), random.percent(50)},
            {stable_key(static_cast<int>(random.between(100, 159))), random.percent(50)}};
    }
    return asked;
}

bool is_in(const couchbase::range_scan& range, const std::string& key) {
    const auto& [from, to] = range;
    const bool is_after = from.is_exclusive ? key > from.key : key >= from.key;
    const bool is_before = to.key.empty() || (to.is_exclusive ? key < to.key : key <= to.key);
    return is_after && is_before;
}

void check_range(const scan_record& scan, std::uint64_t seed) {
    ASSERT_TRUE(scan.result) << "seed " << seed;
    EXPECT_TRUE(scan.result->has_value())
        << "seed " << seed << ": " << scan.result->ec.message() << " "
        << (scan.result->error ? scan.result->error->detail : "");
    EXPECT_EQ(scan.result->scan->row_count, scan.keys.size()) << "seed " << seed;
    EXPECT_TRUE(std::ranges::is_sorted(scan.keys)) << "seed " << seed;
    const std::set<std::string> read(scan.keys.begin(), scan.keys.end());
    EXPECT_EQ(read.size(), scan.keys.size()) << "seed " << seed << ": a key arrived twice";
    const auto& range = std::get<couchbase::range_scan>(scan.asked->what);
    const std::uint16_t vbucket = scan.vbucket.value;
    for (int number = 0; number < stable_count; ++number) {
        const std::string key = stable_key(number);
        const bool is_of_it =
            wire::vbucket_of(key, vbucket_count).value == vbucket && is_in(range, key);
        EXPECT_EQ(read.contains(key), is_of_it) << "seed " << seed << ": " << key;
    }
    for (const std::string& key : scan.keys) {
        EXPECT_TRUE(wire::vbucket_of(key, vbucket_count).value == vbucket && is_in(range, key))
            << "seed " << seed << ": " << key << " is not of the scan";
    }
}

TEST(scan_simulation, RH_49_what_existed_all_the_time_arrives_exactly_once) {
    std::uint64_t retries = 0;
    std::uint64_t creates = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        scan_world world(seed);
        world.prepare();
        for (std::uint16_t vbucket = 0; vbucket < vbucket_count; ++vbucket) {
            world.start(vbucket, random_request(world.random()));
        }
        world.run(600);
        for (const auto& scan : world.scans()) {
            check_range(*scan, seed);
            retries += scan->result ? scan->result->retry_attempts : 0;
        }
        creates += world.count(opcode::range_scan_create);
        if (HasFailure()) {
            return;
        }
    }
    // Otherwise the disturbances hit nothing.
    EXPECT_GT(retries, 200u);
    EXPECT_GT(creates, 60 * vbucket_count + 200);
}

TEST(scan_simulation, RH_49_a_sample_never_has_a_document_twice) {
    std::size_t failed = 0;
    std::size_t succeeded = 0;
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
        scan_world world(seed);
        world.prepare();
        for (std::uint16_t vbucket = 0; vbucket < vbucket_count; ++vbucket) {
            auto asked = random_request(world.random());
            asked.what = couchbase::sampling_scan{world.random().between(1, 30), 5};
            world.start(vbucket, std::move(asked));
        }
        world.run(600);
        for (const auto& scan : world.scans()) {
            ASSERT_TRUE(scan->result);
            const std::set<std::string> read(scan->keys.begin(), scan->keys.end());
            EXPECT_EQ(read.size(), scan->keys.size()) << "seed " << seed;
            const auto& wanted = std::get<couchbase::sampling_scan>(scan->asked->what);
            EXPECT_LE(read.size(), wanted.limit) << "seed " << seed;
            const bool has_failed = !scan->result->has_value();
            failed += has_failed ? 1 : 0;
            succeeded += has_failed ? 0 : 1;
            if (has_failed) {
                EXPECT_EQ(scan->result->history->refusal(), refusal_reason::partly_delivered);
            }
        }
    }
    EXPECT_GT(failed, 10u);
    EXPECT_GT(succeeded, 10u);
}

}  // namespace scan_simulation_tests
}  // namespace reprise::sim
