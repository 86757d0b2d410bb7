// The work that `./dev bench instructions` counts under callgrind: one scenario per run, with
// recorded answers. Only the functions named `measured_...` are counted; the server's side runs
// outside of them. The scenarios of this file have no sockets, and time does not pass in them.

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/engine/client_engine.hpp>
#include <reprise/wire/document_messages.hpp>

#include "api_scene.hpp"
#include "canned_cluster.hpp"
#include "retry_scene.hpp"

namespace {

using namespace std::chrono_literals;
namespace base = reprise::base;
namespace engine = reprise::engine;
namespace wire = reprise::wire;

constexpr std::uint16_t port = 11210;
constexpr std::size_t opaque_at = 12;  // offset in a frame
constexpr std::string_view document =
    R"({"type":"airline","id":10,"name":"Example Air","iata":"XA","country":"Nowhere"})";

// Counting starts when such a function is entered and ends when it returns. Nothing inside may have
// its name (a lambda does), because that would end the counting as well.
#define COUNTED [[gnu::noinline]]

// Counts the operations that succeeded.
struct count_success {
    std::size_t* completed;
    void operator()(engine::operation_result&& result) const { *completed += result.ec ? 0U : 1U; }
};

template <class Message>
bench::reply_bytes frame_of(wire::response_header header, const Message& message) {
    bench::reply_bytes made;
    base::byte_writer writer(made);
    (void)message.encode(writer, header);
    return made;
}

bench::reply_bytes document_frame() {
    wire::response_header header;
    header.op = wire::opcode::get;
    header.cas = 1;
    header.datatype = wire::datatype::json;
    return frame_of(header, wire::document_response{0x0200'0000, base::as_bytes(document), {}});
}

bench::reply_bytes stored_frame() {
    wire::response_header header;
    header.op = wire::opcode::set;
    header.cas = 1;
    return frame_of(header, wire::value_response{{}});
}

// One engine and one connection, whose other end answers from memory.
class scene {
public:
    scene()
        : cluster_(bench::node_ports{.kv = port}),
          engine_(options(), identity(), engine::seeded_randomness(1), now_) {
        engine_.open("bench", now_);
        while (engine_.statistics().connections_open == 0) {
            serve_once();
        }
        keyspace_ = engine_.keyspace("bench");
    }

    // Runs `count` operations with `in_flight` of them at a time.
    void run(engine::operation_kind kind, std::size_t in_flight, std::size_t count) {
        const bool is_get = kind == engine::operation_kind::get;
        const bench::reply_bytes answer = is_get ? document_frame() : stored_frame();
        const std::size_t goal = completed_ + count;
        while (completed_ < goal) {
            measured_start(kind, in_flight);
            const base::byte_view bytes = measured_write().front();
            peers_[connection_.value].reader.feed(bytes);
            const std::size_t size = bytes.size();
            in_.clear();
            auto& reader = peers_[connection_.value].reader;
            for (auto next = reader.next(); next && *next; next = reader.next()) {
                const std::size_t at = in_.size();
                in_.insert(in_.end(), answer.begin(), answer.end());
                base::store_big_endian(in_.data() + at + opaque_at, (**next).opaque());
            }
            measured_receive(size);
            measured_complete();
        }
    }

private:
    static engine::engine_options options() {
        engine::engine_options made;
        made.seeds = {{"127.0.0.1", port}};
        made.allow_plain_without_tls = true;
        return made;
    }
    static engine::credentials identity() {
        engine::credentials made;
        made.username = "bench";
        made.password = "bench";
        return made;
    }

    COUNTED void measured_start(engine::operation_kind kind, std::size_t count) {
        for (std::size_t each = 0; each < count; ++each) {
            engine::operation_request request;
            request.kind = kind;
            request.keyspace = keyspace_;
            request.key = base::slice::copy_of(base::as_bytes(keys_[each % keys_.size()]));
            if (kind == engine::operation_kind::upsert) {
                request.value = base::slice::copy_of(base::as_bytes(document));
            }
            engine_.start(std::move(request), count_success{&completed_}, now_);
        }
    }
    COUNTED base::byte_views measured_write() {
        actions_.clear();
        engine_.take_actions(actions_);
        return engine_.begin_write(connection_, now_);
    }
    COUNTED void measured_receive(std::size_t written) {
        engine_.on_written(connection_, written, now_);
        engine_.on_bytes(connection_, in_, now_);
    }
    COUNTED void measured_complete() { engine_.drain_completions(); }

    // One turn of the driver while the connection is being opened.
    void serve_once() {
        actions_.clear();
        engine_.take_actions(actions_);
        for (const engine::driver_action& action : actions_) {
            if (const auto* connect = std::get_if<engine::connect_action>(&action)) {
                connection_ = connect->connection;
                peers_[connection_.value];
                engine_.on_connected(connection_, "127.0.0.1", now_);
            } else if (const auto* write = std::get_if<engine::write_action>(&action)) {
                answer_bootstrap(write->connection);
            }
        }
        now_ += 1ms;
        engine_.on_time(now_);
    }
    void answer_bootstrap(engine::connection_id connection) {
        bench::canned_peer& peer = peers_[connection.value];
        const std::vector<std::byte> bytes = base::join(engine_.begin_write(connection, now_));
        peer.reader.feed(bytes);
        engine_.on_written(connection, bytes.size(), now_);
        bench::reply_bytes out;
        for (auto next = peer.reader.next(); next && *next; next = peer.reader.next()) {
            cluster_.answer(**next, peer, out);
        }
        engine_.on_bytes(connection, out, now_);
    }

    reprise::time_point now_{1h};
    bench::canned_cluster cluster_;
    engine::client_engine engine_;
    engine::keyspace_id keyspace_{};
    engine::connection_id connection_{};
    std::map<std::uint64_t, bench::canned_peer> peers_;
    engine::action_list actions_;
    bench::reply_bytes in_;
    std::vector<std::string> keys_ = [] {
        std::vector<std::string> made;
        for (int each = 0; each < 64; ++each) {
            made.push_back("airline_" + std::to_string(10'000 + each));
        }
        return made;
    }();
    std::size_t completed_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: instruction_bench SCENARIO COUNT\n", stderr);
        return 2;
    }
    const std::string_view name = argv[1];
    const std::size_t count = std::strtoull(argv[2], nullptr, 10);
    if (name == "get_64") {
        scene().run(engine::operation_kind::get, 64, count);
    } else if (name == "get_1") {
        scene().run(engine::operation_kind::get, 1, count);
    } else if (name == "upsert_64") {
        scene().run(engine::operation_kind::upsert, 64, count);
    } else if (!bench::run_api(name, count) && !bench::run_retry(name, count)) {
        std::fprintf(stderr, "no scenario %s\n", argv[1]);
        return 2;
    }
}
