// Shows how the engine's cost per operation changes with the size of the cluster and of the waiting
// room: gets at 1 to 1,000 nodes, with 1,000 in flight (a write carries fewer requests the more
// nodes there are) and with 16 in flight at each node; with 64 to 1,024 vbuckets; gets spread over
// 1 to 100,000 collections; and a million operations that wait for one connection. Prints JSON:
// processor time per operation, memory per waiting operation, and the longest single call into the
// engine. There are no sockets; answers come from memory, outside of what is measured.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <malloc.h>

#include <reprise/engine/client_engine.hpp>
#include <reprise/wire/cluster_configuration_encode.hpp>
#include <reprise/wire/cluster_messages.hpp>
#include <reprise/wire/document_messages.hpp>

#include "canned_cluster.hpp"
#include "loopback.hpp"

namespace {

using namespace std::chrono_literals;
namespace base = reprise::base;
namespace engine = reprise::engine;
namespace wire = reprise::wire;

constexpr std::uint16_t first_port = 20'000;
constexpr std::size_t in_flight = 1000;
constexpr std::size_t in_flight_of_a_node = 16;
constexpr std::size_t vbucket_count = 1024;
constexpr std::size_t opaque_at = 12;  // offset in a frame
constexpr std::string_view document = R"({"type":"airline","id":10,"name":"Example"})";

// Processor time spent in calls of the engine, and the longest of them.
class stopwatch {
public:
    template <class Call>
    auto time(const Call& call) {
        const lap at_end(*this);
        return call();
    }
    void reset() { *this = {}; }
    [[nodiscard]] double total() const noexcept { return total_; }
    [[nodiscard]] double longest() const noexcept { return longest_; }

private:
    class lap {
    public:
        explicit lap(stopwatch& to) : to_(to) {}
        lap(const lap&) = delete;
        lap& operator=(const lap&) = delete;
        ~lap() {
            const double took = bench::seconds_of(CLOCK_THREAD_CPUTIME_ID) - begin_;
            to_.total_ += took;
            to_.longest_ = std::max(to_.longest_, took);
        }

    private:
        stopwatch& to_;
        double begin_ = bench::seconds_of(CLOCK_THREAD_CPUTIME_ID);
    };

    double total_ = 0;
    double longest_ = 0;
};

template <class Message>
void append(bench::reply_bytes& out, const wire::response_header& header, const Message& message) {
    base::byte_writer writer(out);
    (void)message.encode(writer, header);
}

bench::reply_bytes document_frame() {
    wire::response_header header;
    header.op = wire::opcode::get;
    header.cas = 1;
    header.datatype = wire::datatype::json;
    bench::reply_bytes made;
    append(made, header, wire::document_response{0x0200'0000, base::as_bytes(document), {}});
    return made;
}

// A client and as many nodes as wanted, each behind one connection.
class scene {
public:
    scene(std::size_t nodes, std::size_t parked_count_max, std::size_t vbuckets = vbucket_count)
        : cluster_(ports(nodes), vbuckets),
          node_count_(nodes),
          engine_(options(parked_count_max), identity(), engine::seeded_randomness(1), now_) {}

    void connect() {
        engine_.open("bench", now_);
        while (engine_.statistics().connections_open < node_count_) {
            turn();
        }
        watch_.reset();
    }

    [[nodiscard]] engine::keyspace_id keyspace(std::size_t collection) {
        return engine_.keyspace("bench", "_default", "c" + std::to_string(collection));
    }
    [[nodiscard]] engine::keyspace_id default_keyspace() { return engine_.keyspace("bench"); }

    // Starts gets of different keys, in the keyspaces in turn.
    void start(const std::vector<engine::keyspace_id>& keyspaces, std::size_t count) {
        watch_.time([&] {
            for (std::size_t each = 0; each < count; ++each, ++started_) {
                engine::operation_request request;
                request.kind = engine::operation_kind::get;
                request.keyspace = keyspaces[started_ % keyspaces.size()];
                request.timeout = 1h;
                request.key = base::slice::copy_of(base::as_bytes(keys_[started_ % keys_.size()]));
                engine_.start(
                    std::move(request),
                    [this](engine::operation_result&& done) { completed_ += done.ec ? 0U : 1U; },
                    now_);
            }
        });
    }

    // Runs until all operations are answered.
    void finish() {
        while (engine_.statistics().operations_open > 0) {
            turn();
        }
    }

    // One iteration of the driver, with the answers of all nodes.
    void turn() {
        actions_.clear();
        watch_.time([&] { engine_.take_actions(actions_); });
        writes_.clear();
        for (const engine::driver_action& action : actions_) {
            if (const auto* connect = std::get_if<engine::connect_action>(&action)) {
                on_connect(connect->connection);
            } else if (const auto* write = std::get_if<engine::write_action>(&action)) {
                writes_.push_back({write->connection, {}, {}});
            }
        }
        exchange();
        watch_.time([&] { engine_.drain_completions(); });
        now_ += 1ms;
        watch_.time([&] { engine_.on_time(now_); });
    }

    [[nodiscard]] engine::client_engine& client() noexcept { return engine_; }
    [[nodiscard]] stopwatch& watch() noexcept { return watch_; }
    [[nodiscard]] std::size_t completed() const noexcept { return completed_; }
    void accept_connections(bool is_accepting) noexcept { is_accepting_ = is_accepting; }

private:
    static std::vector<bench::node_ports> ports(std::size_t count) {
        std::vector<bench::node_ports> made;
        for (std::size_t each = 0; each < count; ++each) {
            made.push_back({.kv = static_cast<std::uint16_t>(first_port + each)});
        }
        return made;
    }
    static engine::engine_options options(std::size_t parked_count_max) {
        engine::engine_options made;
        made.seeds = {{"127.0.0.1", first_port}};
        made.allow_plain_without_tls = true;
        made.parked_count_max = parked_count_max;
        return made;
    }
    static engine::credentials identity() {
        engine::credentials made;
        made.username = "bench";
        made.password = "bench";
        return made;
    }

    void on_connect(engine::connection_id connection) {
        if (is_accepting_) {
            peers_[connection.value];
            watch_.time([&] { engine_.on_connected(connection, "127.0.0.1", now_); });
        } else {
            engine_.on_connect_failed(connection, engine::connect_failure::refused, "", now_);
        }
    }

    // Writes to all connections and receives their answers. The clock is read once for all of them,
    // because reading it costs more than a small write.
    void exchange() {
        watch_.time([&] {
            for (one_write& each : writes_) {
                each.bytes = engine_.begin_write(each.connection, now_).front();
            }
        });
        for (one_write& each : writes_) {
            bench::canned_peer& peer = peers_[each.connection.value];
            peer.reader.feed(each.bytes);
            for (auto next = peer.reader.next(); next && *next; next = peer.reader.next()) {
                answer(**next, peer, each.answers);
            }
        }
        watch_.time([&] {
            for (const one_write& each : writes_) {
                engine_.on_written(each.connection, each.bytes.size(), now_);
                engine_.on_bytes(each.connection, each.answers, now_);
            }
        });
    }

    void answer(
        const wire::frame_view& frame, bench::canned_peer& peer, bench::reply_bytes& out) const {
        if (frame.op() == wire::opcode::get) {
            const std::size_t at = out.size();
            out.insert(out.end(), answer_.begin(), answer_.end());
            base::store_big_endian(out.data() + at + opaque_at, frame.opaque());
        } else {
            cluster_.answer(frame, peer, out);
        }
    }

    struct one_write {
        engine::connection_id connection;
        base::byte_view bytes;
        bench::reply_bytes answers;
    };

    reprise::time_point now_{1h};
    bench::canned_cluster cluster_;
    std::size_t node_count_;
    engine::client_engine engine_;
    std::map<std::uint64_t, bench::canned_peer> peers_;
    engine::action_list actions_;
    std::vector<one_write> writes_;
    bench::reply_bytes answer_ = document_frame();
    std::vector<std::string> keys_ = [] {
        std::vector<std::string> made;
        for (std::size_t each = 0; each < 100'000; ++each) {
            made.push_back("airline_" + std::to_string(100'000 + each));
        }
        return made;
    }();
    stopwatch watch_;
    std::size_t started_ = 0;
    std::size_t completed_ = 0;
    bool is_accepting_ = true;
};

void print_comma(bool is_first) {
    std::fputs(is_first ? "" : ", ", stdout);
}

// Returns the processor time of one get in nanoseconds: the best of several rounds.
double get_ns(scene& at, const std::vector<engine::keyspace_id>& keyspaces, std::size_t count) {
    double best = std::numeric_limits<double>::max();
    const std::size_t repetitions = 100'000 / count + 1;
    for (int round = 0; round < 6; ++round) {
        at.watch().reset();
        for (std::size_t each = 0; each < repetitions; ++each) {
            at.start(keyspaces, count);
            at.finish();
        }
        if (round > 0) {  // the first one fills caches and pools
            best =
                std::min(best, at.watch().total() * 1e9 / static_cast<double>(count * repetitions));
        }
    }
    return best;
}

// `count_at` returns how many gets are in flight, by the number of nodes.
template <class CountAt>
void measure_nodes(const char* name, const CountAt& count_at) {
    std::printf("\"%s\": {", name);
    for (const std::size_t nodes : {1U, 10U, 100U, 1000U}) {
        scene at(nodes, 100'000);
        at.connect();
        print_comma(nodes == 1);
        std::printf("\"%zu\": %.1f", nodes, get_ns(at, {at.default_keyspace()}, count_at(nodes)));
    }
    std::fputs("}", stdout);
}

void measure_vbuckets() {
    std::fputs("\"get_ns_by_vbuckets\": {", stdout);
    for (const std::size_t vbuckets : {64U, 256U, 1024U}) {
        scene at(1, 100'000, vbuckets);
        at.connect();
        print_comma(vbuckets == 64);
        std::printf("\"%zu\": %.1f", vbuckets, get_ns(at, {at.default_keyspace()}, in_flight));
    }
    std::fputs("}", stdout);
}

void measure_collections() {
    std::fputs("\"get_ns_by_collections\": {", stdout);
    for (const std::size_t collections : {1U, 100U, 10'000U, 100'000U}) {
        scene at(1, 200'000);
        at.connect();
        std::vector<engine::keyspace_id> keyspaces;
        keyspaces.reserve(collections);
        for (std::size_t each = 0; each < collections; ++each) {
            keyspaces.push_back(at.keyspace(each));
        }
        at.start(keyspaces, collections);
        at.finish();  // resolves the collections
        print_comma(collections == 1);
        std::printf("\"%zu\": %.1f", collections, get_ns(at, keyspaces, in_flight));
    }
    std::fputs("}", stdout);
}

// Operations wait for the first connection; then it opens.
void measure_parked(std::size_t count) {
    scene at(1, count);
    at.accept_connections(false);
    const engine::keyspace_id keyspace = at.default_keyspace();
    const std::size_t before = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
    at.start({keyspace}, count);
    const std::size_t memory = ::mallinfo2().uordblks + ::mallinfo2().hblkhd - before;
    const double park_ns = at.watch().total() * 1e9 / static_cast<double>(count);
    at.accept_connections(true);
    at.watch().reset();
    while (at.client().statistics().operations_parked > 0) {
        at.turn();
    }
    const double wake_ns = at.watch().total() * 1e9 / static_cast<double>(count);
    const double longest_ms = at.watch().longest() * 1e3;
    at.finish();
    if (at.completed() != count) {
        bench::fail("an operation was lost");
    }
    std::printf(
        "\"parked\": {\"count\": %zu, \"bytes_each\": %.0f, \"park_ns\": %.1f, \"wake_ns\": %.1f, "
        "\"longest_call_ms\": %.2f}",
        count, static_cast<double>(memory) / static_cast<double>(count), park_ns, wake_ns,
        longest_ms);
}

}  // namespace

int main() {
    std::fputs("{", stdout);
    measure_nodes("get_ns_by_nodes", [](std::size_t) { return in_flight; });
    std::fputs(", ", stdout);
    measure_nodes(
        "get_ns_by_nodes_busy", [](std::size_t nodes) { return nodes * in_flight_of_a_node; });
    std::fputs(", ", stdout);
    measure_vbuckets();
    std::fputs(", ", stdout);
    measure_collections();
    std::fputs(", ", stdout);
    measure_parked(1'000'000);
    std::fputs("}\n", stdout);
}
