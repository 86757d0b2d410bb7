#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <future>
#include <optional>
#include <string>

#include <reprise/couchbase/asio.hpp>

#include "canceling_observer.hpp"
#include "live_cluster.hpp"

// Reads of any copy and of all copies.

namespace replica_reads_test {

using namespace live;
namespace asio = boost::asio;
using couchbase::errc;
using reprise::wire::opcode;
using look = couchbase::lookup_spec;
using couchbase::json_text;
using any_result = std::expected<couchbase::get_replica_result, couchbase::error>;

class replica_reads : public ::testing::TestWithParam<couchbase::thread_mode> {
protected:
    // Three nodes and two replicas: every node has every document.
    replica_reads()
        : server_(start(three_nodes())), cluster_(connect(*server_, app_options_in(GetParam()))) {}

    static sandbox::server_options three_nodes() {
        auto options = small_options();
        options.cluster.node_count = 3;
        options.cluster.replica_count = 2;
        return options;
    }
    couchbase::collection at() const { return documents(cluster_); }
    std::size_t requests(opcode op) const { return request_count(*server_, op); }

    std::unique_ptr<sandbox::embedded_cluster> server_;
    couchbase::cluster cluster_;
};

TEST_P(replica_reads, all_copies_are_listed_the_active_one_first) {
    // The first call of this client, before the map has arrived.
    const auto missing = must_fail(at().get_all_replicas("k"));
    EXPECT_EQ(missing.code(), errc::document_unretrievable) << missing;
    EXPECT_NE(missing.message().find("replica 2"), std::string::npos) << missing;
    ASSERT_TRUE(at().upsert("k", "v"));
    const auto all = must(at().get_all_replicas("k"));
    ASSERT_EQ(all.size(), 3U);
    EXPECT_FALSE(all[0].is_replica);
    EXPECT_TRUE(all[1].is_replica);
    for (const auto& copy : all) {
        EXPECT_EQ(copy.text(), "v");
        EXPECT_EQ(copy.cas, all[0].cas);
    }
    EXPECT_EQ(requests(opcode::get_replica), 4U);
}

TEST_P(replica_reads, copies_that_cannot_be_read_are_omitted) {
    ASSERT_TRUE(at().upsert("k", "v"));
    add_fault(
        *server_, fault(opcode::get, sandbox::fault_status{reprise::wire::status::einternal, {}}));
    const auto all = must(at().get_all_replicas("k"));
    ASSERT_EQ(all.size(), 2U);
    EXPECT_TRUE(all[0].is_replica);
}

TEST_P(replica_reads, the_first_copy_wins_and_the_others_are_canceled) {
    ASSERT_TRUE(at().upsert("k", "v"));
    add_fault(*server_, fault(opcode::get, sandbox::fault_no_answer{}));
    auto rule = fault(opcode::get_replica, sandbox::fault_no_answer{});
    rule.when.limit = 1;  // one of the replicas
    add_fault(*server_, rule);
    const auto any = must(at().get_any_replica("k", {.timeout = 60s}));
    EXPECT_EQ(any.text(), "v");
    EXPECT_TRUE(any.is_replica);
    // The others are canceled, not waited for.
    const auto until = std::chrono::steady_clock::now() + 30s;
    while (cluster_.statistics()->operations_open > 0 && std::chrono::steady_clock::now() < until) {
        if (GetParam() == couchbase::thread_mode::caller_drives) {
            ASSERT_TRUE(cluster_.drive(10ms));
        }
    }
    EXPECT_EQ(cluster_.statistics()->operations_open, 0U);
}

// A read that waited for its retry used to return that retry after the call had ended.
TEST_P(replica_reads, nothing_uses_the_options_after_the_call) {
    ASSERT_TRUE(at().upsert("k", "v"));
    add_fault(
        *server_, fault(opcode::get, sandbox::fault_status{reprise::wire::status::etmpfail, {}}));
    add_fault(*server_, fault(opcode::get_replica, sandbox::fault_delay{30ms}));
    for (int round = 0; round < 5; ++round) {
        reprise::driver::retry_allowance outer(1000);
        std::promise<std::optional<std::uint32_t>> ended;
        auto left = ended.get_future();
        at().async_get_any_replica(
            "k", {.timeout = 60s, .outer_allowance = reprise::borrowed(&outer)},
            [&](const any_result& any) {
                EXPECT_TRUE(any) << words(any);
                ended.set_value(outer.left());
            });
        ASSERT_TRUE(await([&] {
            (void)cluster_.drive(1ms);
            return left.wait_for(0s) == std::future_status::ready;
        }));
        ASSERT_TRUE(at().upsert("k", "v")) << "the loop runs once more";
        EXPECT_EQ(outer.left(), left.get());
        EXPECT_LT(outer.left(), 1000U);
    }
}

// Also if the read begins together with its cancellation, in the next call that drives the client.
TEST_P(replica_reads, a_cancellation_that_comes_at_once_is_kept) {
    ASSERT_TRUE(at().upsert("k", "v"));
    add_fault(*server_, fault(opcode::get_replica, sandbox::fault_no_answer{}));
    auto rule = fault(opcode::get, sandbox::fault_no_answer{});
    rule.key_pattern = "k";
    add_fault(*server_, rule);
    asio::cancellation_signal signal;
    std::promise<std::error_code> ended;
    auto code = ended.get_future();
    at().async_get_any_replica(
        "k", {.timeout = 5s},
        asio::bind_cancellation_slot(signal.slot(), [&](const any_result& any) {
            ended.set_value(any ? std::error_code() : any.error().code());
        }));
    signal.emit(asio::cancellation_type::terminal);
    EXPECT_FALSE(at().get("missing"));
    ASSERT_TRUE(await([&] {
        (void)cluster_.drive(1ms);
        return code.wait_for(0s) == std::future_status::ready;
    }));
    EXPECT_EQ(code.get(), errc::request_canceled);
}

TEST_P(replica_reads, an_error_that_all_copies_share_is_reported_once) {
    ASSERT_TRUE(at().upsert("k", "v"));
    add_fault(*server_, fault(opcode::get, sandbox::fault_no_answer{}));
    add_fault(*server_, fault(opcode::get_replica, sandbox::fault_no_answer{}));
    const auto any = must_fail(at().get_any_replica("k", {.timeout = 200ms}));
    EXPECT_EQ(any.code(), errc::unambiguous_timeout) << any;
    EXPECT_FALSE(any.is_ambiguous());
    EXPECT_EQ(any.info().operation, "get_any_replica");
    EXPECT_EQ(
        at().get_all_replicas("k", {.timeout = 200ms}).error().code(), errc::unambiguous_timeout);
    EXPECT_EQ(at().get_any_replica("").error().code(), errc::invalid_argument);
}

TEST_P(replica_reads, errors_of_the_bucket_are_reported_and_not_hidden) {
    const auto nowhere = cluster_.bucket("nowhere").default_collection();
    EXPECT_EQ(nowhere.get_any_replica("k").error().code(), errc::bucket_access_failure);
    EXPECT_EQ(nowhere.get_all_replicas("k").error().code(), errc::bucket_access_failure);
}

TEST_P(replica_reads, lookups_read_all_copies_or_the_first_one) {
    const auto missing = must_fail(at().lookup_in_all_replicas("k", {look::get("a")}));
    EXPECT_EQ(missing.code(), errc::document_unretrievable) << missing;
    EXPECT_EQ(missing.info().operation, "lookup_in_all_replicas");
    const auto stored = must(at().upsert("k", json_text{R"({"a":1,"b":{"c":"x"}})"}));
    const auto all = must(at().lookup_in_all_replicas(
        "k", {look::get("b.c"), look::get("$document.CAS", {.is_xattr = true}), look::get("no")}));
    ASSERT_EQ(all.size(), 3U);
    for (const auto& copy : all) {
        EXPECT_EQ(copy.is_replica, &copy != &all.front());
        EXPECT_EQ(copy.content_as<std::string>(0).value(), "x");
        EXPECT_TRUE(copy.content_as<std::string>(1));
        EXPECT_EQ(copy.content(2).error().code(), errc::path_not_found);
        EXPECT_EQ(copy.cas, stored.cas);
    }
    const auto any = must(at().lookup_in_any_replica("k", {look::get("a")}));
    EXPECT_EQ(any.content_as<int>(0).value(), 1);
    EXPECT_EQ(at().lookup_in_any_replica("k", {}).error().code(), errc::invalid_argument);
}

TEST_P(replica_reads, RH_18_a_lookup_of_a_replica_is_sent_again_when_its_connection_breaks) {
    ASSERT_TRUE(at().upsert("k", json_text{R"({"a":1})"}));
    auto rule = fault(opcode::subdoc_multi_lookup, sandbox::fault_close_after{});
    rule.when.limit = 2;
    add_fault(*server_, rule);
    const auto all = must(at().lookup_in_all_replicas("k", {look::get("a")}));
    EXPECT_EQ(all.size(), 3U);
    add_fault(*server_, fault(opcode::subdoc_multi_lookup, sandbox::fault_no_answer{}));
    const auto any =
        must_fail(at().lookup_in_any_replica("k", {look::get("a")}, {.timeout = 200ms}));
    EXPECT_EQ(any.code(), errc::unambiguous_timeout) << any;
    EXPECT_EQ(any.info().operation, "lookup_in_any_replica");
}

INSTANTIATE_TEST_SUITE_P(
    with, replica_reads,
    ::testing::Values(couchbase::thread_mode::own_thread, couchbase::thread_mode::caller_drives),
    [](const auto& each) {
        return each.param == couchbase::thread_mode::own_thread ? "own_thread" : "caller_drives";
    });

// Each of three nodes is in a server group of its own, and has every document.
class server_groups : public ::testing::Test {
protected:
    server_groups() : server_(start(three_groups())) {}

    static sandbox::server_options three_groups() {
        auto options = small_options();
        options.cluster.node_count = 3;
        options.cluster.replica_count = 2;
        options.cluster.server_groups = {"east", "west", "north"};
        return options;
    }
    couchbase::cluster connect_in(const std::string& group) const {
        auto options = app_options();
        options.preferred_server_group = group;
        return connect(*server_, options);
    }
    static couchbase::get_replica_options with(couchbase::read_preference preference) {
        return {.preference = preference};
    }

    std::unique_ptr<sandbox::embedded_cluster> server_;
    static constexpr auto selected = couchbase::read_preference::selected_server_group;
    static constexpr auto selected_first =
        couchbase::read_preference::selected_server_group_or_all_available;
};

TEST_F(server_groups, only_the_copies_of_the_preferred_group_are_read) {
    const auto cluster = connect_in("west");
    const auto at = documents(cluster);
    ASSERT_TRUE(at.upsert("k", json_text{R"({"a":1})"}));
    EXPECT_EQ(at.get_all_replicas("k")->size(), 3U);
    for (const auto preference : {selected, selected_first}) {
        EXPECT_EQ(at.get_all_replicas("k", with(preference))->size(), 1U);
        EXPECT_EQ(at.lookup_in_all_replicas("k", {look::get("a")}, with(preference))->size(), 1U);
        EXPECT_TRUE(at.get_any_replica("k", with(preference)));
        EXPECT_TRUE(at.lookup_in_any_replica("k", {look::get("a")}, with(preference)));
    }
    const auto text = server_->addresses().connection_string;
    const auto named =
        couchbase::cluster::connect(
            text + (text.contains('?') ? "&" : "?") + "preferred_server_group=north", app_options())
            .value();
    EXPECT_EQ(documents(named).get_all_replicas("k", with(selected))->size(), 1U);
}

TEST_F(server_groups, without_a_copy_in_the_group_nothing_or_everything_is_read) {
    for (const std::string group : {"", "mars"}) {
        const auto cluster = connect_in(group);
        const auto at = documents(cluster);
        ASSERT_TRUE(at.upsert("k", json_text{R"({"a":1})"}));
        const auto none = must_fail(at.get_any_replica("k", with(selected)));
        EXPECT_EQ(none.code(), errc::document_unretrievable) << none;
        EXPECT_NE(
            none.message().find(group.empty() ? "preferred_server_group" : "'mars'"),
            std::string::npos)
            << none;
        EXPECT_EQ(at.get_all_replicas("k", with(selected_first))->size(), 3U);
    }
}

TEST_F(server_groups, a_copy_of_the_group_that_cannot_be_read_is_not_replaced_by_another_one) {
    const auto cluster = connect_in("east");
    const auto at = documents(cluster);
    ASSERT_TRUE(at.upsert("k", "v"));
    for (const opcode op : {opcode::get, opcode::get_replica}) {
        add_fault(*server_, fault(op, sandbox::fault_status{reprise::wire::status::einternal, {}}));
    }
    EXPECT_FALSE(at.get_any_replica("k", with(selected_first)));
}

TEST(replica_read_tokens, futures_callbacks_and_executors_work) {
    const auto server = start();
    asio::io_context context;
    auto cluster = couchbase::connect(
                       context.get_executor(), server->addresses().connection_string, app_options())
                       .value();
    const auto at = documents(cluster);
    int read = 0;
    at.async_upsert("j", json_text{R"({"a":1})"}, {}, [&](const auto&) {
        at.async_upsert("k", "v", {}, [&](const auto& stored) {
            EXPECT_TRUE(stored) << words(stored);
            at.async_get_all_replicas("k", {}, [&](const auto& all) {
                read += all && all->size() == 2;
                at.async_get_any_replica("k", {}, [&](const any_result& any) {
                    read += any && any->text() == "v";
                    at.async_lookup_in_any_replica(
                        "j", {look::get("a")}, {}, [&](const auto& found) {
                            read += found && found->content(0)->text() == "1";
                            at.async_lookup_in_all_replicas(
                                "j", {look::get("a")}, {}, [&](const auto& each) {
                                    read += each && each->size() == 2;
                                    cluster.close();
                                });
                        });
                });
            });
        });
    });
    context.run_for(30s);
    EXPECT_EQ(read, 4);
}

TEST(replica_read_tokens, cancellation_ends_all_its_reads) {
    const auto server = start();
    add_fault(*server, fault(opcode::get, sandbox::fault_no_answer{}));
    add_fault(*server, fault(opcode::get_replica, sandbox::fault_no_answer{}));
    const auto cluster = connect(*server);
    ASSERT_TRUE(cluster.bucket(bucket_name).wait_until_ready(10s));
    asio::io_context context;
    asio::cancellation_signal signal;
    std::promise<std::error_code> ended;
    documents(cluster).async_get_any_replica(
        "k", {.timeout = 60s},
        asio::bind_cancellation_slot(signal.slot(), [&](const any_result& any) {
            ended.set_value(any ? std::error_code() : any.error().code());
        }));
    (void)await([&] { return cluster.statistics()->operations_on_wire >= 2; });
    signal.emit(asio::cancellation_type::terminal);
    auto code = ended.get_future();
    ASSERT_EQ(code.wait_for(30s), std::future_status::ready);
    EXPECT_EQ(code.get(), errc::request_canceled);
    EXPECT_EQ(cluster.statistics()->operations_open, 0U);
}

// The read of a new client waits for the map. A cancellation that came when it was there, and
// before the copies were asked, ended nothing.
TEST(replica_read_tokens, cancellation_between_the_wait_for_the_map_and_the_reads_is_kept) {
    const auto server = start();
    add_fault(*server, fault(opcode::get, sandbox::fault_no_answer{}));
    add_fault(*server, fault(opcode::get_replica, sandbox::fault_no_answer{}));
    const auto between = std::make_shared<live::canceling_observer>();
    between->is_armed = true;
    auto options = app_options();
    options.operation_observers = {between};
    const auto cluster = connect(*server, options);
    const any_result any =
        documents(cluster)
            .async_get_any_replica(
                "k", {.timeout = 5s},
                asio::bind_cancellation_slot(between->signal.slot(), asio::use_future))
            .get();
    ASSERT_FALSE(any);
    EXPECT_EQ(any.error().code(), errc::request_canceled) << any.error();
}

TEST(replica_read_tokens, limit_of_a_read_may_be_the_longest_time_there_is) {
    const auto server = start();
    const auto cluster = connect(*server);
    ASSERT_TRUE(documents(cluster).upsert("k", "v"));
    const auto any = documents(cluster).get_any_replica("k", {.timeout = reprise::duration::max()});
    EXPECT_TRUE(any) << words(any);
}

TEST(replica_read_tokens, closing_the_client_ends_them) {
    const auto server = start();
    add_fault(*server, fault(opcode::hello, sandbox::fault_no_answer{}));
    std::future<any_result> any;
    {
        const auto cluster = connect(*server);
        any = documents(cluster).async_get_any_replica("k", {}, asio::use_future);
    }
    ASSERT_EQ(any.wait_for(0s), std::future_status::ready);
    EXPECT_EQ(any.get().error().code(), errc::request_canceled);
}

}  // namespace replica_reads_test
