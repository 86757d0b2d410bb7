#include <array>

#include <fmt/format.h>

#include "verify/checks.hpp"

namespace reprise::app {

namespace {

using couchbase::errc;
using couchbase::service_kind;
using namespace std::chrono_literals;

constexpr auto service_timeout = 20s;

// Reads by key need no index.
check_outcome check_query(verify_session& session) {
    session.require(service_kind::query);
    const std::string key = session.key("query");
    need(session.documents().upsert(key, couchbase::json_text{R"({"name":"one"})"}));
    const std::string statement =
        fmt::format("SELECT RAW d.name FROM {} AS d USE KEYS $key", session.keyspace());
    for (const bool adhoc : {true, false, false}) {
        const auto rows = need_privileged(session.cluster().query(
            statement, {.timeout = service_timeout,
                        .readonly = true,
                        .adhoc = adhoc,
                        .named = {{"key", key}}}));
        if (rows.rows.size() != 1 || rows.rows[0].text() != R"("one")") {
            return failed("read other rows");
        }
    }
    return passed("ad hoc and prepared");
}

check_outcome check_query_stream(verify_session& session) {
    session.require(service_kind::query);
    auto stream = need_privileged(session.cluster().query_stream(
        "SELECT RAW $1", {.timeout = service_timeout, .readonly = true, .positional = {7}}));
    std::string rows;
    for (const auto& row : stream) {
        if (!row) {
            return judge_privileged(row.error());
        }
        rows += row->text();
    }
    return rows == "7" ? passed() : failed("read other rows: " + rows);
}

check_outcome check_wrong_statement(verify_session& session) {
    session.require(service_kind::query);
    return expect_error(
        session.cluster().query("SELEC 1", {.timeout = service_timeout}), errc::parsing_failure);
}

check_outcome check_analytics(verify_session& session) {
    session.require(service_kind::analytics);
    const auto rows = need_privileged(session.cluster().analytics_query(
        "SELECT VALUE 3 + 4;", {.timeout = service_timeout, .readonly = true}));
    return rows.rows.size() == 1 && rows.rows[0].text() == "7" ? passed()
                                                               : failed("read other rows");
}

// An index of its own would index the whole bucket, so only the refusal is checked.
check_outcome check_search(verify_session& session) {
    session.require(service_kind::search);
    const auto hits = session.cluster().search(
        session.name("none"), couchbase::search_query::match_all(), {.timeout = service_timeout});
    if (!hits && hits.error().code() == make_error_code(errc::authentication_failure)) {
        return judge_privileged(hits.error());
    }
    return expect_error(hits, errc::index_not_found);
}

// As for search.
check_outcome check_views(verify_session& session) {
    session.require(service_kind::views);
    const auto rows =
        session.bucket().view_query(session.name("none"), "none", {.timeout = service_timeout});
    if (!rows && rows.error().code() == make_error_code(errc::authentication_failure)) {
        return judge_privileged(rows.error());
    }
    if (!rows && rows.error().code() == make_error_code(errc::design_document_not_found)) {
        return passed(std::string(to_string(errc::design_document_not_found)));
    }
    return expect_error(rows, errc::view_not_found);
}

constexpr std::array service_check_rows{
    verify_check{"query by key", check_query},
    verify_check{"query stream", check_query_stream},
    verify_check{"wrong statement is reported at once", check_wrong_statement},
    verify_check{"analytics query", check_analytics},
    verify_check{"missing search index is reported at once", check_search},
    verify_check{"missing view is reported at once", check_views},
};

}  // namespace

std::span<const verify_check> service_checks() noexcept {
    return service_check_rows;
}

}  // namespace reprise::app
