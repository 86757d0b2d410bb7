#include <algorithm>
#include <array>
#include <thread>

#include <fmt/format.h>

#include "verify/checks.hpp"

namespace reprise::app {

namespace {

using couchbase::errc;
using couchbase::service_kind;
using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr auto call_timeout = 20s;
// How long the nodes of a cluster may take to learn about a new scope or index.
constexpr auto spread_time_max = 20s;
constexpr auto spread_poll = 100ms;

// Repeats a call while it fails with one of these errors, until the new object is on all nodes.
template <class Call>
[[nodiscard]] auto repeat_while(std::initializer_list<errc> codes, const Call& call) {
    const auto end = clock::now() + spread_time_max;
    auto result = call();
    while (!result && clock::now() < end && std::ranges::any_of(codes, [&](errc each) {
        return result.error().code() == make_error_code(each);
    })) {
        std::this_thread::sleep_for(spread_poll);
        result = call();
    }
    return result;
}

check_outcome check_bucket_settings(verify_session& session) {
    session.require(service_kind::management);
    const auto found = need_privileged(
        session.cluster().buckets().get(session.access().bucket, {.timeout = call_timeout}));
    return found.bucket.name == session.access().bucket ? passed()
                                                        : failed("returned another bucket");
}

// A scope of this run with one collection, removed with everything in it.
struct own_scope {
    std::string scope;
    couchbase::collection documents;
};

constexpr std::string_view own_collection = "verify";

[[nodiscard]] own_scope make_scope(verify_session& session) {
    session.require(service_kind::management);
    const std::string scope = session.name("scope").substr(0, 30);
    const auto manager = session.bucket().collections();
    session.undo_later(
        "scope " + scope, [manager, scope]() -> std::expected<void, couchbase::error> {
            const auto dropped = manager.drop_scope(scope, {.timeout = call_timeout});
            if (!dropped && dropped.error().code() != make_error_code(errc::scope_not_found)) {
                return std::unexpected(dropped.error());
            }
            return {};
        });
    need_privileged(manager.create_scope(scope, {.timeout = call_timeout}));
    need_privileged(repeat_while({errc::scope_not_found}, [&] {
        return manager.create_collection(
            {.scope = scope, .name = std::string(own_collection)}, {.timeout = call_timeout});
    }));
    return {scope, session.bucket().scope(scope).collection(own_collection)};
}

[[nodiscard]] auto store_patiently(const couchbase::collection& documents, std::string_view key) {
    return repeat_while({errc::collection_not_found, errc::scope_not_found}, [&] {
        return documents.upsert(key, couchbase::json_text{R"({"name":"one"})"});
    });
}

check_outcome check_collections(verify_session& session) {
    const auto own = make_scope(session);
    need(store_patiently(own.documents, "own"));
    const auto manager = session.bucket().collections();
    const auto listed = need_privileged(manager.list({.timeout = call_timeout}));
    const auto found =
        std::ranges::find(listed.scopes, own.scope, &couchbase::scope_settings::name);
    if (found == listed.scopes.end() || found->collections.size() != 1) {
        return failed("the list lacks the new scope or its collection");
    }
    need_privileged(manager.drop_collection(own.scope, own_collection, {.timeout = call_timeout}));
    return expect_error(
        manager.drop_collection(own.scope, own_collection, {.timeout = call_timeout}),
        errc::collection_not_found);
}

[[nodiscard]] std::string state_of(
    const std::expected<couchbase::query_index_list_result, couchbase::error>& indexes,
    std::string_view name) {
    if (!indexes) {
        return "not listed";
    }
    const auto found = std::ranges::find(indexes->indexes, name, &couchbase::query_index::name);
    return found == indexes->indexes.end() ? "not listed" : found->state;
}

// The index is in a collection of this run, because build_deferred builds every deferred index of
// its collection.
check_outcome check_indexes(verify_session& session) {
    session.require(service_kind::query);
    const auto own = make_scope(session);
    need(store_patiently(own.documents, "own"));
    const auto indexes = own.documents.query_indexes();
    const std::string name = session.name("index");
    const couchbase::query_index wanted{.name = name, .keys = {"name"}, .is_deferred = true};
    // The query service may not have the collection yet.
    need_privileged(repeat_while(
        {errc::collection_not_found, errc::scope_not_found, errc::index_failure,
         errc::planning_failure},
        [&] { return indexes.create(wanted, {.timeout = call_timeout}); }));
    session.undo_later("index " + name, [indexes, name]() -> std::expected<void, couchbase::error> {
        const auto dropped = indexes.drop(name, {.timeout = call_timeout});
        if (!dropped && dropped.error().code() != make_error_code(errc::index_not_found)) {
            return std::unexpected(dropped.error());
        }
        return {};
    });
    if (const auto again =
            expect_error(indexes.create(wanted, {.timeout = call_timeout}), errc::index_exists);
        again.state != check_state::ok) {
        return again;
    }
    if (const auto state = state_of(indexes.list({.timeout = call_timeout}), name);
        state != "deferred") {
        return failed("a deferred index is " + state);
    }
    need_privileged(indexes.build_deferred({.timeout = call_timeout}));
    need(indexes.watch({name}, 60s));
    const auto rows = need_privileged(session.bucket().scope(own.scope).query(
        fmt::format("SELECT RAW META(d).id FROM `{}` AS d WHERE d.name = $name", own_collection),
        {.timeout = call_timeout,
         .readonly = true,
         .named = {{"name", "one"}},
         .consistency = couchbase::scan_consistency::request_plus}));
    return rows.rows.size() == 1 && rows.rows[0].text() == R"("own")"
               ? passed("deferred, built, used")
               : failed("the index found other rows");
}

constexpr std::array managing{
    verify_check{"bucket settings", check_bucket_settings},
    verify_check{"scopes and collections", check_collections},
    verify_check{"query indexes of a collection", check_indexes},
};

}  // namespace

std::span<const verify_check> management_checks() noexcept {
    return managing;
}

}  // namespace reprise::app
