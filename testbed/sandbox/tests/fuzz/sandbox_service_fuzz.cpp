#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <reprise/http/authorization.hpp>
#include <reprise/json/write.hpp>
#include <reprise/sandbox/cluster.hpp>
#include <reprise/sandbox/service_connection.hpp>
#include <reprise/sandbox/services.hpp>

// Sends arbitrary bytes to the HTTP services. The first byte selects the service, and whether the
// rest is raw HTTP or the body of an authenticated request (query: the statement itself). Whatever
// the input, the connection answers or closes, and a streamed body ends.

namespace {

namespace base = reprise::base;
namespace sandbox = reprise::sandbox;
namespace wire = reprise::wire;

constexpr sandbox::time_point service_fuzz_time{std::chrono::seconds(1'735'689'600)};
constexpr wire::service fuzzed_services[] = {
    wire::service::query, wire::service::analytics, wire::service::search, wire::service::views,
    wire::service::management};

sandbox::cluster make_service_fuzz_cluster() {
    sandbox::cluster_options options;
    options.node_count = 1;
    options.replica_count = 0;
    options.vbucket_count = 4;
    options.audit_entry_count_max = 16;
    options.buckets = {{.name = "b", .scopes = {{"s", {"c"}}}}};
    options.users = {{.name = "u", .password = "p"}};
    return std::move(*sandbox::cluster::make(std::move(options)));
}

std::string make_request(wire::service service, std::string_view rest) {
    const bool has_statement =
        service == wire::service::query || service == wire::service::analytics;
    // The path is before the first line break, the body after it.
    const std::string_view line = rest.substr(0, rest.find('\n'));
    std::string path = "/query/service";
    std::string body(rest.substr(std::min(line.size() + 1, rest.size())));
    if (has_statement) {
        body.clear();
        reprise::json::writer w(body);
        w.begin_object().member("statement", rest).end_object();
    } else {
        path = "/";
        std::ranges::copy_if(
            line, std::back_inserter(path), [](char c) { return c > ' ' && c < 127; });
    }
    return "POST " + path +
           " HTTP/1.1\r\nAuthorization: " + reprise::http::make_basic_authorization("u", "p") +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    sandbox::cluster cluster = make_service_fuzz_cluster();
    (void)cluster.services().create_search_index("i", "b");
    (void)cluster.services().put_view("b", "d", "v");
    const wire::service service = fuzzed_services[data[0] % 5];
    const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
    const std::string text = data[0] >= 128 ? std::string(rest) : make_request(service, rest);
    sandbox::service_connection connection(cluster, {.service = service});
    std::vector<std::byte> out;
    const std::size_t half = text.size() / 2;
    connection.on_bytes(
        service_fuzz_time, base::as_bytes(std::string_view(text).substr(0, half)), out);
    connection.on_bytes(
        service_fuzz_time, base::as_bytes(std::string_view(text).substr(half)), out);
    // Ranges may be arbitrarily long, so only their beginning is read.
    for (int pieces = 0; connection.has_more() && pieces < 4; ++pieces) {
        connection.on_time(service_fuzz_time, out);
    }
    if (data[0] < 128 && out.empty()) {
        std::abort();  // a complete request must be answered
    }
    return 0;
}
