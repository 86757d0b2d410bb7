#include <reprise/couchbase/codec.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

namespace couchbase = reprise::couchbase;
using couchbase::document_format;

couchbase::document_view make_document(std::string_view text, std::uint32_t flags) {
    return {std::as_bytes(std::span{text}), flags};
}

TEST(codec, formats_are_the_top_byte_of_the_flags) {
    EXPECT_EQ(couchbase::flags_of(document_format::json), 0x02000000U);
    EXPECT_EQ(couchbase::flags_of(document_format::binary), 0x03000000U);
    EXPECT_EQ(couchbase::flags_of(document_format::string), 0x04000000U);
    EXPECT_EQ(couchbase::format_of(0x02000006), document_format::json);  // with older numbers below
    EXPECT_EQ(couchbase::format_of(0), document_format::none);
    EXPECT_EQ(couchbase::format_of(0x01000000), document_format::private_format);
    EXPECT_EQ(couchbase::format_of(0x05000000), document_format::unknown);
    EXPECT_EQ(couchbase::flags_of(document_format::unknown), 0U);
    EXPECT_EQ(couchbase::format_of(0x22000000), document_format::unknown);  // a compressed format
}

TEST(codec, values_are_marked_with_their_format) {
    using couchbase::codec;
    EXPECT_EQ(
        codec<couchbase::plain_text>::encode(couchbase::plain_text{"x"}).flags(), 0x04000000U);
    EXPECT_EQ(codec<couchbase::json_text>::encode(couchbase::json_text{"{}"}).flags(), 0x02000000U);
    EXPECT_EQ(codec<std::vector<std::byte>>::encode({}).flags(), 0x03000000U);
}

TEST(codec, documents_without_a_format_are_read_as_json_and_as_binary_but_not_as_string) {
    const auto document = make_document("{}", 0);
    EXPECT_EQ(couchbase::codec<couchbase::json_text>::decode(document)->text, "{}");
    EXPECT_EQ(couchbase::codec<std::vector<std::byte>>::decode(document)->size(), 2U);
    EXPECT_FALSE(couchbase::codec<std::string>::decode(document));
}

TEST(codec, json_text_is_stored_as_it_is_and_plain_text_is_not_quoted) {
    const auto bytes_of = [](const couchbase::encoded_value& value) {
        const auto bytes = value.bytes();
        return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    const couchbase::json_text json{R"({"n":1})"};
    EXPECT_EQ(bytes_of(couchbase::codec<couchbase::json_text>::encode(json)), R"({"n":1})");
    const couchbase::plain_text text{"Reprise \"Air\""};
    EXPECT_EQ(bytes_of(couchbase::codec<couchbase::plain_text>::encode(text)), "Reprise \"Air\"");
    const auto stored = make_document(text.text, 0x04000000);
    EXPECT_EQ(couchbase::codec<couchbase::plain_text>::decode(stored), text);
    EXPECT_EQ(couchbase::codec<std::string>::decode(stored), text.text);
}

TEST(codec, bare_text_has_no_format_of_its_own) {
    EXPECT_FALSE(couchbase::encodable<std::string>);
    EXPECT_FALSE(couchbase::encodable<std::string_view>);
    EXPECT_FALSE(couchbase::encodable<char[8]>);
    EXPECT_TRUE(couchbase::decodable<std::string>);
}

TEST(codec, another_format_is_a_decoding_failure_that_names_both) {
    const auto decoded =
        couchbase::codec<couchbase::json_text>::decode(make_document("x", 0x04000000));
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().code(), couchbase::errc::decoding_failure);
    EXPECT_NE(decoded.error().message().find("json"), std::string::npos);
    EXPECT_NE(decoded.error().message().find("string"), std::string::npos);
}

TEST(codec, a_failed_encoding_has_a_reason_and_no_bytes) {
    const auto failed = couchbase::encoded_value::failed("no such thing");
    EXPECT_EQ(failed.problem(), "no such thing");
    EXPECT_TRUE(failed.bytes().empty());
    EXPECT_FALSE(couchbase::encoded_value::failed("").problem().empty());
    EXPECT_EQ(couchbase::encoded_value::own("{}", document_format::json).problem(), "");
}

TEST(codec, json_and_documents_without_a_format_may_be_json) {
    EXPECT_TRUE(make_document("{}", 0).may_be_json());
    EXPECT_TRUE(make_document("{}", 0x02000006).may_be_json());
    for (const std::uint32_t flags : {0x01000000U, 0x03000000U, 0x04000000U, 0x22000000U}) {
        EXPECT_FALSE(make_document("{}", flags).may_be_json()) << flags;
    }
}

TEST(codec, text_is_checked_for_utf8) {
    EXPECT_TRUE(couchbase::is_valid_utf8("caf\xc3\xa9"));
    EXPECT_FALSE(couchbase::is_valid_utf8("caf\xe9"));
}

TEST(codec, an_owned_value_survives_being_moved) {
    auto value = couchbase::encoded_value::own("short", document_format::string);
    const auto moved = std::move(value);
    const auto bytes = moved.bytes();
    EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()), "short");
}

}  // namespace
