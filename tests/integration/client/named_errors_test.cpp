#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "live_cluster.hpp"

// Errors that only a person can fix are reported by name as soon as the server has answered, with
// every attempt listed, for reads and writes. The test records how long this took after the
// server's answer, as information.

namespace named_errors_test {

using namespace live;
using couchbase::errc;
using couchbase::retry_reason;
using reprise::wire::opcode;
using reprise::wire::status;

struct named_case {
    const char* name;
    errc code;
    retry_reason reason;
    // The answer with which the server reports it. Empty: the handshake fails.
    opcode answered_op;
    status answer;
    std::function<void(sandbox::server_options&)> server;
    std::function<void(couchbase::cluster_options&)> client;
    std::function<couchbase::collection(const couchbase::cluster&)> open;
};

void PrintTo(const named_case& each, std::ostream* out) {
    *out << each.name;
}

std::vector<named_case> all_cases() {
    const auto nothing = [](auto&) {};
    return {
        {"wrong_password", errc::authentication_failure, retry_reason::authentication_error,
         opcode::sasl_step, status::auth_error, nothing, [](auto& to) { to.password = "wrong"; },
         documents},
        {"unknown_user", errc::authentication_failure, retry_reason::authentication_error,
         opcode::sasl_step, status::auth_error, nothing, [](auto& to) { to.username = "nobody"; },
         documents},
        {"untrusted_certificate", errc::tls_failure, retry_reason::tls_error, opcode::noop,
         status::success,
         [](auto& to) {
             to.tls.is_enabled = true;
             to.tls.fault = sandbox::certificate_fault::untrusted;
         },
         nothing, documents},
        {"missing_bucket", errc::bucket_access_failure, retry_reason::bucket_access_error,
         opcode::select_bucket, status::eaccess, nothing, nothing,
         [](const couchbase::cluster& at) { return at.bucket("nowhere").default_collection(); }},
        {"denied_bucket", errc::bucket_access_failure, retry_reason::bucket_access_error,
         opcode::select_bucket, status::eaccess,
         [](auto& to) { to.cluster.users.front().buckets = {"another"}; }, nothing, documents},
        {"missing_scope", errc::scope_not_found, retry_reason::scope_not_found,
         opcode::get_collection_id, status::unknown_scope, nothing, nothing,
         [](const couchbase::cluster& at) {
             return at.bucket(bucket_name).scope("nowhere").collection("airline");
         }},
        {"missing_collection", errc::collection_not_found, retry_reason::collection_not_found,
         opcode::get_collection_id, status::unknown_collection, nothing, nothing,
         [](const couchbase::cluster& at) {
             return at.bucket(bucket_name).scope("inventory").collection("nothing");
         }},
    };
}

class named_errors : public ::testing::TestWithParam<named_case> {
protected:
    named_errors() : server_(start(options())), cluster_(make_client()) {}

    static sandbox::server_options options() {
        auto made = small_options();
        GetParam().server(made);
        return made;
    }
    couchbase::cluster make_client() const {
        auto with = app_options();
        with.kv_timeout = 60s;
        GetParam().client(with);
        const auto& where = server_->addresses();
        const bool is_tls = !where.connection_string_tls.empty();
        if (is_tls) {
            with.tls.ca_file = where.ca_path;
        }
        return couchbase::cluster::connect(
                   is_tls ? where.connection_string_tls : where.connection_string, with)
            .value();
    }
    // The answers with which the server reports it, oldest first.
    std::vector<sandbox::audit_entry> answers() const {
        std::vector<sandbox::audit_entry> found;
        server_->with_cluster([&](sandbox::cluster& cluster) {
            sandbox::audit_filter filter;
            filter.op = GetParam().answered_op;
            filter.status = GetParam().answer;
            found = cluster.audit().entries(filter);
        });
        return found;
    }
    std::size_t data_requests() const {
        std::size_t count = 0;
        server_->with_cluster([&](sandbox::cluster& cluster) {
            for (const opcode op : {opcode::get, opcode::set}) {
                sandbox::audit_filter filter;
                filter.op = op;
                count += cluster.audit().count(filter);
            }
        });
        return count;
    }
    void expect_named(const couchbase::error& failed) const {
        EXPECT_EQ(failed.code(), GetParam().code) << failed;
        EXPECT_FALSE(failed.is_ambiguous());
        ASSERT_NE(failed.history(), nullptr) << failed;
        const auto& entries = failed.history()->entries;
        ASSERT_GE(entries.size(), 1U);
        const auto& last = entries[entries.size() - 1];
        EXPECT_EQ(last.reason_as<retry_reason>(), GetParam().reason) << failed;
        EXPECT_EQ(last.refusal(), reprise::refusal_reason::strategy_refused);
        EXPECT_EQ(entries.total(), failed.retry_attempts() + 1) << "every attempt is listed";
        EXPECT_NE(failed.message().find(to_string(GetParam().reason)), std::string::npos);
    }

    std::unique_ptr<sandbox::embedded_cluster> server_;
    couchbase::cluster cluster_;
};

TEST_P(named_errors, RH_08_RH_38_reads_and_writes_report_the_error_with_every_attempt) {
    const auto at = GetParam().open(cluster_);
    const auto read = at.get("k");
    const auto reported_at = std::chrono::system_clock::now();
    ASSERT_FALSE(read);
    expect_named(read.error());
    if (GetParam().answered_op != opcode::noop) {
        const auto seen = answers();
        ASSERT_FALSE(seen.empty()) << "reported before the server's answer";
        const auto after =
            std::chrono::duration_cast<std::chrono::microseconds>(reported_at - seen.front().time);
        RecordProperty("microseconds_from_answer_to_error", static_cast<int>(after.count()));
    }
    // The state persists: the next call fails without another request.
    const auto stored = must_fail(at.upsert("k", "v"));
    expect_named(stored);
    EXPECT_EQ(data_requests(), 0U) << "nothing was sent";
}

TEST_P(named_errors, RH_38_best_effort_waits_until_the_timeout_which_names_the_reason) {
    const auto at = GetParam().open(cluster_);
    ASSERT_FALSE(at.get("k")) << "the state is set now";
    const auto read = must_fail(at.get(
        "k", {.timeout = 300ms, .strategy = std::make_shared<couchbase::best_effort_strategy>()}));
    EXPECT_EQ(read.code(), errc::unambiguous_timeout) << read;
    EXPECT_TRUE(read.retry_reasons().contains(GetParam().reason)) << read;
}

INSTANTIATE_TEST_SUITE_P(
    with, named_errors, ::testing::ValuesIn(all_cases()),
    [](const auto& each) { return std::string(each.param.name); });

}  // namespace named_errors_test
