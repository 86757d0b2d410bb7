/// A load generator that checks its results, for servers whose nodes are moved, killed and
/// restarted meanwhile. Run by tests/interop/kv_engine/run_kv_engine.py:
///
///     kv_engine_load CONNECTION_STRING USER PASSWORD BUCKET
///
/// Prints "ready" once it is running and works until it reads "stop". Then it writes every key once
/// more, reads everything back, and prints its findings:
///
///     duplicate KEY WHY          a write was applied twice
///     false KEY WHY              an operation succeeded wrongly
///     lost VBUCKET KEY WHY       a confirmed write is gone; the script knows which vbuckets were
///                                emptied on purpose
///     trouble VBUCKET KEY WHY    an error that a moved or killed node does not explain
///     check <ok|FAILED> NAME     the rest
///
/// Each key has one writer, which knows its expected value.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <iostream>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <reprise/couchbase.hpp>

namespace {

using namespace std::chrono_literals;
namespace couchbase = reprise::couchbase;
using couchbase::errc;

constexpr int writer_count = 4;
constexpr std::size_t register_count = 96;
constexpr std::size_t counter_count = 32;

/// Keeps lines of several threads apart.
void say(const std::string& line) {
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    std::cout << line << '\n' << std::flush;
}

/// Maps keys like Couchbase: with the upper half of CRC-32.
unsigned vbucket_of(std::string_view key) {
    std::uint32_t crc = 0xffffffff;
    for (const char letter : key) {
        crc ^= static_cast<unsigned char>(letter);
        for (int bit = 0; bit < 8; ++bit) {
            crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xedb88320U : 0U);
        }
    }
    return ((~crc >> 16U) & 0x7fffU) % 64;
}

std::string place_of(std::string_view key) {
    return std::to_string(vbucket_of(key)) + " " + std::string(key);
}

/// Errors that a node which is down, or has just returned, may cause.
bool is_explained(const couchbase::error& error) {
    return error.is_ambiguous() || error.code() == make_error_code(errc::unambiguous_timeout) ||
           error.code() == make_error_code(errc::request_canceled);
}

struct totals {
    std::uint64_t confirmed = 0;
    std::uint64_t doubtful = 0;
    std::uint64_t failed = 0;
    std::uint64_t retries = 0;

    void add(const totals& other) {
        confirmed += other.confirmed;
        doubtful += other.doubtful;
        failed += other.failed;
        retries += other.retries;
    }
};

class writer {
public:
    writer(couchbase::collection documents, int number)
        : documents_(std::move(documents)), prefix_("w" + std::to_string(number) + "-") {}

    void run(const std::atomic<bool>& is_stopping) {
        while (!is_stopping) {
            one_round(is_stopping);
        }
    }
    /// After the last change, everything must work again, and nothing may have been lost since.
    void settle() {
        const std::atomic<bool> never = false;
        one_round(never);
        for (std::size_t index = 0; index < register_count; ++index) {
            check_register(index);
        }
        for (std::size_t index = 0; index < counter_count; ++index) {
            check_counter(index);
        }
    }
    [[nodiscard]] const totals& counted() const noexcept { return counted_; }

private:
    struct register_book {
        int confirmed = 0;  // the last round that was reported as stored
        int sent = 0;       // the last round that was attempted
    };
    struct counter_book {
        std::uint64_t confirmed = 0;  // increments since the counter was created
        std::uint64_t doubtful = 0;
    };
    [[nodiscard]] std::string register_key(std::size_t index) const {
        return prefix_ + "register-" + std::to_string(index);
    }
    [[nodiscard]] std::string counter_key(std::size_t index) const {
        return prefix_ + "counter-" + std::to_string(index);
    }
    [[nodiscard]] static std::string content(const std::string& key, int round) {
        return R"({"key":")" + key + R"(","round":)" + std::to_string(round) + "}";
    }

    void one_round(const std::atomic<bool>& is_stopping) {
        ++round_;
        for (std::size_t index = 0; index < register_count && !is_stopping; ++index) {
            store(index);
            if (index % 3 == 0) {
                count(index / 3);
            }
            if (index % 8 == 0) {
                insert_fresh();
                replace_stale(index);
            }
            if (index % 2 == 0) {
                check_register(index);
            }
        }
    }

    template <class Result>
    bool note(const Result& result, const std::string& key) {
        if (result) {
            ++counted_.confirmed;
            counted_.retries += result->trace.retry_attempts;
            return true;
        }
        ++(result.error().is_ambiguous() ? counted_.doubtful : counted_.failed);
        if (!is_explained(result.error())) {
            say("trouble " + place_of(key) + " " + first_line(result.error()));
        }
        return false;
    }
    [[nodiscard]] static std::string first_line(const couchbase::error& error) {
        const std::string text = error.message();
        return text.substr(0, text.find('\n'));
    }

    void store(std::size_t index) {
        const std::string key = register_key(index);
        register_book& book = registers_[index];
        book.sent = round_;
        const couchbase::json_text value{content(key, round_)};
        if (note(documents_.upsert(key, value), key)) {
            book.confirmed = round_;
        }
    }

    /// The returned value shows whether earlier increments were applied, and how often.
    void count(std::size_t index) {
        const std::string key = counter_key(index);
        counter_book& book = counters_[index];
        const auto counted = documents_.increment(key, {.delta = 1, .initial = 1});
        if (!note(counted, key)) {
            book.doubtful += counted.error().is_ambiguous() ? 1U : 0U;
            return;
        }
        ++book.confirmed;
        const std::uint64_t value = counted->value;
        if (value > book.confirmed + book.doubtful) {
            say("duplicate " + key + " counted " + std::to_string(value) + " after " +
                std::to_string(book.confirmed) + " increments and " +
                std::to_string(book.doubtful) + " doubtful ones");
        } else if (value < book.confirmed) {
            say("lost " + place_of(key) + " counter " + std::to_string(value) + " after " +
                std::to_string(book.confirmed));
        }
        if (value < book.confirmed || value > book.confirmed + book.doubtful) {
            book = {value, 0};  // already reported: continue with the actual value
        }
    }

    /// No other writer uses this key, so "it exists" means that it was sent twice.
    void insert_fresh() {
        const std::string key = prefix_ + "fresh-" + std::to_string(fresh_++);
        const auto inserted = documents_.insert(key, couchbase::json_text{content(key, 0)});
        if (!inserted && inserted.error().code() == make_error_code(errc::document_exists)) {
            say("duplicate " + key + " exists although it was inserted once");
        } else {
            note(inserted, key);
        }
    }

    /// Uses a CAS that the document never had.
    void replace_stale(std::size_t index) {
        const std::string key = register_key(index);
        const auto replaced = documents_.replace(
            key, couchbase::json_text{content(key, -1)}, {.cas = couchbase::cas{0x0badcafe}});
        if (replaced) {
            say("false " + key + " replaced with a CAS that it never had");
        } else if (
            replaced.error().code() != make_error_code(errc::cas_mismatch) &&
            replaced.error().code() != make_error_code(errc::document_not_found)) {
            note(replaced, key);
        }
    }

    void check_register(std::size_t index) {
        const std::string key = register_key(index);
        register_book& book = registers_[index];
        const auto read = documents_.get(key);
        if (!read && read.error().code() == make_error_code(errc::document_not_found)) {
            if (book.confirmed != 0) {
                say("lost " + place_of(key) + " round " + std::to_string(book.confirmed));
                book.confirmed = 0;
            }
            return;
        }
        if (!read) {
            if (!is_explained(read.error())) {
                say("trouble " + place_of(key) + " " + first_line(read.error()));
            }
            return;
        }
        int found = -1;
        for (int round = std::max(book.confirmed, 1); round <= book.sent && found < 0; ++round) {
            found = read->text() == content(key, round) ? round : -1;
        }
        for (int round = 1; round < book.confirmed && found < 0; ++round) {
            if (read->text() == content(key, round)) {
                say("lost " + place_of(key) + " round " + std::to_string(book.confirmed) +
                    ", it holds " + std::to_string(round));
                found = round;
            }
        }
        if (found < 0) {
            say("false " + key +
                " has a value that was never stored: " + std::string(read->text()));
        } else {
            book.confirmed = found;
        }
    }

    void check_counter(std::size_t index) {
        const std::string key = counter_key(index);
        const counter_book& book = counters_[index];
        const auto read = documents_.get(key);
        if (!read) {
            return say("lost " + place_of(key) + " counter " + std::to_string(book.confirmed));
        }
        const std::uint64_t value = std::stoull(std::string(read->text()));
        if (value > book.confirmed + book.doubtful) {
            say("duplicate " + key + " holds " + std::to_string(value) + " after " +
                std::to_string(book.confirmed) + " increments");
        } else if (value < book.confirmed) {
            say("lost " + place_of(key) + " counter " + std::to_string(value) + " after " +
                std::to_string(book.confirmed));
        }
    }

    couchbase::collection documents_;
    std::string prefix_;
    int round_ = 0;
    std::uint64_t fresh_ = 0;
    std::array<register_book, register_count> registers_{};
    std::array<counter_book, counter_count> counters_{};
    totals counted_;
};

template <class Step>
void in_parallel(std::vector<writer>& writers, Step step) {
    std::vector<std::jthread> threads;
    threads.reserve(writers.size());
    for (writer& each : writers) {
        threads.emplace_back([&each, &step] { step(each); });
    }
}

totals sum_of(const std::vector<writer>& writers) {
    totals sum;
    for (const writer& each : writers) {
        sum.add(each.counted());
    }
    return sum;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::cerr << "usage: kv_engine_load CONNECTION_STRING USER PASSWORD BUCKET\n";
        return 2;
    }
    couchbase::cluster_options options;
    options.username = argv[2];
    options.password = argv[3];
    options.kv_timeout = 1s;
    const auto cluster = couchbase::cluster::connect(argv[1], options);
    if (!cluster) {
        say("check FAILED connection string: " + cluster.error().message());
        return 1;
    }
    const auto bucket = cluster->bucket(argv[4]);
    if (const auto ready = bucket.wait_until_ready(20s); !ready) {
        say("check FAILED bootstrap: " + ready.error().message());
        return 1;
    }
    std::vector<writer> writers;
    writers.reserve(writer_count);
    for (int number = 0; number < writer_count; ++number) {
        writers.emplace_back(bucket.default_collection(), number);
    }
    std::atomic<bool> is_stopping = false;
    std::jthread listener([&is_stopping] {
        std::string line;
        while (std::getline(std::cin, line) && line != "stop") {
        }
        is_stopping = true;
    });
    say("ready");
    in_parallel(writers, [&is_stopping](writer& each) { each.run(is_stopping); });
    const totals before = sum_of(writers);
    in_parallel(writers, [](writer& each) { each.settle(); });
    const totals after = sum_of(writers);
    const bool is_whole = after.failed == before.failed && after.doubtful == before.doubtful;
    say(std::string("check ") + (is_whole ? "ok" : "FAILED") +
        " every write succeeds once the last change is over");
    say(std::string("check ") + (before.confirmed != 0 ? "ok" : "FAILED") + " load (" +
        std::to_string(before.confirmed) + " writes, " + std::to_string(before.retries) +
        " retries, " + std::to_string(before.doubtful) + " ambiguous, " +
        std::to_string(before.failed) + " failed)");
    return 0;
}
