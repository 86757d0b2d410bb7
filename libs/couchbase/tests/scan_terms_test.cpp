#include "scan_terms.hpp"

#include <string>

#include <gtest/gtest.h>
#include <reprise/wire/compression.hpp>

namespace reprise::couchbase::detail {
namespace {

wire::scan_range range_of(const scan_kind& what) {
    return std::get<wire::scan_range>(make_scan_terms(what, {}, 1)->what);
}

std::string row_of(const wire::scan_item& item, wire::scan_content content) {
    std::vector<std::byte> bytes;
    base::byte_writer writer(bytes);
    wire::append_scan_item(writer, content, item);
    return std::string(base::as_text(bytes));
}

TEST(scan_terms, a_range_without_ends_contains_all_keys) {
    const auto all = range_of(range_scan{});
    EXPECT_EQ(all.start.key, std::string(1, '\0'));
    EXPECT_EQ(all.end.key, "\xff");
    EXPECT_EQ(range_of(prefix_scan{}), all);
}

TEST(scan_terms, bounds_are_sent_as_they_are_given) {
    const auto range = range_of(range_scan{.from = {"a", true}, .to = {"b", true}});
    EXPECT_EQ(range.start, (wire::scan_bound{"a", true}));
    EXPECT_EQ(range.end, (wire::scan_bound{"b", true}));
    EXPECT_FALSE(range_of(range_scan{.from = {"a"}}).start.is_exclusive);
}

TEST(scan_terms, a_prefix_is_the_range_of_all_keys_that_begin_with_it) {
    const auto range = range_of(prefix_scan{"user_"});
    EXPECT_EQ(range.start, (wire::scan_bound{"user_", false}));
    EXPECT_EQ(range.end, (wire::scan_bound{"user_\xff", false}));
}

TEST(scan_terms, a_sample_without_a_seed_gets_a_random_one) {
    const auto sampling_of = [](const sampling_scan& what) {
        return std::get<wire::scan_sampling>(make_scan_terms(what, {}, 77)->what);
    };
    EXPECT_EQ(sampling_of({.limit = 3}), (wire::scan_sampling{3, 77}));
    EXPECT_EQ(sampling_of({.limit = 3, .seed = 5}), (wire::scan_sampling{3, 5}));
}

TEST(scan_terms, limits_of_zero_and_bounds_that_are_too_long_are_refused) {
    const range_scan all;
    const auto code_of = [](const scan_kind& what, const scan_options& options) {
        const auto terms = make_scan_terms(what, options, 1);
        return terms ? std::error_code() : terms.error().code();
    };
    EXPECT_EQ(code_of(all, {.batch_item_limit = 0}), errc::invalid_argument);
    EXPECT_EQ(code_of(all, {.batch_byte_limit = 0}), errc::invalid_argument);
    EXPECT_EQ(code_of(all, {.concurrency = 0}), errc::invalid_argument);
    EXPECT_EQ(code_of(sampling_scan{}, {}), errc::invalid_argument);
    EXPECT_EQ(code_of(prefix_scan{std::string(251, 'a')}, {}), errc::invalid_argument);
    EXPECT_EQ(code_of(prefix_scan{std::string(250, 'a')}, {}), std::error_code());
}

TEST(scan_terms, a_vbucket_must_have_the_newest_of_its_mutations) {
    const mutation_state state{
        {{"travel", 3, 7, 10},
         {"travel", 3, 7, 12},
         {"travel", 3, 7, 11},
         {"travel", 4, 8, 99},
         {"other", 3, 9, 50}}};
    EXPECT_EQ(snapshot_for(state, "travel", 3), (wire::scan_snapshot{7, 12, 0}));
    EXPECT_EQ(snapshot_for(state, "travel", 5), std::nullopt);
}

TEST(scan_terms, a_row_becomes_a_document) {
    wire::scan_item item;
    item.key = "k";
    item.flags = 0x02000000;
    item.expiry = 60;
    item.cas = 9;
    item.value = base::as_bytes("{}");
    const auto document = to_document(row_of(item, wire::scan_content::documents), false);
    ASSERT_TRUE(document);
    EXPECT_EQ(document->key, "k");
    EXPECT_EQ(document->text(), "{}");
    EXPECT_EQ(document->format(), document_format::json);
    EXPECT_EQ(document->cas, cas{9});
    EXPECT_EQ(document->expiry(), std::chrono::sys_seconds{std::chrono::seconds{60}});
    item.expiry = 0;
    EXPECT_EQ(
        to_document(row_of(item, wire::scan_content::documents), false)->expiry(), std::nullopt);
    const auto key = to_document(row_of(item, wire::scan_content::keys), true);
    ASSERT_TRUE(key);
    EXPECT_EQ(key->key, "k");
    EXPECT_TRUE(key->text().empty());
}

TEST(scan_terms, a_compressed_document_is_inflated_and_a_broken_one_refused) {
    const std::string plain(1000, 'x');
    const auto smaller = wire::compress_if_smaller(base::as_bytes(plain), {});
    ASSERT_TRUE(smaller);
    wire::scan_item item;
    item.key = "k";
    item.datatype = wire::datatype::snappy;
    item.value = *smaller;
    EXPECT_EQ(to_document(row_of(item, wire::scan_content::documents), false)->text(), plain);
    item.value = base::as_bytes("\x7f");
    EXPECT_EQ(
        to_document(row_of(item, wire::scan_content::documents), false).error().code(),
        errc::decoding_failure);
}

}  // namespace
}  // namespace reprise::couchbase::detail
