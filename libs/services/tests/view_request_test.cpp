#include <gtest/gtest.h>

#include <reprise/services/view_request.hpp>

namespace reprise::services::view_request_test {

using couchbase::json_text;
using couchbase::view_on_error;
using couchbase::view_stale;

TEST(view_request, RH_18_is_always_idempotent_and_has_all_options_in_its_path) {
    const auto plain = make_view_call("b 1", "d/x", "v").value();
    EXPECT_EQ(plain.service, wire::service::views);
    EXPECT_EQ(plain.method, "GET");
    EXPECT_EQ(plain.target, "/b%201/_design/d%2Fx/_view/v");
    EXPECT_EQ(plain.rows_member, "rows");
    EXPECT_TRUE(plain.is_idempotent);
    view_options options;
    options.is_development = true;
    options.limit = 11;
    options.skip = 0;
    options.stale = view_stale::no;
    options.key = "k&1";
    options.start_key = json_text{"[1]"};
    options.end_key = json_text{"{}"};
    options.start_key_doc_id = "a b";
    options.end_key_doc_id = "c";
    options.inclusive_end = false;
    options.reduce = true;
    options.group = false;
    options.group_level = 2;
    options.descending = true;
    options.on_error = view_on_error::keep_going;
    options.debug = true;
    options.full_set = true;
    EXPECT_EQ(
        make_view_call("b 1", "d/x", "v", options)->target,
        "/b%201/_design/dev_d%2Fx/_view/v?limit=11&skip=0&stale=false&key=%22k%261%22"
        "&startkey=%5B1%5D&endkey=%7B%7D&startkey_docid=a%20b&endkey_docid=c"
        "&inclusive_end=false&reduce=true&group=false&group_level=2&descending=true"
        "&on_error=continue&debug=true&full_set=true");
}

TEST(view_request, keys_go_into_a_body_and_stay_idempotent) {
    const view_options options{
        .stale = view_stale::update_after, .keys = {"a", json_text{"[1,2]"}}};
    const auto call = make_view_call("b", "d", "v", options).value();
    EXPECT_EQ(call.method, "POST");
    EXPECT_EQ(call.target, "/b/_design/d/_view/v?stale=update_after");
    EXPECT_EQ(call.content_type, "application/json");
    EXPECT_EQ(call.body, R"({"keys":["a",[1,2]]})");
    EXPECT_TRUE(call.is_idempotent);
}

TEST(view_request, missing_or_invalid_members_are_reported) {
    using enum service_call_errc;
    EXPECT_EQ(make_view_call("", "d", "v").error(), (service_call_error{text_missing, "bucket"}));
    EXPECT_EQ(
        make_view_call("b", "", "v").error(),
        (service_call_error{text_missing, "design_document"}));
    EXPECT_EQ(
        make_view_call("b", "", "v", {.is_development = true}).error(),
        (service_call_error{text_missing, "design_document"}));
    EXPECT_EQ(make_view_call("b", "d", "").error(), (service_call_error{text_missing, "view"}));
    for (const char* dots : {".", ".."}) {
        EXPECT_EQ(
            make_view_call(dots, "d", "v").error(), (service_call_error{dot_segment, "bucket"}));
        EXPECT_EQ(
            make_view_call("b", dots, "v").error(),
            (service_call_error{dot_segment, "design_document"}));
        EXPECT_EQ(
            make_view_call("b", "d", dots).error(), (service_call_error{dot_segment, "view"}));
    }
    EXPECT_EQ(
        make_view_call("b", "d", "v", {.key = json_text{"plain"}}).error(),
        (service_call_error{value_not_json, "key"}));
    EXPECT_EQ(
        make_view_call("b", "d", "v", {.keys = {1, json_text{"2]"}}}).error(),
        (service_call_error{value_not_json, "keys[1]"}));
    EXPECT_EQ(
        make_view_call("b", "d", "v", {.end_key = json_text{}}).error(),
        (service_call_error{value_not_encoded, "endkey: the value is empty"}));
}

}  // namespace reprise::services::view_request_test
