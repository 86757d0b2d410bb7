// Measures the client against kv_canned_responder: it reads and writes small documents, many in
// flight with handlers inside the loop, one at a time, and on several threads that wait. Prints
// JSON: CPU time of the thread that does the client's work, operations per second, and allocations
// per operation. With `loops` it measures one and two loops (io_threads) instead, 64 in flight on
// each, with the CPU time of all loops.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <expected>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <reprise/couchbase.hpp>
#include <reprise/couchbase/asio.hpp>

#include "allocation_count.hpp"
#include "client_result.hpp"
#include "loopback.hpp"

namespace {

namespace couchbase = reprise::couchbase;
namespace asio = boost::asio;
using namespace std::chrono_literals;
using bench::value_of;
using read_result = std::expected<couchbase::get_result, couchbase::error>;
using write_result = std::expected<couchbase::mutation_result, couchbase::error>;

constexpr std::size_t blocking_threads = 16;
constexpr std::size_t key_count = 1024;
constexpr std::uint64_t warm_up = 20'000;
constexpr std::uint64_t clock_stride = 256;  // operations between two clock reads

struct load {
    std::string connection_string;
    std::uint64_t count = 0;
    double seconds = 0;
    std::size_t in_flight = 64;
    bool is_of_writes = false;
};

// Resources used so far. The CPU time is that of the calling thread.
struct reading {
    double cpu = bench::seconds_of(CLOCK_THREAD_CPUTIME_ID);
    double wall = bench::seconds_of(CLOCK_MONOTONIC);
    std::uint64_t allocations = bench::allocation_count();
};

void print(const char* name, const reading& from, const reading& to, std::uint64_t operations) {
    const auto count = static_cast<double>(operations);
    std::printf(
        "\"%s\": {\"cpu_ns_per_op\": %.1f, \"ops_per_second\": %.0f, \"allocations_per_op\": %.4f, "
        "\"operations\": %.0f}",
        name, (to.cpu - from.cpu) * 1e9 / count, count / (to.wall - from.wall),
        static_cast<double>(to.allocations - from.allocations) / count, count);
}

void check(const read_result& result) {
    if (!result || result->bytes().empty()) {
        value_of(result);
        bench::fail("empty document");
    }
}

using key_list = std::vector<std::string>;

const key_list& all_keys() {
    static const key_list keys = [] {
        key_list made;
        made.reserve(key_count);
        for (std::size_t each = 0; each < key_count; ++each) {
            made.push_back("airline_" + std::to_string(10'000 + each));
        }
        return made;
    }();
    return keys;
}

const std::string& key_of(std::uint64_t number) {
    return all_keys()[number % key_count];
}

couchbase::cluster_options options_for(couchbase::thread_mode mode) {
    couchbase::cluster_options options;
    options.username = "bench";
    options.password = "bench";
    options.allow_plain_without_tls = true;  // the responder supports nothing else
    options.kv_timeout = 30s;                // a busy machine may delay the responder
    options.threads = mode;
    return options;
}

couchbase::collection documents(const couchbase::cluster& cluster) {
    return cluster.bucket("bench").default_collection();
}

// Each handler starts the next operation, so that `load::in_flight` are always running. All of them
// run on one thread, so the keys must belong to one loop.
class operation_stream {
public:
    operation_stream(
        couchbase::collection at, const load& wanted, const key_list& keys = all_keys())
        : at_(std::move(at)), load_(wanted), keys_(keys) {}

    void start() {
        for (std::size_t each = 0; each < load_.in_flight; ++each) {
            start_next();
        }
    }
    // Whether every handler has run. May be called from another thread.
    [[nodiscard]] bool is_over() const noexcept { return is_over_.load(std::memory_order_acquire); }
    void wait() const { is_over_.wait(false, std::memory_order_acquire); }
    void report(const char* name) const { print(name, begin_, end_, measured_); }
    [[nodiscard]] const reading& begin() const noexcept { return begin_; }
    [[nodiscard]] const reading& end() const noexcept { return end_; }
    [[nodiscard]] std::uint64_t measured() const noexcept { return measured_; }

private:
    void start_next() {
        ++open_;
        const std::string& key = keys_[started_++ % keys_.size()];
        if (load_.is_of_writes) {
            at_.async_upsert(key, written_, {}, [this](const write_result& result) {
                value_of(result);
                on_answer();
            });
            return;
        }
        at_.async_get(key, {}, [this](const read_result& result) {
            check(result);
            on_answer();
        });
    }

    void on_answer() {
        --open_;
        if (++answered_ == warm_up) {
            begin_ = reading();
        }
        if (answered_ > warm_up && measured_ == 0 && is_enough()) {
            measured_ = answered_ - warm_up;
            end_ = reading();
        }
        if (measured_ == 0) {
            start_next();
        } else if (open_ == 0) {
            is_over_.store(true, std::memory_order_release);
            is_over_.notify_one();
        }
    }

    [[nodiscard]] bool is_enough() const {
        const std::uint64_t count = answered_ - warm_up;
        return count >= load_.count ||
               (count % clock_stride == 0 &&
                bench::seconds_of(CLOCK_MONOTONIC) - begin_.wall > load_.seconds);
    }

    couchbase::collection at_;
    load load_;
    const key_list& keys_;
    // Too large to be stored inside a request.
    const couchbase::json_text written_{
        R"({"type":"airline","id":10,"name":"Example Air","iata":"XA"})"};
    std::uint64_t started_ = 0;
    std::uint64_t answered_ = 0;
    std::uint64_t measured_ = 0;
    std::size_t open_ = 0;
    reading begin_{0, 0, 0};
    reading end_{0, 0, 0};
    std::atomic<bool> is_over_ = false;
};

void stream_on_callers_thread(const char* name, const load& wanted) {
    const auto options = options_for(couchbase::thread_mode::caller_drives);
    const auto cluster = value_of(couchbase::cluster::connect(wanted.connection_string, options));
    operation_stream stream(documents(cluster), wanted);
    stream.start();
    while (!stream.is_over()) {
        value_of(cluster.drive(20ms));
    }
    stream.report(name);
}

void stream_on_own_thread(const char* name, const load& wanted) {
    const auto options = options_for(couchbase::thread_mode::own_thread);
    const auto cluster = value_of(couchbase::cluster::connect(wanted.connection_string, options));
    operation_stream stream(documents(cluster), wanted);
    // Starts inside the loop, because only that thread uses the counters.
    documents(cluster).async_get(key_of(0), {}, [&stream](const read_result& result) {
        check(result);
        stream.start();
    });
    stream.wait();
    value_of(cluster.statistics());  // the loop answers it, so the last handler has returned
    stream.report(name);
}

void stream_on_executor(const char* name, const load& wanted) {
    asio::io_context context(1);
    const auto options = options_for(couchbase::thread_mode::own_thread);
    const auto cluster =
        value_of(couchbase::connect(context.get_executor(), wanted.connection_string, options));
    operation_stream stream(documents(cluster), wanted);
    stream.start();
    while (!stream.is_over()) {
        context.run_one();
    }
    stream.report(name);
    cluster.close();
    context.run();
}

// The keys of each loop. A handler runs on the loop of its key.
std::map<std::thread::id, key_list> keys_by_loop(const couchbase::collection& at) {
    std::map<std::thread::id, key_list> found;
    for (const std::string& key : all_keys()) {
        std::promise<std::thread::id> ran;
        at.async_get(key, {}, [&ran](const read_result& result) {
            check(result);
            ran.set_value(std::this_thread::get_id());
        });
        found[ran.get_future().get()].push_back(key);
    }
    return found;
}

void stream_on_loops(const char* name, std::size_t loop_count, const load& wanted) {
    auto options = options_for(couchbase::thread_mode::own_thread);
    options.io_threads = loop_count;
    const auto cluster = value_of(couchbase::cluster::connect(wanted.connection_string, options));
    const auto at = documents(cluster);
    const auto keys = keys_by_loop(at);
    std::vector<std::unique_ptr<operation_stream>> streams;
    for (const auto& [loop, own] : keys) {
        streams.push_back(std::make_unique<operation_stream>(at, wanted, own));
        at.async_get(own.front(), {}, [stream = streams.back().get()](const read_result& result) {
            check(result);
            stream->start();
        });
    }
    reading first{0, 0, 0};
    reading last{0, 0, 0};
    std::uint64_t operations = 0;
    for (const auto& each : streams) {
        each->wait();
        if (operations == 0 || each->begin().wall < first.wall) {
            first = each->begin();
            first.cpu = 0;
        }
        last.wall = std::max(last.wall, each->end().wall);
        last.allocations = std::max(last.allocations, each->end().allocations);
        last.cpu += each->end().cpu - each->begin().cpu;
        operations += each->measured();
    }
    value_of(cluster.statistics());  // the loops answer it, so the last handlers have returned
    print(name, first, last, operations);
}

// Resources used by the thread that runs the loop. The call itself counts as one more operation.
reading read_in_loop(const couchbase::collection& at) {
    std::promise<reading> taken;
    at.async_get(key_of(0), {}, [&taken](const read_result& result) {
        check(result);
        taken.set_value(reading());
    });
    return taken.get_future().get();
}

void read_one_at_a_time(const char* name, couchbase::thread_mode mode, const load& wanted) {
    const auto cluster =
        value_of(couchbase::cluster::connect(wanted.connection_string, options_for(mode)));
    const auto at = documents(cluster);
    for (std::uint64_t each = 0; each < warm_up / 10; ++each) {
        check(at.get(key_of(each)));
    }
    const bool is_own = mode == couchbase::thread_mode::own_thread;
    const double cpu_before = is_own ? read_in_loop(at).cpu : 0;
    const reading begin;
    std::uint64_t done = 0;
    do {
        check(at.get(key_of(++done)));
    } while (done < wanted.count &&
             (done % clock_stride != 0 ||
              bench::seconds_of(CLOCK_MONOTONIC) - begin.wall < wanted.seconds));
    reading end;
    reading start = begin;
    if (is_own) {
        start.cpu = cpu_before;
        end.cpu = read_in_loop(at).cpu;
    }
    print(name, start, end, done);
}

// Measures the waiting alone: as many threads wait for a thread that does nothing but wake them.
// Nothing that wakes a thread for each of its operations can be faster.
class waking_thread {
public:
    struct waiter {
        std::mutex mutex;
        std::condition_variable woken;
        bool is_done = false;
    };

    waking_thread() : thread_([this] { run(); }) {}
    ~waking_thread() {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
        asked_.notify_one();
    }
    waking_thread(const waking_thread&) = delete;
    waking_thread& operator=(const waking_thread&) = delete;

    void wait_for_answer(waiter& self) {
        {
            const std::lock_guard lock(mutex_);
            waiting_.push_back(&self);
        }
        asked_.notify_one();
        std::unique_lock lock(self.mutex);
        self.woken.wait(lock, [&self] { return std::exchange(self.is_done, false); });
    }

private:
    void run() {
        std::vector<waiter*> answered;
        for (;;) {
            {
                std::unique_lock lock(mutex_);
                asked_.wait(lock, [this] { return is_over_ || !waiting_.empty(); });
                if (is_over_) {
                    return;
                }
                std::swap(answered, waiting_);
            }
            for (waiter* each : answered) {
                const std::lock_guard lock(each->mutex);
                each->is_done = true;
                each->woken.notify_one();
            }
            answered.clear();
        }
    }

    std::mutex mutex_;
    std::condition_variable asked_;
    std::vector<waiter*> waiting_;
    bool is_over_ = false;
    std::jthread thread_;
};

// Calls `work` on several threads until the load is done. Returns how often.
template <class MakeWork>
std::uint64_t run_on_threads(const load& wanted, MakeWork make_work) {
    std::atomic<std::uint64_t> started = 0;
    std::atomic<bool> is_over = false;
    const double begin = bench::seconds_of(CLOCK_MONOTONIC);
    std::vector<std::jthread> threads;
    for (std::size_t each = 0; each < blocking_threads; ++each) {
        threads.emplace_back([&] {
            auto work = make_work();
            while (!is_over.load(std::memory_order_relaxed)) {
                const std::uint64_t number = started.fetch_add(1, std::memory_order_relaxed) + 1;
                work(number);
                if (number >= wanted.count ||
                    (number % clock_stride == 0 &&
                     bench::seconds_of(CLOCK_MONOTONIC) - begin > wanted.seconds)) {
                    is_over.store(true, std::memory_order_relaxed);
                }
            }
        });
    }
    threads.clear();
    return started.load();
}

void wake_threads(const char* name, const load& wanted) {
    waking_thread waking;
    const reading begin;
    const std::uint64_t count = run_on_threads(wanted, [&waking] {
        return [&waking, self = std::make_unique<waking_thread::waiter>()](std::uint64_t) {
            waking.wait_for_answer(*self);
        };
    });
    print(name, begin, reading(), count);
}

// Threads that wait for each of their operations share one client.
void read_on_threads(const char* name, const load& wanted) {
    const auto options = options_for(couchbase::thread_mode::own_thread);
    const auto cluster = value_of(couchbase::cluster::connect(wanted.connection_string, options));
    const auto at = documents(cluster);
    for (std::uint64_t each = 0; each < warm_up / 10; ++each) {
        check(at.get(key_of(each)));
    }
    const reading begin = read_in_loop(at);
    const std::uint64_t count = run_on_threads(
        wanted, [&at] { return [&at](std::uint64_t number) { check(at.get(key_of(number))); }; });
    print(name, begin, read_in_loop(at), count);
}

void measure_all(const load& wanted) {
    const auto with = [&wanted](std::size_t in_flight, bool is_of_writes) {
        load changed = wanted;
        changed.in_flight = in_flight;
        changed.is_of_writes = is_of_writes;
        return changed;
    };
    const auto next = [] { std::fputs(", ", stdout); };
    stream_on_callers_thread("in_flight_64_caller_drives", wanted);
    next();
    stream_on_own_thread("in_flight_64_own_thread", wanted);
    next();
    stream_on_executor("in_flight_64_your_executor", wanted);
    next();
    stream_on_callers_thread("in_flight_256_caller_drives", with(256, false));
    next();
    stream_on_callers_thread("writes_64_caller_drives", with(64, true));
    next();
    stream_on_own_thread("writes_64_own_thread", with(64, true));
    next();
    stream_on_executor("writes_64_your_executor", with(64, true));
    next();
    read_one_at_a_time(
        "one_at_a_time_caller_drives", couchbase::thread_mode::caller_drives, wanted);
    next();
    read_one_at_a_time("one_at_a_time_own_thread", couchbase::thread_mode::own_thread, wanted);
    next();
    stream_on_own_thread("in_flight_16_own_thread", with(blocking_threads, false));
    next();
    read_on_threads("threads_16_own_thread", wanted);
    next();
    wake_threads("threads_16_woken_by_a_thread", wanted);
}

}  // namespace

int main(int argc, char** argv) {
    const bool is_about_loops = argc == 5 && std::string_view(argv[4]) == "loops";
    if (argc != 4 && !is_about_loops) {
        std::fputs("usage: kv_client_bench PORT OPERATIONS SECONDS [loops]\n", stderr);
        return 2;
    }
    const load wanted{
        std::string("couchbase://127.0.0.1:") + argv[1], std::strtoull(argv[2], nullptr, 10),
        std::atof(argv[3])};
    std::fputs("{", stdout);
    if (is_about_loops) {
        stream_on_loops("one_loop", 1, wanted);
        std::fputs(", ", stdout);
        stream_on_loops("two_loops", 2, wanted);
        std::fputs("}\n", stdout);
        return 0;
    }
    measure_all(wanted);
    std::fputs("}\n", stdout);
}
