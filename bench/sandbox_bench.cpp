// Measures the embedded cluster without sockets: processor time of a small get, and the memory that
// documents of 1 KiB take in addition to their own bytes. Prints JSON.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <malloc.h>

#include <reprise/base/byte_writer.hpp>
#include <reprise/sandbox/cluster.hpp>
#include <reprise/wire/document_messages.hpp>
#include <reprise/wire/session_messages.hpp>
#include <reprise/wire/vbucket.hpp>

#include "loopback.hpp"

namespace {

namespace base = reprise::base;
namespace sandbox = reprise::sandbox;
namespace wire = reprise::wire;

constexpr std::size_t vbucket_count = 1024;
constexpr std::size_t small_documents = 1024;
constexpr std::size_t in_flight = 64;
constexpr std::size_t rounds = 5;
constexpr std::size_t turns = 3000;  // of one round, each with `in_flight` gets
constexpr std::size_t large_documents = 100'000;
constexpr std::size_t large_size = 1024;
constexpr sandbox::time_point now{std::chrono::seconds(1'735'689'600)};

sandbox::cluster_options one_node() {
    sandbox::cluster_options options;
    options.node_count = 1;
    options.replica_count = 0;
    options.vbucket_count = vbucket_count;
    options.buckets = {{.name = "bench"}};
    options.users = {{.name = "bench", .password = "bench"}};
    return options;
}

sandbox::cluster make_cluster() {
    auto made = sandbox::cluster::make(one_node());
    if (!made) {
        std::fputs((made.error() + "\n").c_str(), stderr);
        std::exit(1);
    }
    return std::move(*made);
}

// One connection to a cluster. It sends whole chunks of requests and looks at the first status.
class conversation {
public:
    conversation() : cluster_(make_cluster()), connection_(accept()) {
        add(wire::select_bucket_request{"bench"}, {});
        exchange();
    }

    void add_get(std::string_view key) {
        add(wire::document_request{wire::opcode::get, key_of(key)}, header_of(key));
    }
    void add_set(std::string_view key, std::string_view value) {
        add(wire::store_request{wire::opcode::set, key_of(key), 0, 0, base::as_bytes(value)},
            header_of(key));
    }
    void exchange() {
        answers_.clear();
        connection_.on_bytes(now, requests_, answers_);
        requests_.clear();
        if (answers_.size() < wire::header_size || answers_[6] != std::byte{0} ||
            answers_[7] != std::byte{0}) {
            bench::fail("an answer is missing or not a success");
        }
    }

private:
    sandbox::connection accept() {
        auto made = cluster_.accept(
            sandbox::node_id{0}, {.over = wire::transport::tls, .certificate_user = "bench"});
        if (!made) {
            bench::fail("accept");
        }
        return std::move(*made);
    }
    static wire::document_key key_of(std::string_view key) {
        return {.key = key, .form = wire::key_form::bare};
    }
    static wire::request_header header_of(std::string_view key) {
        wire::request_header header;
        header.vbucket = wire::vbucket_of(key, vbucket_count);
        return header;
    }
    template <class Message>
    void add(const Message& message, const wire::request_header& header) {
        base::byte_writer writer(requests_);
        if (!message.encode(writer, header)) {
            bench::fail("encode");
        }
    }

    sandbox::cluster cluster_;
    sandbox::connection connection_;
    std::vector<std::byte> requests_;
    std::vector<std::byte> answers_;
};

std::string key_of(std::size_t number) {
    return "document_" + std::to_string(number);
}

// Encoding the requests is not counted.
double get_ns() {
    conversation with;
    std::vector<std::string> keys;
    for (std::size_t each = 0; each < small_documents; ++each) {
        keys.push_back(key_of(each));
        with.add_set(keys.back(), R"({"type":"airline","id":10,"name":"Example"})");
    }
    with.exchange();
    double best = 1e18;
    for (std::size_t round = 0; round < rounds; ++round) {
        double seconds = 0;
        for (std::size_t turn = 0; turn < turns; ++turn) {
            for (std::size_t each = 0; each < in_flight; ++each) {
                with.add_get(keys[(turn * in_flight + each) % keys.size()]);
            }
            const double begin = bench::seconds_of(CLOCK_THREAD_CPUTIME_ID);
            with.exchange();
            seconds += bench::seconds_of(CLOCK_THREAD_CPUTIME_ID) - begin;
        }
        best = std::min(best, seconds * 1e9 / static_cast<double>(turns * in_flight));
    }
    return best;
}

std::size_t memory_in_use() {
    const auto used = ::mallinfo2();
    return used.uordblks + used.hblkhd;
}

// Keys and values count as a document's own bytes.
double memory_of_documents() {
    conversation with;
    const std::string value(large_size, 'x');
    with.add_set(key_of(0), value);
    with.exchange();
    const std::size_t before = memory_in_use();
    std::size_t own = 0;
    for (std::size_t each = 1; each <= large_documents; ++each) {
        const std::string key = key_of(each);
        own += key.size() + value.size();
        with.add_set(key, value);
        with.exchange();
    }
    return static_cast<double>(memory_in_use() - before) / static_cast<double>(own);
}

}  // namespace

int main() {
    std::printf(
        "{\"get_ns\": %.1f, \"memory_to_documents\": %.3f}\n", get_ns(), memory_of_documents());
}
