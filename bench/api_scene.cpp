// Operations through the public API, with callbacks on the user's io_context: each callback starts
// the next operation. The server's side runs on the same thread between two turns of the loop, over
// a loopback socket, and is not counted. Neither is what the kernel does.

#include "api_scene.hpp"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>
#include <boost/asio/io_context.hpp>

#include <reprise/couchbase.hpp>
#include <reprise/couchbase/asio.hpp>
#include <reprise/wire/document_messages.hpp>

#include "allocation_count.hpp"
#include "canned_cluster.hpp"

namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;
namespace base = reprise::base;
namespace couchbase = reprise::couchbase;
namespace wire = reprise::wire;

// As in instruction_bench.cpp. What is counted inside of it has a row of its own if it is named
// `stage_...`.
#define COUNTED [[gnu::noinline]]
#define STAGE [[gnu::noinline]]

constexpr std::size_t opaque_at = 12;  // offset in a frame
constexpr std::size_t key_count = 64;
constexpr std::string_view document = R"({"type":"airline","iata":"XA99"})";
static_assert(document.size() == 32);

template <class Message>
bench::reply_bytes frame_of(wire::opcode op, wire::datatype type, const Message& message) {
    wire::response_header header;
    header.op = op;
    header.cas = 1;
    header.datatype = type;
    bench::reply_bytes made;
    base::byte_writer writer(made);
    (void)message.encode(writer, header);
    return made;
}

// The server with all its connections. It answers only inside `serve`.
class responder {
public:
    [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

    // Answers everything that has arrived.
    void serve() {
        while (::poll(waiting_.data(), waiting_.size(), 0) > 0) {
            for (std::size_t at = 1; at < waiting_.size(); ++at) {
                if (waiting_[at].revents != 0) {
                    serve_peer(peers_[at]);
                }
            }
            if (waiting_[0].revents != 0) {
                peers_.emplace_back().socket = bench::accept_from(listener_);
                waiting_.push_back({peers_.back().socket, POLLIN, 0});
            }
        }
    }

private:
    void serve_peer(bench::canned_peer& peer) {
        const auto answer = [this](const auto& frame, bench::canned_peer& from, auto& out) {
            if (frame.op() != wire::opcode::get && frame.op() != wire::opcode::set) {
                return cluster_.answer(frame, from, out);
            }
            const auto& answered = frame.op() == wire::opcode::get ? read_ : stored_;
            const std::size_t at = out.size();
            out.insert(out.end(), answered.begin(), answered.end());
            base::store_big_endian(out.data() + at + opaque_at, frame.opaque());
        };
        if (!bench::serve_peer(peer, answer, in_, out_)) {
            bench::fail("serve");
        }
    }

    std::uint16_t port_ = 0;
    int listener_ = bench::listen_on(port_);
    bench::canned_cluster cluster_{bench::node_ports{.kv = port_}};
    std::vector<pollfd> waiting_{{listener_, POLLIN, 0}};
    std::vector<bench::canned_peer> peers_{1};  // by index in `waiting_`; the first is the listener
    bench::reply_bytes in_ = bench::reply_bytes(std::size_t{64} * 1024);
    bench::reply_bytes out_;
    bench::reply_bytes read_ = frame_of(
        wire::opcode::get, wire::datatype::json,
        wire::document_response{0x0200'0000, base::as_bytes(document), {}});
    bench::reply_bytes stored_ =
        frame_of(wire::opcode::set, wire::datatype::raw, wire::value_response{{}});
};

couchbase::cluster_options make_options() {
    couchbase::cluster_options options;
    options.username = "bench";
    options.password = "bench";
    options.allow_plain_without_tls = true;  // the responder supports nothing else
    options.kv_timeout = 10min;              // callgrind is slow
    options.config_poll_interval = 10min;    // a poll would be counted
    return options;
}

class api_scene {
public:
    explicit api_scene(bool is_get) : is_get_(is_get) {}

    // Keeps `in_flight` operations running until `count` more have ended.
    void run(std::size_t in_flight, std::size_t count) {
        started_max_ = started_ + count;
        for (std::size_t each = 0; each < in_flight; ++each) {
            stage_start();
        }
        while (ended_ < started_max_) {
            measured_turn();
            server_.serve();
        }
    }

private:
    COUNTED void measured_turn() { context_.poll(); }

    // Not a lambda, because its name would contain that of the stage.
    struct start_next {
        api_scene* scene;
        template <class Result>
        void operator()(const std::expected<Result, couchbase::error>& result) const {
            if (!result) {
                bench::fail(result.error().message().c_str());
            }
            ++scene->ended_;
            scene->stage_start();
        }
    };

    STAGE void stage_start() {
        if (started_ == started_max_) {
            return;
        }
        const std::string& key = keys_[started_++ % key_count];
        if (is_get_) {
            at_.async_get(key, {}, start_next{this});
        } else {
            at_.async_upsert(key, value_, {}, start_next{this});
        }
    }

    static couchbase::cluster connect(asio::io_context& context, const responder& to) {
        return couchbase::connect(
                   context.get_executor(), "couchbase://127.0.0.1:" + std::to_string(to.port()),
                   make_options())
            .value();
    }

    const bool is_get_;
    responder server_;
    asio::io_context context_{1};
    couchbase::cluster cluster_ = connect(context_, server_);
    couchbase::collection at_ = cluster_.bucket("bench").default_collection();
    couchbase::json_text value_{std::string(document)};
    std::vector<std::string> keys_ = [] {
        std::vector<std::string> made;
        for (std::size_t each = 0; each < key_count; ++each) {
            made.push_back("airline_" + std::to_string(10'000 + each));
        }
        return made;
    }();
    std::size_t started_ = 0;
    std::size_t started_max_ = 0;
    std::size_t ended_ = 0;
};

}  // namespace

bool bench::run_api(std::string_view name, std::size_t count) {
    const bool is_get = name.starts_with("api_get_");
    if (!is_get && !name.starts_with("api_upsert_")) {
        return false;
    }
    api_scene scene(is_get);
    scene.run(name.ends_with("_64") ? 64 : 1, count);
    std::printf("allocations %llu\n", static_cast<unsigned long long>(bench::allocation_count()));
    return true;
}
