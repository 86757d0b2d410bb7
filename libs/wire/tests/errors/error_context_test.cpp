#include <string>

#include <gtest/gtest.h>
#include <reprise/wire/error_context.hpp>
#include <reprise/wire/message.hpp>

#include "frame_bytes.hpp"

namespace error_context_test {

using namespace reprise::wire;
using namespace frame_bytes;

TEST(error_context, an_unknown_collection_body_is_encoded_and_parsed) {
    const std::string body =
        R"({"error":{"context":"Unknown scope or collection in operation"},"manifest_uid":"1f"})";
    const auto parsed = must(parse_error_context(text(body)));
    EXPECT_EQ(parsed.context, "Unknown scope or collection in operation");
    EXPECT_EQ(parsed.ref, "");
    EXPECT_EQ(parsed.manifest_uid, 0x1fu);
    EXPECT_EQ(encode_error_context(parsed), body);
}

TEST(error_context, every_member_is_optional_and_others_are_ignored) {
    EXPECT_EQ(parse_error_context({}), error_context{});
    EXPECT_EQ(parse_error_context(text("{}")), error_context{});
    const auto parsed = must(parse_error_context(
        text(R"({"error":{"ref":"0000-11","extra":[1]},"other":{"context":"no"}})")));
    EXPECT_EQ(parsed.ref, "0000-11");
    EXPECT_EQ(parsed.context, "");
    EXPECT_EQ(parsed.manifest_uid, std::nullopt);
    EXPECT_EQ(encode_error_context({}), "");
    EXPECT_EQ(encode_error_context({"", "", 0}), R"({"manifest_uid":"0"})");
    EXPECT_EQ(
        encode_error_context({"a \"b\"", "r", {}}), R"({"error":{"context":"a \"b\"","ref":"r"}})");
}

TEST(error_context, bodies_of_any_other_shape_are_malformed) {
    for (const char* body :
         {"[", "[]", "7", "not json", R"({"error":1})", R"({"error":{"context":1}})",
          R"({"error":{"ref":null}})", R"({"manifest_uid":31})", R"({"manifest_uid":""})",
          R"({"manifest_uid":"0x1f"})", R"({"manifest_uid":"11112222333344445"})"}) {
        const auto parsed = parse_error_context(text(body));
        ASSERT_FALSE(parsed.has_value()) << body;
        EXPECT_EQ(parsed.error(), wire_errc::error_body_malformed) << body;
    }
}

TEST(error_context, long_texts_are_truncated_between_characters) {
    const std::string long_text = std::string(4095, 'x') + "\xc3\xa9" + "y";
    const auto parsed =
        must(parse_error_context(text(R"({"error":{"context":")" + long_text + R"("}})")));
    EXPECT_EQ(parsed.context, std::string(4095, 'x'));
}

TEST(error_context, only_json_error_responses_have_a_context) {
    const std::string body = R"({"error":{"context":"why"}})";
    const auto context_with = [&body](status code, datatype type) {
        response_header header;
        header.status = code;
        header.datatype = type;
        const auto bytes = encoded(value_response{text(body)}, header);
        return error_context_of(frame_of(bytes)).context;
    };
    EXPECT_EQ(context_with(status::einval, datatype::json), "why");
    EXPECT_EQ(context_with(status::einval, datatype::raw), "");
    EXPECT_EQ(context_with(status::einval, datatype::json | datatype::snappy), "");
    EXPECT_EQ(context_with(status::not_my_vbucket, datatype::json), "");
    EXPECT_EQ(context_with(status::success, datatype::json), "");
    response_header header;
    header.status = status::einval;
    header.datatype = datatype::json;
    const auto bytes = encoded(value_response{text("garbage")}, header);
    EXPECT_EQ(error_context_of(frame_of(bytes)), error_context{});
}

}  // namespace error_context_test
