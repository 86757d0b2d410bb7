#include <array>
#include <thread>

#include <fmt/format.h>

#include "verify/checks.hpp"

namespace reprise::app {

namespace {

using couchbase::errc;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

check_outcome check_store_and_read(verify_session& session) {
    const std::string key = session.key("store");
    need(session.documents().upsert(key, couchbase::plain_text{"one"}));
    const auto read = need(session.documents().get(key));
    return read.text() == "one" ? passed() : failed("read a different value");
}

check_outcome check_insert(verify_session& session) {
    const std::string key = session.key("insert");
    need(session.documents().insert(key, couchbase::plain_text{"one"}));
    return expect_error(
        session.documents().insert(key, couchbase::plain_text{"two"}), errc::document_exists);
}

check_outcome check_cas(verify_session& session) {
    const std::string key = session.key("cas");
    const auto first = need(session.documents().upsert(key, couchbase::plain_text{"one"}));
    need(session.documents().replace(key, couchbase::plain_text{"two"}, {.cas = first.cas}));
    return expect_error(
        session.documents().replace(key, couchbase::plain_text{"three"}, {.cas = first.cas}),
        errc::cas_mismatch);
}

check_outcome check_remove(verify_session& session) {
    const std::string key = session.key("remove");
    need(session.documents().upsert(key, couchbase::plain_text{"one"}));
    need(session.documents().remove(key));
    return expect_error(session.documents().get(key), errc::document_not_found);
}

check_outcome check_exists(verify_session& session) {
    const std::string key = session.key("exists");
    const auto before = session.documents().exists(key);
    need(session.documents().upsert(key, couchbase::plain_text{"one"}));
    const auto after = session.documents().exists(key);
    if (!before || !after) {
        return judge(before ? after.error() : before.error());
    }
    return !before->exists && after->exists ? passed() : failed("exists returned the wrong result");
}

check_outcome check_missing_document(verify_session& session) {
    const std::string key = session.key("missing");
    return expect_error(session.documents().get(key), errc::document_not_found);
}

check_outcome check_append(verify_session& session) {
    const std::string key = session.key("append");
    const auto bytes = [](std::string_view text) { return std::as_bytes(std::span{text}); };
    const auto& documents = session.documents();
    need(documents.upsert(key, couchbase::plain_text{"b"}));
    const auto appended = documents.append(key, bytes("c"));
    const auto prepended = documents.prepend(key, bytes("a"));
    if (!appended || !prepended) {
        return judge(appended ? prepended.error() : appended.error());
    }
    const auto read = documents.get(key);
    return read && read->text() == "abc" ? passed() : failed("the value is not abc");
}

check_outcome check_counters(verify_session& session) {
    const std::string key = session.key("counter");
    const auto& documents = session.documents();
    const auto made = need(documents.increment(key, {.initial = 10}));
    const auto up = documents.increment(key, {.delta = 5});
    const auto down = documents.decrement(key, {.delta = 100});
    if (!up || !down) {
        return judge(up ? down.error() : up.error());
    }
    return made.value == 10 && up->value == 15 && down->value == 0
               ? passed("10, 15, 0")
               : failed(fmt::format("{}, {}, {}", made.value, up->value, down->value));
}

// Stores a document for a minute and shortens that to a second, so that it disappears in time only
// if touch works. The other way round, the document might disappear before the touch, because
// servers count whole seconds.
check_outcome check_expiry(verify_session& session) {
    const std::string key = session.key("expiry");
    const auto& documents = session.documents();
    need(documents.upsert(key, couchbase::plain_text{"one"}, {.expiry = 60s}));
    need(documents.get_and_touch(key, 1s));
    const auto start = clock::now();
    while (clock::now() - start < 8s) {
        std::this_thread::sleep_for(100ms);
        const auto found = documents.get(key);
        if (!found && found.error().code() == make_error_code(errc::document_not_found)) {
            return passed("expired in time");
        }
    }
    return failed("still exists after 8 s");
}

check_outcome check_subdocument(verify_session& session) {
    using couchbase::lookup_spec;
    using couchbase::mutate_spec;
    const std::string key = session.key("paths");
    const auto& documents = session.documents();
    const couchbase::json_text document{R"({"name":"one","count":1})"};
    need(documents.upsert(key, document));
    need(documents.mutate_in(
        key, {mutate_spec::upsert("name", "two"), mutate_spec::increment("count")}));
    const auto seen = need(documents.lookup_in(
        key, {lookup_spec::get("name"), lookup_spec::get("count"), lookup_spec::get("nothing")}));
    const auto name = seen.content(0);
    const bool is_right = name && name->text() == "\"two\"" && !seen.paths[1].code &&
                          seen.paths[2].code == make_error_code(errc::path_not_found);
    return is_right ? passed() : failed("read different values");
}

constexpr std::array documents_of_all_kinds{
    verify_check{"upsert and get", check_store_and_read},
    verify_check{"second insert is refused", check_insert},
    verify_check{"replace with an old CAS is refused", check_cas},
    verify_check{"remove", check_remove},
    verify_check{"exists", check_exists},
    verify_check{"missing document is reported at once", check_missing_document},
    verify_check{"append and prepend", check_append},
    verify_check{"counters", check_counters},
    verify_check{"expiry", check_expiry},
    verify_check{"sub-document", check_subdocument},
};

}  // namespace

std::span<const verify_check> document_checks() noexcept {
    return documents_of_all_kinds;
}

}  // namespace reprise::app
