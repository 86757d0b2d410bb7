#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/engine/client_engine.hpp>
#include <reprise/services/analytics_request.hpp>
#include <reprise/services/management_request.hpp>
#include <reprise/services/query_request.hpp>
#include <reprise/services/search_request.hpp>
#include <reprise/services/view_request.hpp>
#include <reprise/wire/cluster_configuration_encode.hpp>
#include <reprise/wire/frame_reader.hpp>
#include <reprise/wire/session_messages.hpp>

// Feeds arbitrary HTTP answers in arbitrary pieces, and between them takes rows, cancels
// operations, closes connections and lets time pass. Every operation must complete exactly once,
// every row must be delivered once, and waiting rows must stay within their bound.
//
// An input is a list of steps, each of one byte and its data; see `step`.

namespace {

using namespace std::chrono_literals;
namespace engine = reprise::engine;
namespace services = reprise::services;
namespace wire = reprise::wire;
namespace base = reprise::base;

constexpr std::uint16_t kv_port = 11210;
constexpr std::size_t operation_count_max = 8;
constexpr std::size_t rows_size_max = 256;
constexpr std::size_t row_size_max = 512;
constexpr std::size_t piece_size_max = 160;

void expect(bool is_right) {
    if (!is_right) {
        __builtin_trap();
    }
}

std::string configuration_text() {
    wire::cluster_configuration_description configuration;
    wire::cluster_node node;
    node.hostname = "node1";
    const auto set = [&](wire::service service, std::uint16_t port) {
        node.ports.set(service, wire::transport::plain, port);
    };
    set(wire::service::key_value, kv_port);
    set(wire::service::management, 8091);
    set(wire::service::views, 8092);
    set(wire::service::query, 8093);
    set(wire::service::search, 8094);
    set(wire::service::analytics, 8095);
    configuration.nodes = {node};
    configuration.this_node = 0;
    configuration.revision = {1, 1};
    configuration.bucket_name = "travel";
    configuration.bucket_uuid = std::string(32, 'b');
    configuration.kv_node_count = 1;
    configuration.vbucket_map.assign(4, {0});
    return wire::encode_cluster_configuration(configuration);
}

// Answers a bootstrap without authentication.
std::vector<std::byte> answer_bootstrap(base::byte_view request) {
    static const std::string configuration = configuration_text();
    static constexpr std::string_view error_map = R"({"version":1,"revision":1,"errors":{}})";
    std::vector<std::byte> out;
    base::byte_writer writer(out);
    wire::frame_reader reader({.direction = wire::frame_direction::to_server});
    reader.feed(request);
    for (auto next = reader.next(); next && *next; next = reader.next()) {
        wire::response_header header;
        header.op = (*next)->op();
        header.opaque = (*next)->opaque();
        std::string_view value;
        if (header.op == wire::opcode::hello) {
            const wire::hello_response granted{{wire::hello_feature::json}};
            (void)granted.encode(writer, header);
            continue;
        }
        if (header.op == wire::opcode::get_error_map) {
            value = error_map;
        } else if (header.op == wire::opcode::get_cluster_config) {
            value = configuration;
        }
        (void)wire::value_response{base::as_bytes(value)}.encode(writer, header);
    }
    return out;
}

engine::http_request make_request(unsigned kind, std::shared_ptr<services::prepared_cache> cache) {
    services::query_options options;
    options.client_context_id = "c";
    options.readonly = kind % 2 == 0;
    switch (kind % 6) {
        case 0:
            return std::move(*services::make_query_operation("SELECT 1", options));
        case 1: {
            options.adhoc = false;
            return std::move(*services::make_query_operation(
                "SELECT 1", options, {}, {.cache = std::move(cache)}));
        }
        case 2:
            return std::move(
                *services::make_analytics_operation("SELECT 1", {.client_context_id = "c"}));
        case 3:
            return std::move(
                *services::make_search_operation("i", services::search_query::match_all()));
        case 4:
            return std::move(*services::make_view_operation("travel", "d", "v"));
        default:
            return services::make_management_operation(std::move(*services::make_raw_call(
                {.method = kind % 2 == 0 ? "GET" : "POST", .target = "/pools"})));
    }
}

struct operation {
    engine::operation_id id{};
    int completed = 0;
    std::uint64_t rows_taken = 0;
};

class fuzz_run {
public:
    fuzz_run() : client_(options(), engine::credentials{}, engine::seeded_randomness(1), now_) {
        client_.open("travel", now_);
        settle();
    }

    // 00..9f  as many bytes, and one, of the input are the next piece of an answer
    // a0..bf  rows are taken
    // c0..cf  time passes
    // d0..d7  an operation is canceled
    // d8..df  a connection ends
    // e0..ef  another operation begins
    // f0..ff  another connection is the one that the above mean
    void step(std::string_view& input) {
        const auto code = static_cast<unsigned char>(input.front());
        input.remove_prefix(1);
        if (code < 0xa0) {
            const std::size_t size = std::min(input.size(), std::size_t{code} + 1);
            feed(input.substr(0, size));
            input.remove_prefix(size);
        } else if (code < 0xc0) {
            take_rows(code % operation_count_max);
        } else if (code < 0xd0) {
            now_ += 1ms * (1 << (code & 0xf));
            client_.on_time(now_);
        } else if (code < 0xd8) {
            if (const std::size_t index = code % operation_count_max; index < operations_.size()) {
                client_.cancel(operations_[index]->id, now_);
            }
        } else if (code < 0xe0) {
            close(static_cast<engine::close_reason>(code % 4));
        } else if (code < 0xf0) {
            start(code);
        } else {
            ++chosen_;
        }
        settle();
    }

    void finish() {
        client_.close(now_);
        settle();
        for (const auto& each : operations_) {
            expect(each->completed == 1);
        }
        expect(client_.statistics().operations_open == 0);
    }

private:
    static engine::engine_options options() {
        engine::engine_options made;
        made.seeds = {{"node1", {}}};
        made.tls.certificate_file = "client.pem";  // no SASL
        return made;
    }

    void start(unsigned kind) {
        if (operations_.size() == operation_count_max) {
            return;
        }
        operation& made = *operations_.emplace_back(std::make_unique<operation>());
        engine::http_request request = make_request(kind, cache_);
        request.rows_size_max_bytes = rows_size_max;
        request.row_size_max_bytes = row_size_max;
        request.body_size_max_bytes = 2048;
        const bool is_streamed = kind < 0xe8;
        if (is_streamed) {
            request.on_rows = [] {};
        }
        made.id = client_.start_http(
            std::move(request),
            [&made](engine::operation_result&& result) {
                ++made.completed;
                // If rows of the first answer were taken, a second answer would report too few.
                const std::uint64_t seen = result.http->row_count;
                const std::uint64_t known = made.rows_taken + result.http->rows.size();
                expect(result.ec ? known <= seen : known == seen);
            },
            now_);
    }

    void take_rows(std::size_t index) {
        engine::row_batch rows;
        if (index >= operations_.size() || !client_.take_rows(operations_[index]->id, rows, now_)) {
            return;
        }
        expect(operations_[index]->completed == 0);
        operations_[index]->rows_taken += rows.size();
        // At most one piece beyond the bound, plus the start of a row from an earlier piece.
        expect(rows.size_bytes() <= rows_size_max + piece_size_max + row_size_max);
        for (std::size_t row = 0; row < rows.size(); ++row) {
            expect(!rows[row].empty() && rows[row].size() <= row_size_max);
            expect(rows[row].front() != ' ' && rows[row].back() != ' ');  // it can be read
        }
    }

    // Each piece is a copy that is destroyed after use. Every other one is in a block that rows may
    // share.
    void feed(std::string_view bytes) {
        const auto to = chosen();
        if (to == peers_.end() || to->second.is_paused) {
            return;
        }
        is_owned_ = !is_owned_;
        if (is_owned_) {
            const auto block = base::block_ref::make(bytes.size());
            std::ranges::copy(base::as_bytes(bytes), block.bytes().begin());
            client_.on_bytes(to->first, block, block.bytes(), now_);
            return;
        }
        const std::vector<char> piece(bytes.begin(), bytes.end());
        client_.on_bytes(
            to->first, base::as_bytes(std::string_view(piece.data(), piece.size())), now_);
    }

    void close(engine::close_reason reason) {
        if (const auto at = chosen(); at != peers_.end()) {
            const engine::connection_id id = at->first;
            peers_.erase(at);
            client_.on_closed(id, reason, 0, now_);
        }
    }

    void settle() {
        for (bool is_busy = true; is_busy;) {
            engine::action_list actions;
            client_.take_actions(actions);
            is_busy = !actions.empty();
            for (const engine::driver_action& action : actions) {
                perform(action);
            }
            is_busy = client_.drain_completions() != 0 || is_busy;
        }
    }

    void perform(const engine::driver_action& action) {
        if (const auto* connect = std::get_if<engine::connect_action>(&action)) {
            if (connect->port != kv_port) {
                peers_[connect->connection];
            }
            client_.on_connected(connect->connection, "127.0.0.1", now_);
        } else if (const auto* closing = std::get_if<engine::close_action>(&action)) {
            peers_.erase(closing->connection);
            client_.on_closed(closing->connection, engine::close_reason::requested, 0, now_);
        } else if (const auto* reading = std::get_if<engine::read_action>(&action)) {
            if (const auto at = peers_.find(reading->connection); at != peers_.end()) {
                at->second.is_paused = reading->is_paused;
            }
        } else if (const auto* writing = std::get_if<engine::write_action>(&action)) {
            const engine::connection_id id = writing->connection;
            const std::vector<std::byte> request = base::join(client_.begin_write(id, now_));
            client_.on_written(id, request.size(), now_);
            if (!peers_.contains(id)) {
                client_.on_bytes(id, answer_bootstrap(request), now_);
            }
        }
    }

    struct peer {
        bool is_paused = false;
    };
    using peer_map = std::map<engine::connection_id, peer>;

    peer_map::iterator chosen() {
        return peers_.empty()
                   ? peers_.end()
                   : std::next(
                         peers_.begin(), static_cast<std::ptrdiff_t>(chosen_ % peers_.size()));
    }

    reprise::time_point now_{1h};
    std::shared_ptr<services::prepared_cache> cache_ =
        std::make_shared<services::prepared_cache>(4);
    std::vector<std::unique_ptr<operation>> operations_;  // must outlive the engine
    peer_map peers_;
    std::size_t chosen_ = 0;
    bool is_owned_ = false;  // whether the last piece was in a block
    engine::client_engine client_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz_run run;
    std::string_view input(reinterpret_cast<const char*>(data), size);
    while (!input.empty()) {
        run.step(input);
    }
    run.finish();
    return 0;
}
