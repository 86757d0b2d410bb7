// A query service with prepared rows, so that a measurement shows mainly the client. It answers
// "... FROM one_field LIMIT n" and "... FROM five_fields LIMIT n" with n rows of 100 bytes, in
// chunks of the given size. It prints the ports of key-value (for the client's bootstrap) and of
// the query service, then serves until it is terminated.

#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <thread>

#include <reprise/http/encode.hpp>
#include <reprise/http/request_parser.hpp>

#include "canned_cluster.hpp"

namespace {

namespace http = reprise::http;
namespace wire = reprise::wire;
namespace base = reprise::base;

constexpr std::size_t row_size = 100;
constexpr std::uint64_t block_row_count = 16'384;  // prepared; with commas, 102 x 16 KiB

// As the service writes them: a comma, a line break, the row.
std::string make_row(std::string_view shape, std::uint64_t number) {
    std::string id = std::to_string(number);
    id.insert(0, 6 - id.size(), '0');
    std::string begin = R"({"text":")" + id + ' ';
    std::string end = R"("})";
    if (shape == "five_fields") {
        begin = R"({"id":1)" + id + R"(,"type":"airline","name":"Example Air )" + id;
        end = R"(","active":true,"country":"Nowhere"})";
    }
    begin.append(row_size - begin.size() - end.size(), 'x');
    return ",\n" + begin + end;
}

std::string make_rows(std::string_view shape, std::uint64_t count) {
    std::string rows;
    for (std::uint64_t number = 0; number < count; ++number) {
        rows += make_row(shape, number);
    }
    return rows;
}

class canned_result {
public:
    canned_result(std::string_view shape, std::size_t chunk_size)
        : shape_(shape), chunk_size_(chunk_size) {
        append(block_, make_rows(shape, block_row_count));
    }

    // Returns false if the peer is gone.
    [[nodiscard]] bool send(int socket, std::uint64_t row_count) const {
        bench::reply_bytes part;
        const http::header_list headers{{"Content-Type", "application/json; version=2.0.0-N1QL"}};
        (void)http::encode_response(
            part, {.headers = &headers, .framing = http::body_framing::chunked});
        append(
            part, R"({"requestID":"5a0a4fd7-0000-4000-8000-000000000000",)"
                  "\n"
                  R"("signature":{"*":"*"},)"
                  "\n"
                  R"("results":[)" +
                      make_rows(shape_, 1).substr(1));
        bool is_sent = send_all(socket, part);
        std::uint64_t left = row_count - 1;
        for (; is_sent && left >= block_row_count; left -= block_row_count) {
            is_sent = send_all(socket, block_);
        }
        part.clear();
        append(
            part, make_rows(shape_, left) +
                      "\n],\n"
                      R"("status":"success",)"
                      "\n"
                      R"("metrics":{"resultCount":)" +
                      std::to_string(row_count) + R"(,"elapsedTime":"1s","executionTime":"1s"}})");
        http::encode_last_chunk(part);
        return is_sent && send_all(socket, part);
    }

private:
    void append(bench::reply_bytes& out, std::string_view text) const {
        for (std::size_t at = 0; at < text.size(); at += chunk_size_) {
            http::encode_chunk(out, base::as_bytes(text.substr(at, chunk_size_)));
        }
    }

    static bool send_all(int socket, base::byte_view bytes) {
        while (!bytes.empty()) {
            const auto sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) {
                return false;
            }
            bytes = bytes.subspan(static_cast<std::size_t>(sent));
        }
        return true;
    }

    std::string shape_;
    std::size_t chunk_size_;
    bench::reply_bytes block_;
};

using results_by_shape = std::map<std::string, canned_result, std::less<>>;

bool answer_query(int socket, std::string_view body, const results_by_shape& results) {
    const auto limit = body.find("LIMIT ");
    for (const auto& [shape, result] : results) {
        if (limit != std::string_view::npos && body.find(shape) < limit) {
            const auto count = std::strtoull(body.data() + limit + 6, nullptr, 10);
            return count > 0 && result.send(socket, count);
        }
    }
    return false;
}

void serve_queries(int socket, const results_by_shape& results) {
    http::request_parser parser;
    bench::reply_bytes in(std::size_t{16} * 1024);
    for (bool is_open = true; is_open;) {
        const auto size = ::recv(socket, in.data(), in.size(), 0);
        if (size <= 0) {
            break;
        }
        parser.feed(base::byte_view(in).first(static_cast<std::size_t>(size)));
        const auto request = parser.next();
        is_open = request && (!*request || answer_query(socket, (*request)->body, results));
    }
    ::close(socket);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: http_canned_responder CHUNK_BYTES\n", stderr);
        return 2;
    }
    const auto chunk_size = static_cast<std::size_t>(std::atol(argv[1]));
    results_by_shape results;
    for (const char* shape : {"one_field", "five_fields"}) {
        results.try_emplace(shape, shape, chunk_size);
    }
    std::uint16_t kv_port = 0;
    std::uint16_t query_port = 0;
    const int kv_listener = bench::listen_on(kv_port);
    const int query_listener = bench::listen_on(query_port);
    std::printf("%d %d\n", kv_port, query_port);
    std::fflush(stdout);
    std::thread([&] {
        while (true) {
            std::thread(serve_queries, bench::accept_from(query_listener), std::cref(results))
                .detach();
        }
    }).detach();
    const bench::canned_cluster cluster(bench::node_ports{.kv = kv_port, .query = query_port});
    bench::serve_peers(
        kv_listener, [&](const wire::frame_view& frame, bench::canned_peer& from, auto& out) {
            cluster.answer(frame, from, out);
        });
}
