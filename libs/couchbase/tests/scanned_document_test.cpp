#include "scanned_document.hpp"

#include <string>

#include <gtest/gtest.h>
#include <reprise/wire/compression.hpp>
#include <reprise/wire/range_scan_messages.hpp>

namespace reprise::couchbase::detail {
namespace {

std::string row_of(const wire::scan_item& item, wire::scan_content content) {
    std::vector<std::byte> bytes;
    base::byte_writer writer(bytes);
    wire::append_scan_item(writer, content, item);
    return std::string(base::as_text(bytes));
}

TEST(scanned_document, a_row_becomes_a_document) {
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

TEST(scanned_document, a_compressed_document_is_inflated_and_a_broken_one_refused) {
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
