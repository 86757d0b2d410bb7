#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "live_cluster.hpp"
#include "write_ledger.hpp"

// Every fault of the sandbox, with a request that may be repeated and one that may not: the error
// for the user, how often the request was sent, and what the server applied according to its audit.
// In every case the results match the audit, and the client works afterwards.

namespace fault_table_test {

using namespace live;
using couchbase::errc;
using couchbase::retry_reason;
using reprise::wire::opcode;
using reprise::wire::status;

// The expected result.
struct outcome {
    std::optional<errc> code{};  // absent: success
    bool is_ambiguous = false;
    // A reason that must be in the history. Empty: nothing may have been retried.
    std::optional<retry_reason> reason{};
};

struct fault_case {
    const char* name;
    std::function<void(sandbox::cluster&)> disturb;
    outcome read;
    outcome write;
    // For the write: how many requests reached a server (empty: not counted), and how many were
    // applied when the call returned.
    std::optional<std::size_t> request_count{};
    std::size_t applied_count = 0;
    // The client connects after the fault has started.
    bool is_fresh = false;
    bool is_tls = false;
    reprise::duration timeout = 20s;
};

void PrintTo(const fault_case& each, std::ostream* out) {
    *out << each.name;
}

// Applies the rule to this many reads and writes of documents.
std::function<void(sandbox::cluster&)> rule(
    sandbox::fault_effect effect, std::optional<std::uint64_t> limit) {
    return [=](sandbox::cluster& cluster) {
        for (const opcode op : {opcode::get, opcode::set}) {
            auto made = fault(op, effect);
            made.when.limit = limit;
            cluster.faults().add(made);
        }
    };
}

std::function<void(sandbox::cluster&)> answers(status code, std::uint64_t count) {
    return rule(sandbox::fault_status{code, {}}, count);
}

// Applies the same fault to every node.
std::function<void(sandbox::cluster&)> nodes(
    std::function<void(sandbox::node_disturbance&)> change) {
    return [=](sandbox::cluster& cluster) {
        for (const auto node : cluster.topology().nodes()) {
            sandbox::node_disturbance how;
            change(how);
            EXPECT_TRUE(cluster.disturbances().set(node, how));
        }
    };
}

std::function<void(sandbox::cluster&)> tls(sandbox::tls_disturbance kind) {
    return nodes([=](auto& how) { how.tls = kind; });
}

outcome fine() {
    return {};
}
outcome fine_after(retry_reason reason) {
    return {{}, false, reason};
}
outcome refused(errc code) {
    return {code, false, {}};
}
outcome waited_in_vain(errc code, retry_reason reason) {
    return {code, false, reason};
}
outcome ambiguous(errc code) {
    return {code, true, {}};
}

std::vector<fault_case> answered_cases() {
    using reason = retry_reason;
    return {
        {"temporary_failure", answers(status::etmpfail, 2),
         fine_after(reason::kv_temporary_failure), fine_after(reason::kv_temporary_failure), 3, 1},
        {"locked", answers(status::locked, 2), fine_after(reason::kv_locked),
         fine_after(reason::kv_locked), 3, 1},
        {"not_my_vbucket", answers(status::not_my_vbucket, 2),
         fine_after(reason::kv_not_my_vbucket), fine_after(reason::kv_not_my_vbucket), 3, 1},
        {"sync_write_in_progress", answers(status::sync_write_in_progress, 2),
         fine_after(reason::kv_sync_write_in_progress),
         fine_after(reason::kv_sync_write_in_progress), 3, 1},
        {"sync_write_re_commit", answers(status::sync_write_re_commit_in_progress, 2),
         fine_after(reason::kv_sync_write_re_commit_in_progress),
         fine_after(reason::kv_sync_write_re_commit_in_progress), 3, 1},
        {"no_memory", answers(status::enomem, 1), refused(errc::temporary_failure),
         refused(errc::temporary_failure), 1, 0},
        {"internal_error", answers(status::einternal, 1), refused(errc::internal_server_failure),
         refused(errc::internal_server_failure), 1, 0},
        {"no_access", answers(status::eaccess, 1), refused(errc::authentication_failure),
         refused(errc::authentication_failure), 1, 0},
        {"unknown_code", answers(status{0x7fe0}, 1), refused(errc::unknown_server_status),
         refused(errc::unknown_server_status), 1, 0},
        {"ambiguous_sync_write", answers(status::sync_write_ambiguous, 1),
         refused(errc::durability_ambiguous), ambiguous(errc::durability_ambiguous), 1, 0},
        {"late", rule(sandbox::fault_delay{30ms}, 1), fine(), fine(), 1, 1},
        {"twice", rule(sandbox::fault_answer_twice{}, 1), fine(), fine(), 1, 1},
        {"byte_by_byte", rule(sandbox::fault_trickle{100us}, 1), fine(), fine(), 1, 1},
    };
}

std::vector<fault_case> broken_cases() {
    using reason = retry_reason;
    const auto lost = ambiguous(errc::request_canceled);
    const auto read_again = fine_after(reason::socket_closed_while_in_flight);
    const auto silence = refused(errc::unambiguous_timeout);
    const auto unknown = ambiguous(errc::ambiguous_timeout);
    return {
        {.name = "never",
         .disturb = rule(sandbox::fault_no_answer{}, 1),
         .read = silence,
         .write = unknown,
         .request_count = 1,
         .applied_count = 1,
         .timeout = 200ms},
        {"wrong_opaque", rule(sandbox::fault_wrong_opaque{}, 1), read_again, lost, 1, 1},
        {"closed_before", rule(sandbox::fault_close_before{}, 1), read_again, lost, 1, 0},
        {"closed_after", rule(sandbox::fault_close_after{}, 1), read_again, lost, 1, 1},
        {"truncated", rule(sandbox::fault_truncate{}, 1), read_again, lost, 1, 1},
        {"cut_off_at_once", rule(sandbox::fault_truncate{0}, 1), read_again, lost, 1, 1},
        {"garbage", rule(sandbox::fault_garbage{}, 1), read_again, lost, 1, 1},
        {"long_garbage", rule(sandbox::fault_garbage{100'000}, 1), read_again, lost, 1, 1},
        {.name = "frozen_nodes",
         .disturb = nodes([](auto& how) { how.is_frozen = true; }),
         .read = silence,
         .write = unknown,
         .timeout = 200ms},
        {.name = "partitioned_nodes",
         .disturb = nodes([](auto& how) { how.is_partitioned = true; }),
         .read = silence,
         .write = unknown,
         .timeout = 200ms},
        {.name = "killed_nodes",
         .disturb =
             [](sandbox::cluster& cluster) {
                 for (const auto node : cluster.topology().nodes()) {
                     EXPECT_TRUE(cluster.topology().kill(node));
                 }
             },
         .read = waited_in_vain(errc::unambiguous_timeout, reason::node_not_available),
         .write = waited_in_vain(errc::unambiguous_timeout, reason::node_not_available),
         .request_count = 0,
         .timeout = 400ms},
        {"refused_connections", nodes([](auto& how) { how.refuses_connections = true; }), fine(),
         fine(), 1, 1},
        {"rejected_credentials", nodes([](auto& how) { how.rejects_credentials = true; }), fine(),
         fine(), 1, 1},
        {"corrupt_configuration", nodes([](auto& how) { how.is_configuration_corrupt = true; }),
         fine(), fine(), 1, 1},
    };
}

// Faults that only affect a new connection.
std::vector<fault_case> fresh_cases() {
    using reason = retry_reason;
    using sandbox::tls_disturbance;
    const auto unreachable = waited_in_vain(errc::unambiguous_timeout, reason::node_not_available);
    const auto silent = refused(errc::unambiguous_timeout);
    std::vector<fault_case> cases{
        {"no_listeners", nodes([](auto& how) { how.refuses_connections = true; }), unreachable,
         unreachable, 0, 0},
        {"silent_nodes", nodes([](auto& how) { how.is_frozen = true; }), silent, silent, 0, 0},
        {"unreachable_nodes", nodes([](auto& how) { how.is_partitioned = true; }), silent, silent,
         0, 0},
        {"wrong_credentials", nodes([](auto& how) { how.rejects_credentials = true; }),
         refused(errc::authentication_failure), refused(errc::authentication_failure), 0, 0},
        {"denied_bucket",
         [](sandbox::cluster& cluster) {
             EXPECT_TRUE(cluster.buckets().deny(bucket_name, "app", true));
         },
         refused(errc::bucket_access_failure), refused(errc::bucket_access_failure), 0, 0},
        {"absent_bucket",
         [](sandbox::cluster& cluster) {
             for (const auto node : cluster.topology().nodes()) {
                 EXPECT_TRUE(cluster.buckets().set_presence(
                     node, bucket_name, sandbox::bucket_presence::absent));
             }
         },
         refused(errc::bucket_access_failure), refused(errc::bucket_access_failure), 0, 0},
        {"corrupt_error_map", nodes([](auto& how) { how.is_error_map_corrupt = true; }), fine(),
         fine(), 1, 1},
    };
    for (auto& each : cases) {
        const bool ends_late = each.read.code == errc::unambiguous_timeout;
        each.timeout = ends_late ? 300ms : 20s;
    }
    for (const auto& [name, kind] : std::vector<std::pair<const char*, tls_disturbance>>{
             {"untrusted_certificate", tls_disturbance::untrusted},
             {"certificate_of_another_host", tls_disturbance::wrong_host},
             {"expired_certificate", tls_disturbance::expired},
             {"handshake_alert", tls_disturbance::alert}}) {
        cases.push_back(
            {name, tls(kind), refused(errc::tls_failure), refused(errc::tls_failure), 0, 0});
        cases.back().is_tls = true;
    }
    cases.push_back(
        {"handshake_reset", tls(tls_disturbance::reset), unreachable, unreachable, 0, 0});
    cases.back().is_tls = true;
    cases.back().timeout = 300ms;
    for (auto& each : cases) {
        each.is_fresh = true;
    }
    return cases;
}

class fault_table : public ::testing::TestWithParam<fault_case> {
protected:
    fault_table() : server_(start(options())), books_(*server_) {
        connect_if(!GetParam().is_fresh);
        if (!GetParam().is_fresh) {
            EXPECT_TRUE(at().upsert("old", "value"));
            EXPECT_TRUE(at().upsert("new", "before"));
        }
        server_->with_cluster(GetParam().disturb);
        connect_if(GetParam().is_fresh);
        await_end_if_killed();
        server_->with_cluster(
            [&](sandbox::cluster& cluster) { seen_ = cluster.audit().request_count(); });
    }

    static sandbox::server_options options() {
        auto made = small_options();
        made.tls.is_enabled = GetParam().is_tls;
        return made;
    }
    void connect_if(bool is_now) {
        if (!is_now) {
            return;
        }
        auto with = app_options();
        const auto& where = server_->addresses();
        if (GetParam().is_tls) {
            with.tls.ca_file = where.ca_path;
        }
        cluster_ =
            couchbase::cluster::connect(
                GetParam().is_tls ? where.connection_string_tls : where.connection_string, with)
                .value();
    }
    // A request that was written before the reset is noticed would end differently.
    void await_end_if_killed() {
        if (std::string_view(GetParam().name) == "killed_nodes") {
            (void)await([&] { return cluster_->statistics()->connections_open == 0; });
        }
    }
    couchbase::collection at() const { return documents(*cluster_); }

    template <class Result>
    static void expect_reported(const Result& result, const outcome& expected) {
        if (expected.code) {
            ASSERT_FALSE(result);
            EXPECT_EQ(result.error().code(), *expected.code) << result.error();
        } else {
            ASSERT_TRUE(result) << words(result);
        }
    }
    // Finds the reasons of all retries, wherever the result keeps them.
    static void expect_reason(const couchbase::retry_history* history, const outcome& expected) {
        if (!expected.reason) {
            return;
        }
        ASSERT_NE(history, nullptr);
        bool is_there = false;
        for (std::size_t at = 0; at < history->entries.size(); ++at) {
            is_there =
                is_there || history->entries[at].reason_as<retry_reason>() == *expected.reason;
        }
        EXPECT_TRUE(is_there) << to_string(*history);
    }
    std::size_t count(std::optional<bool> is_applied) {
        std::size_t found = 0;
        server_->with_cluster([&](sandbox::cluster& cluster) {
            sandbox::audit_filter filter;
            filter.op = opcode::set;
            filter.key_pattern = "new";
            filter.is_applied = is_applied;
            filter.number_min = seen_ + 1;
            found = cluster.audit().count(filter);
        });
        return found;
    }
    // Once the fault is over, the client works again.
    void expect_recovery() {
        server_->with_cluster([](sandbox::cluster& cluster) {
            cluster.faults().clear();
            for (const auto node : cluster.topology().nodes()) {
                EXPECT_TRUE(cluster.disturbances().set(node, {}));
                EXPECT_TRUE(cluster.topology().set_node_state(node, true));
                EXPECT_TRUE(cluster.buckets().set_presence(
                    node, bucket_name, sandbox::bucket_presence::full));
            }
            EXPECT_TRUE(cluster.buckets().deny(bucket_name, "app", false));
        });
        const auto patient = std::make_shared<couchbase::best_effort_strategy>();
        const auto value = books_.begin("afterwards");
        const auto stored =
            at().upsert("after", plain_text{value}, {.timeout = 20s, .strategy = patient});
        books_.settle(value, stored);
        EXPECT_TRUE(stored) << words(stored);
        const auto read = at().get("after", {.timeout = 20s, .strategy = patient});
        EXPECT_TRUE(read) << words(read);
        const auto totals = books_.totals();
        EXPECT_TRUE(totals.is_clean()) << to_string(totals);
        EXPECT_EQ(totals.open, 0U);
    }

    std::unique_ptr<sandbox::embedded_cluster> server_;
    write_ledger books_;
    std::optional<couchbase::cluster> cluster_;
    std::uint64_t seen_ = 0;
};

TEST_P(fault_table, RH_16_RH_29_a_repeatable_request_ends_as_expected) {
    const outcome& expected = GetParam().read;
    const auto read = at().get("old", {.timeout = GetParam().timeout});
    if (GetParam().is_fresh && !expected.code) {
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().code(), errc::document_not_found) << read.error();
    } else {
        expect_reported(read, expected);
    }
    expect_reason(read ? read->trace.history.get() : read.error().history(), expected);
    EXPECT_FALSE(!read && read.error().is_ambiguous()) << "a read changes nothing";
    expect_recovery();
}

TEST_P(
    fault_table,
    RH_16_RH_29_a_request_that_is_not_repeatable_ends_as_expected_and_is_never_applied_twice) {
    const outcome& expected = GetParam().write;
    const auto value = books_.begin(GetParam().name);
    const auto stored = at().upsert("new", plain_text{value}, {.timeout = GetParam().timeout});
    books_.settle(value, stored);
    expect_reported(stored, expected);
    expect_reason(stored ? stored->trace.history.get() : stored.error().history(), expected);
    if (!stored) {
        EXPECT_EQ(stored.error().is_ambiguous(), expected.is_ambiguous) << stored.error();
    }
    if (GetParam().request_count) {
        EXPECT_EQ(count({}), *GetParam().request_count);
    }
    EXPECT_EQ(count(true), GetParam().applied_count);
    expect_recovery();
}

std::string case_name(const ::testing::TestParamInfo<fault_case>& each) {
    return each.param.name;
}

INSTANTIATE_TEST_SUITE_P(answered, fault_table, ::testing::ValuesIn(answered_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(broken, fault_table, ::testing::ValuesIn(broken_cases()), case_name);
INSTANTIATE_TEST_SUITE_P(fresh, fault_table, ::testing::ValuesIn(fresh_cases()), case_name);

}  // namespace fault_table_test
