#include <gtest/gtest.h>

#include <boost/asio/use_future.hpp>
#include <string>
#include <vector>

#include <reprise/couchbase/asio.hpp>

#include "live_cluster.hpp"

// Reads and changes parts of documents over real sockets.

namespace subdocument_test {

using namespace live;
using couchbase::errc;
using couchbase::json_text;
using couchbase::store_semantics;
using change = couchbase::mutate_spec;
using look = couchbase::lookup_spec;
using reprise::wire::opcode;

class subdocument : public ::testing::Test {
protected:
    subdocument() : server_(start()), cluster_(connect(*server_)), at_(documents(cluster_)) {
        EXPECT_TRUE(at_.upsert(
            "airline", json_text{R"({"name":"Reprise \"Air\"","fleet":["A220","E190"],)"
                                 R"("home":{"city":"Graz"},"flights":7,"open":true})"}));
    }
    // The current document.
    std::string text(const std::string& key = "airline") {
        const auto read = at_.get(key);
        return read ? std::string(read->text()) : words(read);
    }

    std::unique_ptr<sandbox::embedded_cluster> server_;
    couchbase::cluster cluster_;
    couchbase::collection at_;
};

TEST_F(subdocument, RH_18_a_lookup_gives_each_path_its_typed_content_or_its_error) {
    const auto seen = must(at_.lookup_in(
        "airline",
        {look::get("name"), look::get("flights"), look::get("home"), look::exists("home.city"),
         look::exists("debts"), look::count("fleet"), look::get("fleet[-1]"), look::get("debts"),
         look::get("name.x"), look::get("open"), look::get_full_document()}));
    EXPECT_EQ(seen.paths.size(), 11U);
    EXPECT_EQ(seen.content_as<std::string>(0).value(), "Reprise \"Air\"");
    EXPECT_EQ(seen.content_as<int>(1).value(), 7);
    EXPECT_EQ(seen.content_as<json_text>(2).value().text, R"({"city":"Graz"})");
    EXPECT_TRUE(seen.content_as<bool>(3).value());
    EXPECT_FALSE(seen.content_as<bool>(4).value());
    EXPECT_EQ(seen.content_as<std::size_t>(5).value(), 2U);
    EXPECT_EQ(seen.content(6)->text(), "\"E190\"");
    EXPECT_EQ(seen.paths[7].code, errc::path_not_found);
    EXPECT_EQ(seen.content_as<int>(7).error().code(), errc::path_not_found);
    EXPECT_NE(seen.content(7).error().message().find("'debts'"), std::string::npos);
    EXPECT_EQ(seen.paths[8].code, errc::path_mismatch);
    EXPECT_TRUE(seen.content_as<bool>(9).value());
    EXPECT_EQ(seen.content_as<json_text>(10).value().text, text());
    EXPECT_EQ(seen.content_as<int>(0).error().code(), errc::decoding_failure);
    EXPECT_EQ(seen.cas, at_.get("airline")->cas);
    EXPECT_FALSE(seen.is_deleted);
}

TEST_F(subdocument, documents_that_are_missing_or_no_json_are_errors_of_the_call) {
    EXPECT_EQ(at_.lookup_in("no", {look::get("a")}).error().code(), errc::document_not_found);
    EXPECT_EQ(
        at_.mutate_in("no", {change::upsert("a", 1)}).error().code(), errc::document_not_found);
    ASSERT_TRUE(at_.upsert("text", "no json"));
    const auto seen = at_.lookup_in("text", {look::get("a")});
    const auto code = seen ? seen->paths[0].code : seen.error().code();
    EXPECT_EQ(code, errc::document_not_json);
    EXPECT_EQ(at_.lookup_in("airline", {}).error().code(), errc::invalid_argument);
}

TEST_F(subdocument, every_change_does_what_it_is_named_after) {
    const auto changed = must(at_.mutate_in(
        "airline",
        {change::upsert("name", "Other"), change::insert("seats", 120),
         change::replace("open", false), change::remove("home"),
         change::array_append("fleet", {"C", "D"}), change::array_prepend("fleet", "A"),
         change::array_insert("fleet[1]", "B"), change::array_add_unique("tags", 1, {true}),
         change::increment("flights", 5), change::decrement("flights", 2),
         change::upsert("a.b", nullptr, {.create_path = true})}));
    EXPECT_EQ(changed.content_as<int>(8).value(), 12);
    EXPECT_EQ(changed.content_as<int>(9).value(), 10);
    EXPECT_EQ(changed.content_as<int>(0).error().code(), errc::decoding_failure);
    EXPECT_TRUE(changed.cas);
    ASSERT_TRUE(changed.token);
    EXPECT_EQ(changed.token->bucket, bucket_name);
    const auto seen = must(at_.lookup_in(
        "airline",
        {look::get("name"), look::get("seats"), look::get("open"), look::exists("home"),
         look::get("fleet"), look::get("tags"), look::get("flights"), look::get("a.b")}));
    const std::vector<std::string> expected{
        "\"Other\"", "120", "false", "false", R"(["A","B","A220","E190","C","D"])",
        "[1]",       "10",  "null"};
    for (std::size_t at = 0; at < expected.size(); ++at) {
        EXPECT_EQ(seen.content(at)->text(), expected[at]) << at;
    }
}

TEST_F(subdocument, a_path_that_fails_undoes_all_and_has_its_place_in_the_callers_order) {
    const auto before = text();
    const auto changed = must_fail(at_.mutate_in(
        "airline", {change::upsert("name", "Other"), change::insert("flights", 1),
                    change::upsert("mark", 1, {.is_xattr = true})}));
    EXPECT_EQ(changed.code(), errc::path_exists) << changed;
    EXPECT_EQ(changed.info().failed_path, 1);
    EXPECT_NE(changed.message().find("'flights'"), std::string::npos) << changed;
    EXPECT_FALSE(changed.is_ambiguous());
    EXPECT_EQ(text(), before);
    EXPECT_EQ(applied_count(*server_, opcode::subdoc_multi_mutation, "airline"), 0U);
}

TEST_F(subdocument, semantics_decide_about_existing_and_missing_documents) {
    const auto with = [](store_semantics store) {
        return couchbase::mutate_in_options{.store = store};
    };
    const std::vector<change> one{change::upsert("a", 1)};
    EXPECT_EQ(
        at_.mutate_in("new", one, with(store_semantics::replace)).error().code(),
        errc::document_not_found);
    ASSERT_TRUE(at_.mutate_in("new", one, with(store_semantics::upsert)));
    EXPECT_EQ(text("new"), R"({"a":1})");
    EXPECT_EQ(
        at_.mutate_in("new", one, with(store_semantics::insert)).error().code(),
        errc::document_exists);
    ASSERT_TRUE(at_.mutate_in("newer", one, with(store_semantics::insert)));
    EXPECT_EQ(
        at_.mutate_in("new", one, {.cas = couchbase::cas{12345}}).error().code(),
        errc::cas_mismatch);
    EXPECT_TRUE(at_.mutate_in("new", one, {.cas = at_.get("new")->cas}));
}

TEST_F(subdocument, attributes_and_macros_are_separate_from_the_body) {
    must(at_.mutate_in(
        "airline",
        {change::upsert("flights", 8), change::upsert("audit.by", "me", {true, true}),
         change::upsert("audit.cas", couchbase::mutation_macro::cas, {.create_path = true})}));
    const auto seen = must(at_.lookup_in(
        "airline", {look::get("flights"), look::get("audit.cas", {.is_xattr = true}),
                    look::get("audit.by", {.is_xattr = true}), look::exists("audit")}));
    EXPECT_EQ(seen.content_as<int>(0).value(), 8);
    EXPECT_EQ(seen.content_as<std::string>(1).value().substr(0, 2), "0x");
    EXPECT_EQ(seen.content_as<std::string>(2).value(), "me");
    EXPECT_FALSE(seen.content_as<bool>(3).value());
}

TEST_F(subdocument, a_removed_document_shows_its_attributes_only_on_request) {
    ASSERT_TRUE(at_.mutate_in("airline", {change::upsert("_kept", 5, {.is_xattr = true})}));
    ASSERT_TRUE(at_.remove("airline"));
    const auto get = [] { return std::vector{look::get("_kept", {.is_xattr = true})}; };
    EXPECT_EQ(at_.lookup_in("airline", get()).error().code(), errc::document_not_found);
    const auto seen = must(at_.lookup_in("airline", get(), {.access_deleted = true}));
    EXPECT_TRUE(seen.is_deleted);
    EXPECT_EQ(seen.content_as<int>(0).value(), 5);
}

TEST_F(subdocument, a_change_may_have_expiry_and_durability) {
    must(at_.mutate_in(
        "airline", {change::upsert("a", 1)},
        {.expiry = 10min, .durability = couchbase::durability_level::majority}));
    server_->with_cluster([&](sandbox::cluster& cluster) {
        const auto stored = cluster.buckets().find_document(
            bucket_name, reprise::wire::default_collection, "airline", sandbox::time_point{});
        ASSERT_TRUE(stored);
        EXPECT_GT(stored->expiry, 0U);
    });
}

TEST_F(subdocument, RH_16_RH_18_lookups_are_sent_again_and_changes_are_not) {
    auto rule = fault(opcode::subdoc_multi_lookup, sandbox::fault_close_before{});
    rule.when.limit = 1;
    add_fault(*server_, rule);
    const auto seen = must(at_.lookup_in("airline", {look::get("name")}));
    EXPECT_GE(seen.trace.retry_attempts, 1U);
    rule = fault(opcode::subdoc_multi_mutation, sandbox::fault_close_after{});
    rule.when.limit = 1;
    add_fault(*server_, rule);
    const auto changed = must_fail(at_.mutate_in("airline", {change::increment("flights")}));
    EXPECT_EQ(changed.code(), errc::request_canceled);
    EXPECT_TRUE(changed.is_ambiguous());
    EXPECT_EQ(applied_count(*server_, opcode::subdoc_multi_mutation, "airline"), 1U);
    EXPECT_EQ(at_.lookup_in("airline", {look::get("flights")})->content_as<int>(0).value(), 8);
}

TEST_F(subdocument, the_token_forms_own_their_specs) {
    namespace asio = boost::asio;
    std::future<std::expected<couchbase::mutate_in_result, couchbase::error>> changed;
    {
        std::vector<change> specs{change::upsert("name", std::string(100, 'n'))};
        changed = at_.async_mutate_in("airline", std::move(specs), {}, asio::use_future);
    }
    ASSERT_TRUE(changed.get());
    const auto seen =
        must(at_.async_lookup_in("airline", {look::get("name")}, {}, asio::use_future).get());
    EXPECT_EQ(seen.content_as<std::string>(0).value(), std::string(100, 'n'));
    const auto refused = at_.async_lookup_in("airline", {}, {}, asio::use_future).get();
    EXPECT_EQ(refused.error().code(), errc::invalid_argument);
}

}  // namespace subdocument_test
