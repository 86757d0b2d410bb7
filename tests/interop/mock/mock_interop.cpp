/// Runs our client on a server that we did not write (CouchbaseMock). Run by
/// scripts/run_interop.py:
///
///     mock_interop CONNECTION_STRING USER PASSWORD BUCKET [retries]
///
/// With `retries`, only the times of retries are checked, which needs an otherwise idle machine.
/// Prints a line "check <ok|FAILED> <name> [detail]" for each check. For actions of the mock's
/// monitor it prints a line "do <command>"; the script answers "done" afterwards, or with the error
/// of the mock.

#include <array>
#include <atomic>
#include <cstdint>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <reprise/couchbase.hpp>
#include <reprise/couchbase_types/retry_strategies.hpp>

namespace {

using namespace std::chrono_literals;
namespace couchbase = reprise::couchbase;
using couchbase::errc;

/// Counts failures and prints every check.
class report {
public:
    void check(std::string_view name, bool is_ok, const std::string& detail = {}) {
        std::cout << "check " << (is_ok ? "ok" : "FAILED") << ' ' << name;
        if (!is_ok && !detail.empty()) {
            std::cout << ": " << detail.substr(0, detail.find('\n'));
        }
        std::cout << std::endl;
        failed_ += is_ok ? 0 : 1;
    }
    template <class Result>
    bool succeeded(std::string_view name, const Result& result) {
        check(name, result.has_value(), result ? "" : text_of(result.error()));
        return result.has_value();
    }
    template <class Result>
    void failed_with(std::string_view name, const Result& result, errc expected) {
        const bool is_ok = !result && result.error().code() == make_error_code(expected);
        check(name, is_ok, result ? "succeeded" : text_of(result.error()));
    }
    [[nodiscard]] int failed() const noexcept { return failed_; }

private:
    static std::string text_of(const couchbase::error& error) { return error.message(); }
    int failed_ = 0;
};

/// Asks the script for an action and waits for it. Returns the error, or an empty text.
std::string ask_for(const std::string& what) {
    std::cout << "do " << what << std::endl;
    std::string answer;
    std::getline(std::cin, answer);
    return answer == "done" ? std::string() : answer;
}

void check_documents(report& report, const couchbase::collection& documents) {
    const auto stored = documents.upsert("first", couchbase::json_text{R"({"n":1})"});
    if (!report.succeeded("upsert", stored)) {
        return;
    }
    const auto read = documents.get("first");
    report.check(
        "get", read && read->text() == R"({"n":1})", read ? std::string(read->text()) : "error");
    report.failed_with(
        "insert refuses an existing document",
        documents.insert("first", couchbase::plain_text{"x"}), errc::document_exists);
    const auto replaced = documents.replace(
        "first", couchbase::json_text{R"({"n":2})"}, {.cas = read ? read->cas : couchbase::cas{}});
    report.succeeded("replace with cas", replaced);
    report.failed_with(
        "replace refuses an old cas",
        documents.replace("first", couchbase::plain_text{"x"}, {.cas = stored->cas}),
        errc::cas_mismatch);
    report.succeeded("touch", documents.touch("first", 10min));
    // The mock has no get-meta. The client must report this and keep working.
    report.failed_with(
        "exists is reported as not supported by this server", documents.exists("first"),
        errc::unsupported_operation);
    report.succeeded("remove", documents.remove("first"));
    report.failed_with("get after remove", documents.get("first"), errc::document_not_found);
}

void check_counters_and_locks(report& report, const couchbase::collection& documents) {
    const auto made = documents.increment("counter", {.delta = 1, .initial = 40});
    report.check("counter is made", made && made->value == 40, "wrong value or error");
    const auto more = documents.increment("counter", {.delta = 5, .initial = 0});
    report.check("increment", more && more->value == 45, "wrong value or error");
    const auto less = documents.decrement("counter", {.delta = 3, .initial = 0});
    report.check("decrement", less && less->value == 42, "wrong value or error");
    static_cast<void>(documents.upsert("locked", couchbase::plain_text{"value"}));
    const auto locked = documents.get_and_lock("locked", 10s);
    if (report.succeeded("get and lock", locked)) {
        const auto refused =
            documents.upsert("locked", couchbase::plain_text{"other"}, {.timeout = 300ms});
        report.check(
            "a write waits for the lock until its timeout",
            !refused && refused.error().code() == make_error_code(errc::unambiguous_timeout),
            refused ? "succeeded" : refused.error().message());
        report.succeeded("unlock", documents.unlock("locked", locked->cas));
        report.succeeded(
            "a write after the unlock", documents.upsert("locked", couchbase::plain_text{"b"}));
    }
}

constexpr int key_count = 500;

[[nodiscard]] std::string key_of(int index) {
    return "load-" + std::to_string(index);
}

/// How many of the keys have the expected generation.
[[nodiscard]] int count_current(
    const couchbase::collection& documents, std::string_view generation) {
    int current = 0;
    for (int index = 0; index < key_count; ++index) {
        const auto read = documents.get(key_of(index));
        current += read && read->text() == generation ? 1 : 0;
    }
    return current;
}

struct write_totals {
    int written = 0;
    int ambiguous = 0;
    std::uint32_t retries = 0;
    std::string trouble;
};

/// Stores one document. The node that a failover removes drops requests that it has received. The
/// client reports such a write as ambiguous and never sends it again. Storing the same value twice
/// is harmless here, so this program repeats the write once.
void write_one(
    write_totals& totals, const couchbase::collection& documents, const std::string& key,
    std::string_view generation) {
    auto stored = documents.upsert(key, couchbase::plain_text{std::string(generation)});
    if (!stored && stored.error().is_ambiguous()) {
        ++totals.ambiguous;
        stored = documents.upsert(key, couchbase::plain_text{std::string(generation)});
    }
    if (stored) {
        ++totals.written;
        totals.retries += stored->trace.retry_attempts;
    } else if (totals.trouble.empty()) {
        totals.trouble = stored.error().message();
    }
}

void write_all(
    report& report, std::string_view name, const couchbase::collection& documents,
    std::string_view generation) {
    write_totals totals;
    for (int index = 0; index < key_count; ++index) {
        write_one(totals, documents, key_of(index), generation);
    }
    report.check(
        std::string(name) + " (" + std::to_string(totals.retries) + " retries, " +
            std::to_string(totals.ambiguous) + " ambiguous)",
        totals.written == key_count,
        std::to_string(totals.written) + " of " + std::to_string(key_count) + "; " +
            totals.trouble);
    const int current = count_current(documents, generation);
    report.check(
        std::string(name) + ": all read back", current == key_count,
        std::to_string(current) + " of " + std::to_string(key_count));
}

/// One thread of the steady load. It is the only writer of its keys, so it can check their values
/// against the expected ones.
class steady_writer {
public:
    steady_writer(couchbase::collection documents, int number)
        : documents_(std::move(documents)), prefix_("steady-" + std::to_string(number) + "-") {}

    void run(const std::atomic<bool>& is_stopping) {
        for (int round = 1; !is_stopping; ++round) {
            for (std::size_t index = 0; index < keys_.size() && !is_stopping; ++index) {
                write(index, round);
            }
        }
    }
    /// Keys with a value that is neither the last confirmed one nor a later ambiguous one.
    [[nodiscard]] int count_wrong() const {
        int wrong = 0;
        for (std::size_t index = 0; index < keys_.size(); ++index) {
            const auto read = documents_.get(key(index));
            const int found = read ? std::stoi(std::string(read->text())) : 0;
            const known& must = keys_[index];
            wrong += found == must.confirmed || (found > must.confirmed && found <= must.doubtful)
                         ? 0
                         : 1;
        }
        return wrong;
    }
    [[nodiscard]] int written() const noexcept { return written_; }
    [[nodiscard]] int ambiguous() const noexcept { return ambiguous_; }
    [[nodiscard]] std::uint32_t retries() const noexcept { return retries_; }
    [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }

private:
    struct known {
        int confirmed = 0;
        int doubtful = 0;  // reported as ambiguous: may have been applied
    };
    [[nodiscard]] std::string key(std::size_t index) const {
        return prefix_ + std::to_string(index);
    }
    void write(std::size_t index, int round) {
        const auto stored =
            documents_.upsert(key(index), couchbase::plain_text{std::to_string(round)});
        if (stored) {
            ++written_;
            retries_ += stored->trace.retry_attempts;
            keys_[index] = {round, round};
        } else if (stored.error().is_ambiguous()) {
            ++ambiguous_;
            keys_[index].doubtful = round;
        } else if (trouble_.empty()) {
            trouble_ = stored.error().message();
        }
    }

    couchbase::collection documents_;
    std::string prefix_;
    std::array<known, 50> keys_{};
    int written_ = 0;
    int ambiguous_ = 0;
    std::uint32_t retries_ = 0;
    std::string trouble_;
};

/// A node leaves and returns while four threads write.
void check_failover_under_load(report& report, const couchbase::collection& documents) {
    std::vector<steady_writer> writers;
    for (int number = 0; number < 4; ++number) {
        writers.emplace_back(documents, number);
    }
    std::atomic<bool> is_stopping = false;
    {
        std::vector<std::jthread> threads;
        for (steady_writer& writer : writers) {
            threads.emplace_back([&] { writer.run(is_stopping); });
        }
        for (const auto* change : {"failover 2", "respawn 2", "failover 3", "respawn 3"}) {
            static_cast<void>(ask_for("wait 300"));
            const std::string refused = ask_for(change);
            report.check("under load: " + std::string(change), refused.empty(), refused);
        }
        static_cast<void>(ask_for("wait 300"));
        is_stopping = true;
    }
    int written = 0;
    int ambiguous = 0;
    int wrong = 0;
    std::uint32_t retries = 0;
    std::string trouble;
    for (const steady_writer& writer : writers) {
        written += writer.written();
        ambiguous += writer.ambiguous();
        retries += writer.retries();
        wrong += writer.count_wrong();
        trouble = trouble.empty() ? writer.trouble() : trouble;
    }
    const std::string figures = std::to_string(written) + " writes, " + std::to_string(retries) +
                                " retries, " + std::to_string(ambiguous) + " ambiguous";
    report.check(
        "failover under load: no error but ambiguous ones (" + figures + ")", trouble.empty(),
        trouble);
    report.check(
        "failover under load: every confirmed write is there", wrong == 0,
        std::to_string(wrong) + " keys hold something else");
}

/// Uses the mock's own test codes: it plans the retries with its error map, logs the requests, and
/// reports whether the times were right to 10 ms. Makes one try.
void check_error_map_code(
    report& report, const couchbase::collection& documents, std::uint16_t code,
    std::string_view schedule) {
    couchbase::get_options options;
    options.strategy = std::make_shared<reprise::couchbase::server_directed_strategy>();
    std::uint32_t retries = 0;
    std::string against = ask_for("fail_gets " + std::to_string(code));
    const auto read = documents.get("planned", options);
    static_cast<void>(ask_for("fail_gets 0"));
    if (read) {
        against = "the get succeeded";
    } else if (against.empty() && read.error().info().status != code) {
        against = "another error: " + read.error().message();
    } else if (against.empty()) {
        const auto& history = *read.error().history();
        retries = read.error().retry_attempts();
        const auto endpoint = couchbase::endpoint_of(history, history.entries.back());
        against = ask_for(
            "check_retries " + std::to_string(code) + " " +
            std::string(endpoint.substr(endpoint.rfind(':') + 1)));
    }
    report.check(
        "error map code " + std::string(schedule) + " is retried as the server planned (" +
            std::to_string(retries) + " retries)",
        against.empty(), against);
    const auto plain = documents.get("planned", {.timeout = 500ms});
    report.succeeded("after " + std::string(schedule), plain);
}

void check_error_map(report& report, const couchbase::collection& documents) {
    static_cast<void>(documents.upsert("planned", couchbase::plain_text{"value"}));
    check_error_map_code(report, documents, 0x7ff0, "7ff0 (constant)");
    check_error_map_code(report, documents, 0x7ff1, "7ff1 (linear)");
    check_error_map_code(report, documents, 0x7ff2, "7ff2 (exponential)");
}

}  // namespace

int main(int argc, char** argv) {
    const bool is_about_retries = argc == 6 && argv[5] == std::string_view("retries");
    if (argc != 5 && !is_about_retries) {
        std::cerr << "usage: mock_interop CONNECTION_STRING USER PASSWORD BUCKET [retries]\n";
        return 2;
    }
    report report;
    const auto cluster =
        couchbase::cluster::connect(argv[1], {.username = argv[2], .password = argv[3]});
    if (!report.succeeded("connection string", cluster)) {
        return 1;
    }
    const auto bucket = cluster->bucket(argv[4]);
    if (!report.succeeded("bootstrap", bucket.wait_until_ready(10s))) {
        return 1;
    }
    const auto documents = bucket.default_collection();
    if (is_about_retries) {
        check_error_map(report, documents);
        return report.failed() == 0 ? 0 : 1;
    }
    check_documents(report, documents);
    check_counters_and_locks(report, documents);
    write_all(report, "four nodes", documents, "one");
    static_cast<void>(ask_for("failover 1"));
    write_all(report, "after a failover", documents, "two");
    static_cast<void>(ask_for("respawn 1"));
    write_all(report, "after a respawn", documents, "three");
    check_failover_under_load(report, documents);
    return report.failed() == 0 ? 0 : 1;
}
