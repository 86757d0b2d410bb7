#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <reprise/base/byte_writer.hpp>
#include <reprise/sandbox/cluster.hpp>
#include <reprise/wire/frame_reader.hpp>
#include <reprise/wire/sasl.hpp>
#include <reprise/wire/session_messages.hpp>

// Sends arbitrary bytes to a connection. The first byte selects whether the client is logged in,
// its features and the number of pieces. Whatever the input, the connection answers with complete
// frames or closes.

namespace {

namespace base = reprise::base;
namespace sandbox = reprise::sandbox;
namespace wire = reprise::wire;

constexpr sandbox::time_point fuzz_time{std::chrono::seconds(1'735'689'600)};

sandbox::cluster make_fuzz_cluster() {
    sandbox::cluster_options options;
    options.node_count = 2;
    options.vbucket_count = 4;
    options.scram_iterations = 1;
    options.offers_plain_without_tls = true;
    options.audit_entry_count_max = 16;
    options.buckets = {{.name = "b", .scopes = {{"s", {"c"}}}}};
    options.users = {{.name = "u", .password = "p"}};
    return std::move(*sandbox::cluster::make(std::move(options)));
}

template <class Message>
void feed(sandbox::connection& connection, const Message& message) {
    std::vector<std::byte> bytes;
    base::byte_writer writer(bytes);
    if (!message.encode(writer, {})) {
        std::abort();
    }
    std::vector<std::byte> out;
    connection.on_bytes(fuzz_time, bytes, out);
}

void log_in(sandbox::connection& connection, bool has_all_features) {
    wire::hello_feature_set features{wire::hello_feature::xerror, wire::hello_feature::json};
    if (has_all_features) {
        for (const auto& facts : wire::all_hello_features()) {
            features.insert(facts.feature);
        }
    }
    feed(connection, wire::hello_request{"fuzz", features});
    const std::string login = wire::encode_plain("u", "p");
    feed(connection, wire::sasl_request{wire::opcode::sasl_auth, "PLAIN", base::as_bytes(login)});
    feed(connection, wire::select_bucket_request{"b"});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const unsigned choice = data[0];
    base::byte_view rest(reinterpret_cast<const std::byte*>(data + 1), size - 1);
    sandbox::cluster cluster = make_fuzz_cluster();
    auto connection = cluster.accept(sandbox::node_id{0});
    if ((choice & 1) != 0) {
        log_in(*connection, (choice & 2) != 0);
    }
    const std::size_t piece = 1 + (choice >> 2) * 8;
    std::vector<std::byte> out;
    sandbox::time_point now = fuzz_time;
    while (!rest.empty() && !connection->is_closing()) {
        const base::byte_view chunk = rest.first(std::min(piece, rest.size()));
        rest = rest.subspan(chunk.size());
        now += std::chrono::milliseconds(300);
        connection->on_bytes(now, chunk, out);
        connection->on_time(now, out);
    }
    // The output must consist of complete frames.
    base::byte_view answers(out);
    while (!answers.empty()) {
        const auto scan =
            wire::scan_frame(answers, {.direction = wire::frame_direction::to_client});
        if (!scan || !scan->frame) {
            std::abort();
        }
        answers = answers.subspan(scan->size);
    }
    return 0;
}
