#include "verify/load.hpp"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <reprise/json/parse.hpp>

#include "verify/load_audit.hpp"

namespace reprise::app {

namespace {

using couchbase::errc;
using couchbase::mutate_spec;
using sandbox::write_outcome;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr int writer_count = 4;
constexpr int steps_per_turn = 32;
constexpr int steps_per_insert = 8;
constexpr auto write_interval = 1000ms * writer_count / load_writes_per_second_max;
constexpr int read_tries = 4;

// Shared by the writers.
class load_book {
public:
    [[nodiscard]] std::uint64_t begin(const std::string& label) {
        const std::lock_guard lock(mutex_);
        ledger_.begin(++stamp_, label);
        return stamp_;
    }
    void audit(const turn_writes& writes, const turn_contents& found) {
        const std::lock_guard lock(mutex_);
        audit_turn(ledger_, writes, found);
    }
    /// Something that no broken connection or moving vbucket explains. The first one is reported.
    void note_trouble(check_outcome trouble) {
        const std::lock_guard lock(mutex_);
        trouble_ = trouble_ ? std::move(trouble_) : std::optional(std::move(trouble));
    }
    void note_retries(std::uint32_t count) {
        const std::lock_guard lock(mutex_);
        retries_ += count;
    }

    /// Once the writers have ended.
    [[nodiscard]] check_outcome judge_all() const {
        const sandbox::ledger_totals totals = ledger_.totals();
        const std::string text = fmt::format("{}; {} retries", to_string(totals), retries_);
        if (!totals.is_clean()) {
            const sandbox::ledger_finding& first = ledger_.findings().front();
            return failed(
                fmt::format("{}; first: {} in {}", text, to_string(first.fault), first.label));
        }
        if (trouble_) {
            check_outcome outcome = *trouble_;
            outcome.detail = fmt::format("{}; {}", text, outcome.detail);
            return outcome;
        }
        return totals.applied != 0 ? passed(text) : failed(text);
    }

private:
    std::mutex mutex_;
    sandbox::ledger ledger_;
    std::uint64_t stamp_ = 0;
    std::uint64_t retries_ = 0;
    std::optional<check_outcome> trouble_;
};

/// Errors that a node which is down, or has just returned, may cause.
[[nodiscard]] bool is_explained(const couchbase::error& error) {
    return error.is_ambiguous() || error.code() == couchbase::error_condition::timeout ||
           error.code() == make_error_code(errc::request_canceled) ||
           error.code() == make_error_code(errc::temporary_failure);
}

[[nodiscard]] std::optional<std::uint64_t> to_number(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    return code == std::errc{} && end == text.data() + text.size() ? std::optional(number)
                                                                   : std::nullopt;
}

[[nodiscard]] std::vector<std::uint64_t> to_stamps(std::string_view document) {
    std::vector<std::uint64_t> stamps;
    const auto parsed = json::parse(document);
    const json::value* list = parsed ? parsed->root.find("stamps") : nullptr;
    if (list != nullptr && list->as_array() != nullptr) {
        for (const json::value& each : *list->as_array()) {
            stamps.push_back(static_cast<std::uint64_t>(each.as_int64().value_or(0)));
        }
    }
    return stamps;
}

/// Works in turns. A turn whose writes all succeeded is read back and removed at once; a turn with
/// other results stays until the end of the load, because a write in doubt may be applied later.
class load_writer {
public:
    load_writer(
        const verify_session& session, load_book& book, const std::function<bool()>& is_stopping,
        int number)
        : documents_(session.documents()),
          book_(book),
          is_stopping_(is_stopping),
          prefix_(fmt::format("{}load-{}-", session.prefix(), number)) {}

    void run_until(clock::time_point end) {
        while (clock::now() < end && !is_stopping_()) {
            run_turn(end);
        }
        for (const turn& each : doubtful_) {
            close(each);
        }
    }
    /// Keys of documents that could not be removed.
    [[nodiscard]] const std::vector<std::string>& left() const noexcept { return left_; }

private:
    struct turn {
        std::string prefix;
        turn_writes writes;

        [[nodiscard]] std::string key(std::string_view name) const {
            return prefix + std::string(name);
        }
        [[nodiscard]] std::string insert_key(std::size_t index) const {
            return fmt::format("{}insert-{}", prefix, index);
        }
    };

    /// Runs one write, which gets the stamp, and returns how it ended.
    template <class Write>
    auto write(std::vector<stamped_write>& list, const std::string& key, const Write& operation) {
        pace();
        const std::uint64_t stamp = book_.begin(key);
        auto result = operation(stamp);
        list.push_back({stamp, write_outcome::applied});
        if (result) {
            book_.note_retries(result->trace.retry_attempts);
            return result;
        }
        const couchbase::error& error = result.error();
        list.back().outcome =
            error.is_ambiguous() ? write_outcome::unknown : write_outcome::not_applied;
        book_.note_retries(error.retry_attempts());
        if (!is_explained(error)) {
            book_.note_trouble(judge(error));
        }
        return result;
    }

    void run_turn(clock::time_point end) {
        turn now{fmt::format("{}{}-", prefix_, turn_count_++), {}};
        const std::string journal = now.key("journal");
        const std::string counter = now.key("counter");
        const auto made = documents_.upsert(journal, couchbase::json_text{R"({"stamps":[]})"});
        const auto counts = documents_.upsert(counter, couchbase::json_text{"0"});
        if (!made || !counts) {
            const couchbase::error& error = made ? counts.error() : made.error();
            if (!is_explained(error)) {
                book_.note_trouble(judge(error));
            }
            remove_documents(now);
            return;
        }
        replace_version(now);
        for (int step = 0; step < steps_per_turn && clock::now() < end; ++step) {
            (void)write(now.writes.journal, journal, [&](std::uint64_t stamp) {
                return documents_.mutate_in(journal, {mutate_spec::array_append("stamps", stamp)});
            });
            (void)write(now.writes.counter, counter, [&](std::uint64_t) {
                return documents_.increment(counter);
            });
            if (step % steps_per_insert == 0) {
                const std::string key = now.insert_key(now.writes.inserts.size());
                (void)write(now.writes.inserts, key, [&](std::uint64_t stamp) {
                    return documents_.insert(key, couchbase::json_text{std::to_string(stamp)});
                });
            }
        }
        if (now.writes.is_settled()) {
            close(now);
        } else {
            doubtful_.push_back(std::move(now));
        }
    }

    void replace_version(turn& now) {
        const std::string key = now.key("version");
        const auto first = write(now.writes.versions, key, [&](std::uint64_t stamp) {
            return documents_.upsert(key, couchbase::json_text{std::to_string(stamp)});
        });
        if (!first) {
            return;
        }
        (void)write(now.writes.versions, key, [&](std::uint64_t stamp) {
            return documents_.replace(
                key, couchbase::json_text{std::to_string(stamp)}, {.cas = first->cas});
        });
        const auto stale = documents_.replace(key, couchbase::json_text{"0"}, {.cas = first->cas});
        if (stale) {
            book_.note_trouble(failed(key + " was replaced with an old CAS"));
        }
    }

    /// The text of a document, empty if it does not exist. Nothing if it cannot be read.
    [[nodiscard]] std::optional<std::string> read(const std::string& key) {
        for (int tries = 1;; ++tries) {
            const auto found = documents_.get(key);
            if (found) {
                return std::string(found->text());
            }
            if (found.error().code() == make_error_code(errc::document_not_found)) {
                return std::string();
            }
            if (tries == read_tries) {
                book_.note_trouble(judge(found.error()));
                return std::nullopt;
            }
        }
    }

    /// Reads a turn back, enters it into the ledger and removes its documents.
    void close(const turn& ended) {
        turn_contents found;
        const auto journal = read(ended.key("journal"));
        const auto counter = read(ended.key("counter"));
        const auto version = read(ended.key("version"));
        bool is_read = journal && counter && version;
        for (std::size_t at = 0; at < ended.writes.inserts.size(); ++at) {
            const auto text = read(ended.insert_key(at));
            is_read = is_read && text.has_value();
            found.inserts.push_back(to_number(text.value_or("")));
        }
        if (is_read) {
            found.journal = to_stamps(*journal);
            found.counter = to_number(*counter).value_or(0);
            found.version = to_number(*version);
            book_.audit(ended.writes, found);
        }
        remove_documents(ended);
    }

    void remove_documents(const turn& ended) {
        for (const std::string_view name : {"journal", "counter", "version"}) {
            remove(ended.key(name));
        }
        for (std::size_t at = 0; at < ended.writes.inserts.size(); ++at) {
            remove(ended.insert_key(at));
        }
    }

    void remove(const std::string& key) {
        const auto removed = documents_.remove(key);
        if (!removed && removed.error().code() != make_error_code(errc::document_not_found)) {
            left_.push_back(key);
        }
    }

    /// A writer that falls behind does not catch up.
    void pace() {
        next_ = std::max(next_ + write_interval, clock::now());
        std::this_thread::sleep_until(next_);
    }

    couchbase::collection documents_;
    load_book& book_;
    const std::function<bool()>& is_stopping_;
    std::string prefix_;
    clock::time_point next_ = clock::now();
    int turn_count_ = 0;
    std::vector<turn> doubtful_;
    std::vector<std::string> left_;
};

}  // namespace

check_outcome run_load(
    verify_session& session, std::chrono::seconds time, const std::function<bool()>& is_stopping) {
    load_book book;
    std::vector<load_writer> writers;
    writers.reserve(writer_count);
    for (int number = 0; number < writer_count; ++number) {
        writers.emplace_back(session, book, is_stopping, number);
    }
    {
        const auto end = clock::now() + time;
        std::vector<std::jthread> threads;
        threads.reserve(writer_count);
        for (load_writer& each : writers) {
            threads.emplace_back([&each, end] { each.run_until(end); });
        }
    }
    for (const load_writer& each : writers) {
        for (const std::string& key : each.left()) {
            session.remove_later(key);
        }
    }
    return book.judge_all();
}

}  // namespace reprise::app
