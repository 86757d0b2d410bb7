#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <reprise/couchbase/asio.hpp>

#include "live_cluster.hpp"

// Scans of a collection over real sockets.

namespace scan_test {

using namespace live;
namespace asio = boost::asio;
using couchbase::errc;
using reprise::wire::opcode;
using reprise::wire::status;

constexpr int document_count = 200;

std::string key_of(int number) {
    return "key_" + std::to_string(1000 + number);
}

// Reads to the end, or to an error, and checks that no key arrives twice.
std::set<std::string> read_all(couchbase::scan_stream& stream) {
    std::set<std::string> keys;
    for (const auto& document : stream) {
        if (document) {
            EXPECT_TRUE(keys.insert(document->key).second) << document->key << " arrived twice";
        }
    }
    return keys;
}

class scans : public ::testing::TestWithParam<couchbase::thread_mode> {
protected:
    scans() : server_(start()), cluster_(connect(*server_, app_options_in(GetParam()))) {
        for (int number = 0; number < document_count; ++number) {
            keys_.insert(key_of(number));
            EXPECT_TRUE(at().upsert(key_of(number), plain_text{"of " + key_of(number)}));
        }
    }

    couchbase::collection at() const { return documents(cluster_); }
    std::size_t requests(opcode op) const { return request_count(*server_, op); }
    void add_fault(
        opcode op, sandbox::fault_effect effect, std::uint64_t skip, std::uint64_t count) {
        server_->with_cluster([&](sandbox::cluster& cluster) {
            sandbox::fault_rule rule;
            rule.ops = {op};
            rule.effect = std::move(effect);
            rule.when.skip = skip;
            rule.when.limit = count;
            cluster.faults().add(rule);
        });
    }

    std::unique_ptr<sandbox::embedded_cluster> server_;
    couchbase::cluster cluster_;
    std::set<std::string> keys_;
};

// Scans that wait for a retry return it before the stream is gone.
TEST_P(scans, nothing_uses_a_lent_allowance_after_the_stream) {
    static reprise::driver::retry_allowance outer(1000);  // lives longer than any client
    add_fault(opcode::range_scan_create, sandbox::fault_status{status::etmpfail}, 3, 1'000'000);
    const auto before = outer.left();
    {
        const auto found = must(at().scan(
            couchbase::range_scan{},
            {.concurrency = 8, .outer_allowance = reprise::borrowed(&outer)}));
        ASSERT_TRUE(await([&] {
            (void)cluster_.drive(1ms);
            return outer.left() < before;
        }));
    }
    const auto left = outer.left();
    ASSERT_TRUE(at().get(key_of(1))) << "the loop runs once more";
    EXPECT_EQ(outer.left(), left);
}

TEST_P(scans, a_range_without_ends_reads_every_document_once) {
    auto found = at().scan(couchbase::range_scan{});
    ASSERT_TRUE(found) << found.error();
    std::map<std::string, std::string> texts;
    for (const auto& document : *found) {
        ASSERT_TRUE(document) << document.error();
        EXPECT_TRUE(texts.emplace(document->key, document->text()).second);
        EXPECT_TRUE(document->cas);
    }
    const auto end = found->finish();
    ASSERT_TRUE(end) << end.error();
    EXPECT_EQ(end->retry_attempts, 0u);
    EXPECT_EQ(texts.size(), keys_.size());
    EXPECT_EQ(texts[key_of(7)], "of " + key_of(7));
}

TEST_P(scans, the_first_call_of_a_client_waits_for_the_bucket) {
    const auto another = connect(*server_, app_options_in(GetParam()));
    auto found = must(documents(another).scan(couchbase::range_scan{}, {.keys_only = true}));
    EXPECT_EQ(read_all(found), keys_);
    EXPECT_TRUE(found.finish());
}

TEST_P(scans, ranges_and_prefixes_choose_their_keys) {
    auto range = must(at().scan(
        couchbase::range_scan{.from = {key_of(10)}, .to = {key_of(20), true}},
        {.keys_only = true, .concurrency = 4}));
    const auto in_range = read_all(range);
    EXPECT_EQ(in_range.size(), 10u);
    EXPECT_TRUE(in_range.contains(key_of(10)));
    EXPECT_FALSE(in_range.contains(key_of(20)));
    auto prefix = must(at().scan(couchbase::prefix_scan{"key_110"}, {.keys_only = true}));
    EXPECT_EQ(read_all(prefix).size(), 10u);
    auto nothing = must(at().scan(couchbase::prefix_scan{"nothing"}));
    EXPECT_TRUE(read_all(nothing).empty());
    EXPECT_TRUE(nothing.finish());
}

TEST_P(scans, batches_are_as_small_as_the_options_say) {
    const auto before = requests(opcode::range_scan_continue);
    auto found =
        must(at().scan(couchbase::range_scan{}, {.keys_only = true, .batch_item_limit = 2}));
    EXPECT_EQ(read_all(found), keys_);
    EXPECT_GE(requests(opcode::range_scan_continue) - before, keys_.size() / 2);
}

TEST_P(scans, a_sample_has_at_most_as_many_documents_as_its_limit) {
    for (int round = 0; round < 2; ++round) {
        auto some = must(at().scan(couchbase::sampling_scan{.limit = 12, .seed = 3}));
        const auto keys = read_all(some);
        EXPECT_EQ(keys.size(), 12u);
        EXPECT_TRUE(std::ranges::includes(keys_, keys));
        EXPECT_TRUE(some.finish());
    }
    auto all = must(at().scan(couchbase::sampling_scan{.limit = 10'000}));
    EXPECT_EQ(read_all(all), keys_);
}

TEST_P(scans, a_scan_sees_the_mutations_that_it_must_see) {
    couchbase::mutation_state seen;
    for (int number = 0; number < 20; ++number) {
        const auto stored = must(at().upsert("new_" + std::to_string(number), plain_text{"x"}));
        seen.add(stored.token);
    }
    auto found = must(
        at().scan(couchbase::prefix_scan{"new_"}, {.keys_only = true, .consistent_with = seen}));
    EXPECT_EQ(read_all(found).size(), 20u);
    EXPECT_TRUE(found.finish());
    ASSERT_EQ(seen.tokens.size(), 20u);
    for (couchbase::mutation_token& token : seen.tokens) {
        token.vbucket_uuid += 1;  // of another history
    }
    auto other = must(at().scan(couchbase::prefix_scan{"new_"}, {.consistent_with = seen}));
    read_all(other);
    EXPECT_EQ(other.finish().error().code(), errc::mutation_token_outdated);
}

TEST_P(scans, RH_49_broken_connections_and_lost_scans_leave_no_gap_and_no_repetition) {
    add_fault(opcode::range_scan_continue, sandbox::fault_close_after{}, 3, 3);
    add_fault(
        opcode::range_scan_continue, sandbox::fault_status{status::range_scan_cancelled}, 9, 3);
    add_fault(opcode::range_scan_create, sandbox::fault_status{status::ebusy}, 2, 2);
    auto found =
        must(at().scan(couchbase::range_scan{}, {.batch_item_limit = 3, .concurrency = 2}));
    EXPECT_EQ(read_all(found), keys_);
    const auto end = found.finish();
    ASSERT_TRUE(end) << end.error();
    EXPECT_GE(end->retry_attempts, 5u);
}

TEST_P(scans, RH_49_vbuckets_that_move_during_a_scan_leave_no_gap_and_no_repetition) {
    auto found = must(at().scan(couchbase::range_scan{}, {.batch_byte_limit = 1}));
    std::set<std::string> read;
    for (const auto& document : found) {
        ASSERT_TRUE(document) << document.error();
        EXPECT_TRUE(read.insert(document->key).second) << document->key;
        if (read.size() % 20 == 0) {
            server_->with_cluster([&](sandbox::cluster& cluster) {
                for (std::uint16_t number = 0; number < 16; ++number) {
                    const reprise::wire::vbucket_id vbucket{number};
                    const auto owner = cluster.topology().active_node(bucket_name, vbucket)->value;
                    EXPECT_TRUE(cluster.topology().move_vbucket(
                        bucket_name, vbucket, sandbox::node_id{1 - owner}));
                }
            });
        }
    }
    EXPECT_EQ(read, keys_);
    ASSERT_TRUE(found.finish());
}

TEST_P(scans, RH_49_a_sample_that_breaks_after_its_first_document_fails) {
    // One document arrives, and then no more.
    add_fault(
        opcode::range_scan_continue, sandbox::fault_status{status::range_scan_cancelled}, 1,
        1'000'000);
    auto some = must(at().scan(
        couchbase::sampling_scan{.limit = 10'000}, {.keys_only = true, .batch_byte_limit = 1}));
    EXPECT_EQ(read_all(some).size(), 1U);
    const auto end = must_fail(some.finish());
    EXPECT_EQ(end.code(), errc::request_canceled);
}

TEST_P(scans, a_stream_that_is_dropped_cancels_its_scans) {
    {
        auto found = must(at().scan(couchbase::range_scan{}, {.batch_byte_limit = 1}));
        ASSERT_TRUE(found.next());
    }
    ASSERT_TRUE(at().get(key_of(1)));  // after the cancellation
    ASSERT_TRUE(at().get(key_of(1)));
    EXPECT_GE(requests(opcode::range_scan_cancel), 1u);
}

TEST_P(scans, a_canceled_stream_ends_with_that_error_and_stays_so) {
    auto found = must(at().scan(couchbase::range_scan{}, {.batch_byte_limit = 1}));
    ASSERT_TRUE(found.next());
    EXPECT_EQ(found.finish().error().code(), errc::invalid_argument);
    found.cancel();
    const auto read = read_all(found);
    EXPECT_LT(read.size(), keys_.size());
    for (int round = 0; round < 2; ++round) {
        const auto next = must_fail(found.next());
        EXPECT_EQ(next.code(), errc::request_canceled);
    }
}

TEST_P(scans, a_scan_that_takes_too_long_times_out) {
    add_fault(opcode::range_scan_create, sandbox::fault_status{status::etmpfail}, 0, 1'000'000);
    auto found = must(at().scan(couchbase::range_scan{}, {.timeout = 50ms}));
    read_all(found);
    const auto end = must_fail(found.finish());
    EXPECT_EQ(end.code(), errc::unambiguous_timeout);
    EXPECT_TRUE(end.retry_reasons().contains(couchbase::retry_reason::kv_temporary_failure));
}

TEST_P(scans, an_unknown_collection_and_wrong_options_are_reported) {
    const auto missing = cluster_.bucket(bucket_name).scope("inventory").collection("missing");
    auto found = must(missing.scan(couchbase::range_scan{}));
    std::vector<errc> errors;
    for (const auto& document : found) {
        ASSERT_FALSE(document) << "an error is the only element";
        errors.push_back(static_cast<errc>(document.error().code().value()));
    }
    EXPECT_EQ(errors, std::vector{errc::collection_not_found});
    EXPECT_EQ(found.finish().error().code(), errc::collection_not_found);
    const auto refused = must_fail(at().scan(couchbase::sampling_scan{}));
    EXPECT_EQ(refused.code(), errc::invalid_argument);
}

TEST_P(scans, a_collection_contains_only_its_own_documents) {
    const auto airlines = cluster_.bucket(bucket_name).scope("inventory").collection("airline");
    ASSERT_TRUE(airlines.upsert("key_1000", plain_text{"another"}));
    auto found = must(airlines.scan(couchbase::range_scan{}));
    std::size_t count = 0;
    for (const auto& document : found) {
        ASSERT_TRUE(document) << document.error();
        EXPECT_EQ(document->text(), "another");
        ++count;
    }
    EXPECT_EQ(count, 1u);
}

INSTANTIATE_TEST_SUITE_P(
    thread_modes, scans,
    ::testing::Values(couchbase::thread_mode::own_thread, couchbase::thread_mode::caller_drives),
    [](const auto& mode) {
        return mode.param == couchbase::thread_mode::own_thread ? "own_thread" : "caller_drives";
    });

TEST(scan_tokens, documents_can_be_awaited) {
    const auto [server, cluster] = connected();
    for (int number = 0; number < 30; ++number) {
        ASSERT_TRUE(documents(cluster).upsert(key_of(number), plain_text{"x"}));
    }
    asio::io_context context;
    auto counted = asio::co_spawn(
        context,
        [&]() -> asio::awaitable<int> {
            const couchbase::scan_options options{.keys_only = true};
            auto found = documents(cluster).scan(couchbase::range_scan{}, options);
            int count = 0;
            for (;;) {
                auto next = co_await found->async_next();
                if (!next || !*next) {
                    co_return found->finish() ? count : -1;
                }
                ++count;
            }
        },
        asio::use_future);
    context.run();
    EXPECT_EQ(counted.get(), 30);
}

TEST(scan_tokens, a_second_read_is_refused_and_a_signal_cancels_the_scan) {
    const auto [server, cluster] = connected();
    ASSERT_TRUE(documents(cluster).upsert("k", plain_text{"x"}));
    server->with_cluster([&](sandbox::cluster& at) {
        sandbox::fault_rule rule;
        rule.ops = {opcode::range_scan_create};
        rule.effect = sandbox::fault_no_answer{};
        at.faults().add(rule);
    });
    auto found = must(documents(cluster).scan(couchbase::range_scan{}, {.timeout = 60s}));
    asio::cancellation_signal signal;
    auto first = found.async_next(asio::bind_cancellation_slot(signal.slot(), asio::use_future));
    const auto second = must_fail(found.next());
    EXPECT_EQ(second.code(), couchbase::errc::read_in_progress);
    signal.emit(asio::cancellation_type::terminal);
    const auto ended = must_fail(first.get());
    EXPECT_EQ(ended.code(), errc::request_canceled);
}

}  // namespace scan_test
