#include <gtest/gtest.h>

#include <reprise/services/view_request.hpp>

namespace reprise::services {
namespace view_request_test {

TEST(view_request, RH_18_is_always_idempotent_and_has_all_options_in_its_path) {
    view_request request{.bucket = "b 1", .design_document = "d/x", .view = "v"};
    const auto plain = make_view_call(request).value();
    EXPECT_EQ(plain.service, wire::service::views);
    EXPECT_EQ(plain.method, "GET");
    EXPECT_EQ(plain.target, "/b%201/_design/d%2Fx/_view/v");
    EXPECT_EQ(plain.rows_member, "rows");
    EXPECT_TRUE(plain.is_idempotent);
    request.is_development = true;
    request.limit = 11;
    request.skip = 0;
    request.stale = view_stale::no;
    request.key = R"("k&1")";
    request.start_key = "[1]";
    request.end_key = "{}";
    request.start_key_doc_id = "a b";
    request.end_key_doc_id = "c";
    request.is_end_inclusive = false;
    request.is_reduced = true;
    request.is_grouped = false;
    request.group_level = 2;
    request.is_descending = true;
    request.on_error = view_on_error::keep_going;
    request.has_debug = true;
    request.is_full_set = true;
    EXPECT_EQ(
        make_view_call(request)->target,
        "/b%201/_design/dev_d%2Fx/_view/v?limit=11&skip=0&stale=false&key=%22k%261%22"
        "&startkey=%5B1%5D&endkey=%7B%7D&startkey_docid=a%20b&endkey_docid=c"
        "&inclusive_end=false&reduce=true&group=false&group_level=2&descending=true"
        "&on_error=continue&debug=true&full_set=true");
}

TEST(view_request, keys_go_into_a_body_and_stay_idempotent) {
    const auto call = make_view_call({.bucket = "b",
                                      .design_document = "d",
                                      .view = "v",
                                      .stale = view_stale::update_after,
                                      .keys = {R"("a")", "[1,2]"}})
                          .value();
    EXPECT_EQ(call.method, "POST");
    EXPECT_EQ(call.target, "/b/_design/d/_view/v?stale=update_after");
    EXPECT_EQ(call.content_type, "application/json");
    EXPECT_EQ(call.body, R"({"keys":["a",[1,2]]})");
    EXPECT_TRUE(call.is_idempotent);
}

TEST(view_request, missing_or_invalid_members_are_reported) {
    using enum service_call_errc;
    EXPECT_EQ(
        make_view_call({.design_document = "d", .view = "v"}).error(),
        (service_call_error{text_missing, "bucket"}));
    EXPECT_EQ(
        make_view_call({.bucket = "b", .view = "v"}).error(),
        (service_call_error{text_missing, "design_document"}));
    EXPECT_EQ(
        make_view_call({.bucket = "b", .design_document = "d"}).error(),
        (service_call_error{text_missing, "view"}));
    for (const char* dots : {".", ".."}) {
        EXPECT_EQ(
            make_view_call({.bucket = dots, .design_document = "d", .view = "v"}).error(),
            (service_call_error{dot_segment, "bucket"}));
        EXPECT_EQ(
            make_view_call({.bucket = "b", .design_document = dots, .view = "v"}).error(),
            (service_call_error{dot_segment, "design_document"}));
        EXPECT_EQ(
            make_view_call({.bucket = "b", .design_document = "d", .view = dots}).error(),
            (service_call_error{dot_segment, "view"}));
    }
    view_request request{.bucket = "b", .design_document = "d", .view = "v", .key = "plain"};
    EXPECT_EQ(make_view_call(request).error(), (service_call_error{value_not_json, "key"}));
    request.key.clear();
    request.keys = {"1", "2]"};
    EXPECT_EQ(make_view_call(request).error(), (service_call_error{value_not_json, "keys[1]"}));
}

}  // namespace view_request_test
}  // namespace reprise::services
