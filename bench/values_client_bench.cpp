// Measures the client with values of several sizes against values_responder, plain and with TLS:
// bytes per second, processor time of the thread that does the client's work, and the processor
// time of a whole connection. Prints JSON.

#include <atomic>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <reprise/couchbase.hpp>
#include <reprise/couchbase/asio.hpp>

#include "client_result.hpp"
#include "values_load.hpp"

namespace {

namespace couchbase = reprise::couchbase;
using namespace std::chrono_literals;
using bench::value_of;

// Each handler starts the next operation. Everything runs on the calling thread.
class value_stream {
public:
    value_stream(const couchbase::cluster& cluster, const bench::values_case& what)
        : cluster_(cluster),
          at_(cluster.bucket("bench").default_collection()),
          what_(what),
          key_(what.key()),
          value_(what.size, std::byte{'x'}) {}

    void measure() {
        run(what_.warm_up);
        const bench::values_reading begin;
        run(what_.operations);
        bench::print(what_, begin, bench::values_reading(), what_.operations);
    }

private:
    void run(std::uint64_t count) {
        to_start_ = count;
        open_ = 0;
        while (to_start_ > 0 && open_ < what_.in_flight) {
            start_next();
        }
        while (open_ > 0) {
            if (const auto driven = cluster_.drive(20ms); !driven) {
                bench::fail("drive");
            }
        }
    }

    void start_next() {
        --to_start_;
        ++open_;
        if (what_.is_store) {
            at_.async_upsert(key_, value_, {}, [this](const auto& result) { on_answer(result); });
        } else {
            at_.async_get(key_, {}, [this](const auto& result) {
                if (result && result->bytes().size() != what_.size) {
                    bench::fail("size of the value");
                }
                on_answer(result);
            });
        }
    }

    template <class Result>
    void on_answer(const Result& result) {
        if (!result) {
            value_of(result);
        }
        --open_;
        if (to_start_ > 0) {
            start_next();
        }
    }

    const couchbase::cluster& cluster_;
    couchbase::collection at_;
    bench::values_case what_;
    std::string key_;
    std::vector<std::byte> value_;
    std::uint64_t to_start_ = 0;
    std::size_t open_ = 0;
};

couchbase::cluster connect(const bench::values_target& to, bool is_tls) {
    couchbase::cluster_options options;
    options.username = "bench";
    options.password = "bench";
    options.allow_plain_without_tls = true;  // the responder supports nothing else
    options.kv_timeout = 30s;                // a busy machine may delay the responder
    options.threads = couchbase::thread_mode::caller_drives;
    if (is_tls) {
        options.tls.ca_file = to.ca_file;
    }
    const std::string address = is_tls ? "couchbases://127.0.0.1:" + std::to_string(to.tls_port)
                                       : "couchbase://127.0.0.1:" + std::to_string(to.plain_port);
    // Without the bucket's name there would be a second connection, that of the cluster.
    return value_of(couchbase::cluster::connect(address + "/bench", options));
}

}  // namespace

int main(int argc, char** argv) {
    const auto to = bench::values_arguments(argc, argv);
    const couchbase::cluster plain = connect(to, false);
    const couchbase::cluster tls = connect(to, true);
    bench::values_report report;
    for (const bench::values_case& each : bench::values_cases()) {
        report.next();
        value_stream(each.is_tls ? tls : plain, each).measure();
    }
    report.next();
    // One connection is made: that of the bucket.
    bench::measure_connections([&] {
        const couchbase::cluster once = connect(to, true);
        value_of(once.bucket("bench").default_collection().get("v32_document"));
        once.close();
    });
}
