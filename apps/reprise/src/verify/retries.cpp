#include <array>
#include <expected>
#include <future>

#include <fmt/format.h>

#include "verify/checks.hpp"

namespace reprise::app {

namespace {

using couchbase::durability_level;
using couchbase::errc;
using couchbase::retry_reason;
using namespace std::chrono_literals;

[[nodiscard]] bool names_reason(const couchbase::operation_trace& trace, retry_reason reason) {
    if (!trace.history) {
        return false;
    }
    const auto& entries = trace.history->entries;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (entries[i].reason_as<retry_reason>() == reason) {
            return true;
        }
    }
    return false;
}

// Stores a new document and locks it for longer than any check takes.
couchbase::cas store_and_lock(const verify_session& session, const std::string& key) {
    need(session.documents().upsert(key, couchbase::plain_text{"one"}));
    return need(session.documents().get_and_lock(key, 10s)).cas;
}

[[nodiscard]] check_outcome judge_timeout(const couchbase::error& error) {
    if (error.code() != couchbase::error_condition::timeout) {
        return judge(error);
    }
    const bool is_named_ambiguous = error.code() == make_error_code(errc::ambiguous_timeout);
    if (error.is_ambiguous() != is_named_ambiguous) {
        return failed("the error's name contradicts its ambiguity");
    }
    return error.history() != nullptr
               ? passed(fmt::format("{} retries in its history", error.retry_attempts()))
               : failed("no history");
}

// A second writer waits for the lock and succeeds once it is released; its history shows the
// reason.
check_outcome check_lock(verify_session& session) {
    const std::string key = session.key("lock");
    const auto& documents = session.documents();
    const auto lock = store_and_lock(session, key);
    session.decisions().forget();
    auto waiting = std::async(std::launch::async, [&documents, key] {
        return documents.upsert(key, couchbase::plain_text{"two"}, {.timeout = 8s});
    });
    // Waits for the decision, not for a fixed time: on a busy machine the writer may not have
    // started by then.
    const bool has_waited = session.decisions().wait_for(retry_reason::kv_locked, 8s);
    if (const auto unlocked = documents.unlock(key, lock); !unlocked) {
        waiting.wait();
        return judge(unlocked.error());
    }
    const auto written = need(waiting.get());
    if (!has_waited || !names_reason(written.trace, retry_reason::kv_locked)) {
        return failed("the writer did not wait for the lock");
    }
    return passed(fmt::format("{} retries, KV_LOCKED", written.trace.retry_attempts));
}

check_outcome check_wrong_unlock(verify_session& session) {
    const std::string key = session.key("unlock");
    const auto& documents = session.documents();
    const auto lock = store_and_lock(session, key);
    const auto outcome =
        expect_error(documents.unlock(key, couchbase::cas{lock.value + 1}), errc::cas_mismatch);
    const auto unlocked = documents.unlock(key, lock);
    return unlocked ? outcome : judge(unlocked.error());
}

// Under a lock that is not released, a timeout reports what happened. One attempt may be in flight
// at the timeout, which makes a write ambiguous; both results are correct as long as the error
// states which. On a busy machine the first answer may take longer than the timeout, and there is
// nothing to report; so a longer timeout follows.
check_outcome check_timeout(verify_session& session) {
    const std::string key = session.key("timeout");
    const auto& documents = session.documents();
    const auto lock = store_and_lock(session, key);
    check_outcome outcome;
    for (const auto timeout : {300ms, 1200ms, 4800ms}) {
        const auto written =
            documents.upsert(key, couchbase::plain_text{"two"}, {.timeout = timeout});
        if (written) {
            return failed("the write succeeded although the document was locked");
        }
        outcome = judge_timeout(written.error());
        if (written.error().history() != nullptr) {
            break;
        }
    }
    const auto unlocked = documents.unlock(key, lock);
    return unlocked ? outcome : judge(unlocked.error());
}

check_outcome check_durable(verify_session& session) {
    const std::string key = session.key("durable");
    const auto stored = session.documents().upsert(
        key, couchbase::plain_text{"one"}, {.durability = durability_level::majority});
    return stored ? passed("majority") : judge(stored.error());
}

check_outcome check_missing_collection(verify_session& session) {
    const auto missing = session.cluster()
                             .bucket(session.access().bucket)
                             .collection(fmt::format("none_{}", session.prefix().substr(8, 8)));
    return expect_error(missing.get("any"), errc::collection_not_found);
}

constexpr std::array retried{
    verify_check{"a writer waits for a lock", check_lock},
    verify_check{"unlock with a wrong CAS is refused", check_wrong_unlock},
    verify_check{"a timeout reports its attempts", check_timeout},
    verify_check{"durable write", check_durable},
    verify_check{"missing collection is reported at once", check_missing_collection},
};

}  // namespace

std::span<const verify_check> retry_checks() noexcept {
    return retried;
}

}  // namespace reprise::app
