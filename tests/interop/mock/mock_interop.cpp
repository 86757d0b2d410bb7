/// Our client on a server we did not write (CouchbaseMock). Run by scripts/run_interop.py:
///
///     mock_interop CONNECTION_STRING USER PASSWORD BUCKET
///
/// Prints a line "check <ok|FAILED> <name> [detail]" for each check. Changes of the topology are
/// asked for with a line "do <command>" on standard output; the script answers "done" when they
/// have happened.

#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/couchbase.hpp>

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

/// Asks the script for something and waits until it has happened.
void ask_for(std::string_view what) {
    std::cout << "do " << what << std::endl;
    std::string answer;
    std::getline(std::cin, answer);
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
        "insert refuses an existing document", documents.insert("first", std::string("x")),
        errc::document_exists);
    const auto replaced = documents.replace(
        "first", couchbase::json_text{R"({"n":2})"},
        {.cas = read ? read->cas() : couchbase::cas{}});
    report.succeeded("replace with cas", replaced);
    report.failed_with(
        "replace refuses an old cas",
        documents.replace("first", std::string("x"), {.cas = stored->cas}), errc::cas_mismatch);
    report.succeeded("touch", documents.touch("first", 10min));
    // The mock has no get-meta. What matters is that our client says so and goes on.
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
    static_cast<void>(documents.upsert("locked", std::string("value")));
    const auto locked = documents.get_and_lock("locked", 10s);
    if (report.succeeded("get and lock", locked)) {
        const auto refused = documents.upsert("locked", std::string("other"), {.timeout = 300ms});
        report.check(
            "a write waits for the lock until its timeout",
            !refused && refused.error().code() == make_error_code(errc::unambiguous_timeout),
            refused ? "succeeded" : refused.error().message());
        report.succeeded("unlock", documents.unlock("locked", locked->cas()));
        report.succeeded("a write after the unlock", documents.upsert("locked", std::string("b")));
    }
}

constexpr int key_count = 500;

[[nodiscard]] std::string key_of(int index) {
    return "load-" + std::to_string(index);
}

/// How many of the keys hold the expected generation.
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

/// Stores one document. The node that a failover takes away swallows requests that it has received;
/// such a write is reported as ambiguous and never sent again by the client. This program knows
/// that storing the same value twice does no harm, so it may repeat it, once.
void write_one(
    write_totals& totals, const couchbase::collection& documents, const std::string& key,
    std::string_view generation) {
    auto stored = documents.upsert(key, generation);
    if (!stored && stored.error().is_ambiguous()) {
        ++totals.ambiguous;
        stored = documents.upsert(key, generation);
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

}  // namespace

int main(int argc, char** argv) {
    if (argc != 5) {
        std::cerr << "usage: mock_interop CONNECTION_STRING USER PASSWORD BUCKET\n";
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
    check_documents(report, documents);
    check_counters_and_locks(report, documents);
    write_all(report, "four nodes", documents, "one");
    ask_for("failover 1");
    write_all(report, "after a failover", documents, "two");
    ask_for("respawn 1");
    write_all(report, "after a respawn", documents, "three");
    return report.failed() == 0 ? 0 : 1;
}
