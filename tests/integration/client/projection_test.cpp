#include <gtest/gtest.h>

#include <boost/asio/use_future.hpp>
#include <string>
#include <vector>

#include <reprise/couchbase/asio.hpp>

#include "live_cluster.hpp"

// Gets that read the expiry, or some paths of a document.

namespace projection_test {

using namespace live;
namespace asio = boost::asio;
using couchbase::errc;
using couchbase::json_text;
using reprise::wire::opcode;
using paths = std::vector<std::string>;

template <class Result>
std::error_code code_of(const Result& result) {
    return result ? std::error_code() : result.error().code();
}

class projections : public ::testing::Test {
protected:
    projections() : server_(start()), cluster_(connect(*server_)), at_(documents(cluster_)) {
        EXPECT_TRUE(at_.upsert(
            "airline", json_text{R"({"name":"Reprise \"Air\"","fleet":["A220","E190","B38M"],)"
                                 R"("home":{"city":"Graz","gates":[{"no":1,"of":2},{"no":3}]},)"
                                 R"("a.b":1.50,"big":18446744073709551615})"}));
    }
    std::string read(const paths& which) const {
        const auto found = at_.get("airline", {.project = which});
        return found ? std::string(found->text()) : words(found);
    }
    // The same, with so many paths that the client reads the whole document.
    std::string read_whole(paths which) const {
        while (which.size() <= 16) {
            which.push_back("missing" + std::to_string(which.size()));
        }
        return read(which);
    }
    std::size_t requests(opcode op) const { return request_count(*server_, op); }

    std::unique_ptr<sandbox::embedded_cluster> server_;
    couchbase::cluster cluster_;
    couchbase::collection at_;
};

TEST_F(projections, a_projection_has_the_members_of_its_paths_and_leaves_out_missing_ones) {
    const std::vector<std::pair<paths, std::string>> cases{
        {{"name"}, R"({"name":"Reprise \"Air\""})"},
        {{"home.city", "name.x", "debts", "big"},
         R"({"home":{"city":"Graz"},"big":18446744073709551615})"},
        {{"fleet[2]", "fleet[0]", "fleet[7]"}, R"({"fleet":["B38M","A220"]})"},
        {{"fleet[-1]"}, R"({"fleet":["B38M"]})"},
        {{"home.gates[0].no", "home.gates[1].no", "home.gates[0].of"},
         R"({"home":{"gates":[{"no":1,"of":2},{"no":3}]}})"},
        {{"home.city", "home", "home.city"},
         R"({"home":{"city":"Graz","gates":[{"no":1,"of":2},{"no":3}]}})"},
        {{"`a.b`"}, R"({"a.b":1.50})"},
        {{"debts"}, "{}"}};
    for (const auto& [which, expected] : cases) {
        EXPECT_EQ(read(which), expected);
        EXPECT_EQ(read_whole(which), expected);
    }
    EXPECT_EQ(requests(opcode::get), 0U);
    EXPECT_EQ(requests(opcode::subdoc_multi_lookup), 2 * cases.size());
    const auto found = at_.get("airline", {.project = {"name"}});
    EXPECT_EQ(found->cas, at_.get("airline")->cas);
    EXPECT_EQ(found->format(), couchbase::document_format::json);
    EXPECT_FALSE(found->expiry());
}

TEST_F(projections, sixteen_paths_are_one_lookup_and_the_expiry_counts_as_one) {
    std::string text = "{";
    paths which;
    for (int number = 0; number < 17; ++number) {
        const std::string name = "m" + std::to_string(number);
        text += (number == 0 ? "\"" : ",\"") + name + "\":" + std::to_string(number);
        which.push_back(name);
    }
    ASSERT_TRUE(at_.upsert("many", json_text{text + "}"}, {.expiry = 1h}));
    const auto last_size = [&] {
        return at_.get("many", {.project = which}).value().text().size();
    };
    EXPECT_EQ(last_size(), text.size() + 1);
    which.pop_back();
    EXPECT_EQ(last_size(), text.size() + 1 - std::string(",\"m16\":16").size());
    for (const std::size_t count : {16U, 15U}) {
        which.resize(count);
        const auto found = must(at_.get("many", {.with_expiry = true, .project = which}));
        EXPECT_TRUE(found.expiry());
        EXPECT_NE(found.text().find("\"m14\":14"), std::string::npos);
    }
}

TEST_F(projections, the_expiry_comes_with_the_document_as_it_was_stored) {
    const auto never = must(at_.get("airline", {.with_expiry = true}));
    EXPECT_FALSE(never.expiry());
    EXPECT_EQ(never.text(), at_.get("airline")->text());
    const auto when = std::chrono::sys_seconds(std::chrono::seconds{4'000'000'000});
    ASSERT_TRUE(at_.upsert(
        "text", couchbase::plain_text{"no json"},
        {.expiry = std::chrono::system_clock::time_point(when)}));
    const auto found = must(at_.get("text", {.with_expiry = true}));
    EXPECT_EQ(found.expiry(), when);
    EXPECT_EQ(found.text(), "no json");
    EXPECT_EQ(found.flags, at_.get("text")->flags);
    EXPECT_EQ(found.cas, at_.get("text")->cas);
    EXPECT_FALSE(at_.get("text")->expiry());
    EXPECT_EQ(code_of(at_.get("text", {.project = {"a"}})), errc::document_not_json);
    EXPECT_EQ(code_of(at_.get("text", {.project = paths(17, "a")})), errc::document_not_json);
}

TEST_F(projections, errors_are_those_of_a_get) {
    const auto missing = must_fail(at_.get("no", {.with_expiry = true}));
    EXPECT_EQ(missing.code(), errc::document_not_found);
    EXPECT_EQ(missing.info().operation, "get");
    EXPECT_EQ(code_of(at_.get("airline", {.project = {"a["}})), errc::path_invalid);
    EXPECT_EQ(code_of(at_.get("airline", {.project = {""}})), errc::path_invalid);
    EXPECT_EQ(code_of(at_.get("", {.project = {"a"}})), errc::invalid_argument);
    std::string deep = "a";
    for (int level = 0; level < 32; ++level) {
        deep += ".a";
    }
    EXPECT_EQ(code_of(at_.get("airline", {.project = {deep}})), errc::path_too_deep);
}

TEST_F(projections, RH_16_it_is_sent_again_when_its_connection_breaks) {
    auto rule = fault(opcode::subdoc_multi_lookup, sandbox::fault_close_after{});
    rule.when.limit = 1;
    add_fault(*server_, rule);
    const auto found = must(at_.get("airline", {.with_expiry = true, .project = {"name"}}));
    EXPECT_EQ(found.text(), R"({"name":"Reprise \"Air\""})");
    EXPECT_GE(found.trace.retry_attempts, 1U);
    ASSERT_NE(found.trace.history, nullptr);
}

TEST_F(projections, the_token_form_owns_its_paths_and_keeps_its_timeout) {
    std::future<std::expected<couchbase::get_result, couchbase::error>> found;
    {
        const couchbase::get_options options{.with_expiry = true, .project = {"home.city"}};
        found = at_.async_get("airline", options, asio::use_future);
    }
    EXPECT_EQ(found.get().value().text(), R"({"home":{"city":"Graz"}})");
    EXPECT_EQ(
        code_of(at_.async_get("airline", {.project = {"["}}, asio::use_future).get()),
        errc::path_invalid);
    EXPECT_EQ(
        at_.async_get("airline", {}, asio::use_future).get().value().text(),
        at_.get("airline")->text());
    add_fault(*server_, fault(opcode::subdoc_multi_lookup, sandbox::fault_no_answer{}));
    const auto late =
        at_.async_get("airline", {.timeout = 100ms, .with_expiry = true}, asio::use_future).get();
    EXPECT_EQ(code_of(late), errc::unambiguous_timeout);
}

}  // namespace projection_test
