#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <reprise/engine/client_engine.hpp>

// Feeds arbitrary server bytes in pieces: first to the bootstrap, then to a read and a write.
// Nothing may crash, hang or complete twice.

namespace {

using namespace std::chrono_literals;
namespace engine = reprise::engine;

struct fuzz_run {
    reprise::time_point now{1h};
    engine::client_engine client;
    int completed = 0;

    static engine::engine_options options() {
        engine::engine_options made;
        made.seeds = {{"node1", {}}};
        made.tls.certificate_file = "client.pem";  // without SASL, bytes get further
        return made;
    }
    fuzz_run() : client(options(), engine::credentials{}, engine::seeded_randomness(1), now) {}

    void start(engine::operation_kind kind) {
        engine::operation_request request;
        request.kind = kind;
        request.keyspace = client.keyspace("travel");
        request.key = reprise::base::slice::copy_of(reprise::base::as_bytes("k"));
        client.start(std::move(request), [this](engine::operation_result&&) { ++completed; }, now);
    }
    void perform() {
        engine::action_list actions;
        client.take_actions(actions);
        for (const engine::driver_action& action : actions) {
            if (const auto* made = std::get_if<engine::connect_action>(&action)) {
                connection = made->connection;
                client.on_connected(connection, "127.0.0.1", now);
            } else if (const auto* closed = std::get_if<engine::close_action>(&action)) {
                client.on_closed(closed->connection, engine::close_reason::requested, 0, now);
            }
        }
        const std::size_t size = reprise::base::total_size(client.begin_write(connection, now));
        client.on_written(connection, size, now);
    }
    engine::connection_id connection{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz_run run;
    run.start(engine::operation_kind::get);
    run.start(engine::operation_kind::upsert);
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    while (!rest.empty()) {
        run.perform();
        // The first byte determines the size of the pieces.
        const std::size_t piece = std::min(rest.size(), std::size_t{1} + data[0] % 64U);
        run.client.on_bytes(
            run.connection, reprise::base::as_bytes(rest.substr(0, piece)), run.now);
        rest.remove_prefix(piece);
        run.now += 1ms;
        run.client.on_time(run.now);
    }
    run.client.close(run.now);
    run.client.drain_completions();
    if (run.completed != 2) {
        __builtin_trap();
    }
    return 0;
}
