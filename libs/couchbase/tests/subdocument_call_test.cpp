#include "subdocument_call.hpp"

#include <gtest/gtest.h>

#include <utility>

#include <reprise/couchbase/subdocument_specs.hpp>
#include <reprise/engine/subdoc_words.hpp>

// The request of a sub-document call, what is refused before it is sent, and the order of its
// results.

namespace reprise::couchbase::detail::subdocument_call_test {

using change = mutate_spec;
using look = lookup_spec;
using wire::opcode;

document_call make_lookup(std::vector<lookup_spec> specs) {
    return make_call(operation_kind::lookup_in, "k", lookup_in_options{}, std::move(specs));
}

document_call make_mutation(
    std::vector<mutate_spec> specs, store_semantics store = store_semantics::replace) {
    return make_call(
        operation_kind::mutate_in, "k", mutate_in_options{.store = store}, std::move(specs));
}

TEST(subdocument_call, each_spec_has_its_opcode_flags_and_value) {
    auto call = make_mutation(
        {change::upsert("a", 1), change::insert("b", "t", {.create_path = true}),
         change::replace("c", nullptr), change::remove("d"), change::array_append("e", {1, 2}),
         change::array_prepend("f", true), change::array_insert("g[0]", 0.5),
         change::array_add_unique("h", "x"), change::increment("i", 4), change::decrement("j")},
        store_semantics::replace);
    ASSERT_TRUE(arrange_specs(call));
    const std::vector<std::pair<opcode, std::string>> expected{
        {opcode::subdoc_dict_upsert, "1"},       {opcode::subdoc_dict_add, "\"t\""},
        {opcode::subdoc_replace, "null"},        {opcode::subdoc_remove, ""},
        {opcode::subdoc_array_push_last, "1,2"}, {opcode::subdoc_array_push_first, "true"},
        {opcode::subdoc_array_insert, "0.5"},    {opcode::subdoc_array_add_unique, "\"x\""},
        {opcode::subdoc_counter, "4"},           {opcode::subdoc_counter, "-1"}};
    ASSERT_EQ(call.specs().size(), expected.size());
    for (std::size_t at = 0; at < expected.size(); ++at) {
        EXPECT_EQ(engine::opcode_of(call.specs()[at].verb), expected[at].first) << at;
        if (at != 6) {
            EXPECT_EQ(call.specs()[at].value, expected[at].second) << at;
        }
    }
    EXPECT_EQ(engine::flags_of(call.specs()[1]), wire::path_flags::create_parents);
    EXPECT_EQ(engine::doc_flags_of(call), wire::doc_flags::none);
}

TEST(subdocument_call, semantics_and_deleted_documents_are_flags_of_the_document) {
    const auto flags_with = [](store_semantics store, bool access_deleted) {
        auto call = make_mutation({change::upsert("a", 1)}, store);
        call.access_deleted = access_deleted;
        EXPECT_TRUE(arrange_specs(call));
        return engine::doc_flags_of(call);
    };
    using wire::doc_flags;
    EXPECT_EQ(flags_with(store_semantics::upsert, false), doc_flags::create);
    EXPECT_EQ(flags_with(store_semantics::insert, false), doc_flags::add);
    EXPECT_EQ(
        flags_with(store_semantics::upsert, true), doc_flags::create | doc_flags::access_deleted);
    auto call = make_lookup({look::get("a")});
    call.access_deleted = true;
    ASSERT_TRUE(arrange_specs(call));
    EXPECT_EQ(engine::doc_flags_of(call), doc_flags::access_deleted);
}

TEST(subdocument_call, attributes_are_sent_first_and_results_have_the_callers_order) {
    auto call = make_lookup(
        {look::get("body"), look::get("meta", {.is_xattr = true}), look::exists("no"),
         look::get("more", {.is_xattr = true})});
    const auto note = arrange_specs(call);
    ASSERT_TRUE(note);
    std::vector<std::string> sent;
    for (const auto& spec : call.specs()) {
        sent.push_back(spec.path);
    }
    EXPECT_EQ(sent, (std::vector<std::string>{"meta", "more", "body", "no"}));
    std::vector<engine::subdoc_result> answers(4);
    for (std::size_t at = 0; at < 3; ++at) {
        answers[at].value = base::slice::copy_of(std::as_bytes(std::span{sent[at]}));
    }
    answers[3].ec = errc::path_not_found;
    const lookup_in_result read{.paths = to_path_results(std::move(answers), **note)};
    EXPECT_EQ(read.content(0)->text(), "body");
    EXPECT_EQ(read.content(1)->text(), "meta");
    EXPECT_EQ(read.content(2)->text(), "false");
    EXPECT_EQ(read.content(3)->text(), "more");
    EXPECT_EQ(read.content(4).error().code(), errc::invalid_argument);

    auto failed = std::make_shared<error_info>();
    failed->code = errc::path_mismatch;
    failed->failed_path = 2;  // "body", as sent
    const auto moved = in_callers_order(failed, **note);
    EXPECT_EQ(moved->failed_path, 0);
    EXPECT_NE(moved->detail.find("'body'"), std::string::npos) << moved->detail;
}

TEST(subdocument_call, macros_turn_their_path_into_an_attribute) {
    auto call = make_mutation({change::upsert("m.cas", mutation_macro::cas)});
    ASSERT_TRUE(arrange_specs(call));
    EXPECT_EQ(
        engine::flags_of(call.specs()[0]),
        wire::path_flags::xattr | wire::path_flags::expand_macros);
}

TEST(subdocument_call, paths_missing_in_the_answer_are_decoding_failures) {
    auto call = make_lookup({look::get("a"), look::get("b")});
    const auto note = arrange_specs(call);
    std::vector<engine::subdoc_result> answers(1);
    EXPECT_EQ(to_path_results(std::move(answers), **note)[1].code, errc::decoding_failure);
}

TEST(subdocument_call, specs_that_no_server_accepts_are_refused_with_their_path) {
    struct refusal_case {
        document_call call;
        errc code;
        const char* words;
    };
    auto with_cas = make_mutation({change::upsert("a", 1)}, store_semantics::insert);
    with_cas.cas = 7;
    std::vector<refusal_case> cases{
        {make_lookup({}), errc::invalid_argument,
         "0 paths are given, but the number must be 1 to 16"},
        {make_lookup(std::vector<lookup_spec>(17, look::get("a"))), errc::invalid_argument,
         "17 paths"},
        {make_lookup({look::get("a"), look::get("")}), errc::invalid_argument,
         "path 1 '': the path is empty"},
        {make_lookup({look::get(std::string(1025, 'a'))}), errc::path_too_big, "1024"},
        {make_mutation({change::upsert("p", std::vector<std::byte>(1))}), errc::encoding_failure,
         "path 0 'p': the value is binary, not json"},
        {make_mutation({change::increment("n", 0)}), errc::delta_invalid, "above zero"},
        {make_mutation({change::decrement("n", -1)}), errc::delta_invalid, "above zero"},
        {make_mutation({change::array_append("a", {})}), errc::invalid_argument, "no values"},
        {make_mutation({change::array_add_unique("a", mutation_macro::cas)}),
         errc::invalid_argument, "macros"},
        {make_mutation({change::array_append("a", {mutation_macro::cas, 1})}),
         errc::invalid_argument, "a macro must be the only value"},
        {make_mutation({change::replace("a", 1)}, store_semantics::upsert), errc::invalid_argument,
         "not allowed if the same call creates the document"},
        {with_cas, errc::invalid_argument, "cas"}};
    for (refusal_case& each : cases) {
        const auto refused = arrange_specs(each.call);
        ASSERT_FALSE(refused) << each.words;
        EXPECT_EQ(refused.error().code(), each.code) << refused.error();
        EXPECT_NE(refused.error().message().find(each.words), std::string::npos)
            << each.words << " in " << refused.error();
    }
    // The count and the whole document need no path.
    auto call = make_lookup({look::count(""), look::get_full_document()});
    EXPECT_TRUE(arrange_specs(call));
}

}  // namespace reprise::couchbase::detail::subdocument_call_test
