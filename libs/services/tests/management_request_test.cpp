#include <gtest/gtest.h>

#include <reprise/services/management_request.hpp>
#include <reprise/services/query_index_statement.hpp>
#include <reprise/services/query_request.hpp>

namespace reprise::services::management_request_test {

using namespace std::chrono_literals;

TEST(management_request, a_bucket_is_created_with_a_form) {
    bucket_settings bucket;
    bucket.name = "b&1";
    bucket.kind = couchbase::bucket_kind::ephemeral;
    bucket.ram_quota_mb = 256;
    bucket.replica_count = 2;
    bucket.is_flush_enabled = true;
    bucket.has_replica_index = false;
    bucket.expiry_max = 60s;
    bucket.eviction_policy = "noEviction";
    bucket.compression_mode = "active";
    bucket.durability_min_level = "majority";
    bucket.conflict_resolution = "seqno";
    bucket.storage_backend = "magma";
    const auto call = make_create_bucket_call(bucket).value();
    EXPECT_EQ(call.service, wire::service::management);
    EXPECT_EQ(call.method, "POST");
    EXPECT_EQ(call.target, "/pools/default/buckets");
    EXPECT_EQ(call.content_type, "application/x-www-form-urlencoded");
    EXPECT_EQ(
        call.body,
        "ramQuotaMB=256&replicaNumber=2&flushEnabled=1&maxTTL=60&evictionPolicy=noEviction"
        "&compressionMode=active&durabilityMinLevel=majority&storageBackend=magma&name=b%261"
        "&bucketType=ephemeral&replicaIndex=0&conflictResolutionType=seqno");
    const auto update = make_update_bucket_call({.name = "b", .ram_quota_mb = 200}).value();
    EXPECT_EQ(update.target, "/pools/default/buckets/b");
    EXPECT_EQ(update.body, "ramQuotaMB=200");
}

TEST(management_request, paths_contain_the_names_of_their_resources) {
    const auto line = [](const service_call_result& call) {
        return call->method + ' ' + call->target + ' ' + call->body;
    };
    EXPECT_EQ(line(make_drop_bucket_call("a/b")), "DELETE /pools/default/buckets/a%2Fb ");
    EXPECT_EQ(
        line(make_flush_bucket_call("b")), "POST /pools/default/buckets/b/controller/doFlush ");
    EXPECT_EQ(line(make_get_bucket_call("b")), "GET /pools/default/buckets/b ");
    EXPECT_EQ(line(make_list_buckets_call()), "GET /pools/default/buckets ");
    EXPECT_EQ(line(make_list_scopes_call("b")), "GET /pools/default/buckets/b/scopes ");
    EXPECT_EQ(
        line(make_create_scope_call("b", "s")), "POST /pools/default/buckets/b/scopes name=s");
    EXPECT_EQ(line(make_drop_scope_call("b", "s")), "DELETE /pools/default/buckets/b/scopes/s ");
    EXPECT_EQ(
        line(make_create_collection_call(
            "b", {.scope = "s", .name = "c", .expiry_max = -1s, .has_history = true})),
        "POST /pools/default/buckets/b/scopes/s/collections name=c&maxTTL=-1&history=true");
    EXPECT_EQ(
        line(make_drop_collection_call("b", "s", "c")),
        "DELETE /pools/default/buckets/b/scopes/s/collections/c ");
}

TEST(management_request, RH_18_only_get_and_head_are_idempotent) {
    EXPECT_TRUE(make_list_buckets_call().is_idempotent);
    EXPECT_TRUE(make_get_bucket_call("b")->is_idempotent);
    EXPECT_TRUE(make_list_scopes_call("b")->is_idempotent);
    EXPECT_TRUE(make_raw_call({.target = "/pools"})->is_idempotent);
    EXPECT_TRUE(make_raw_call({.method = "HEAD", .target = "/pools"})->is_idempotent);
    for (const auto& call :
         {make_create_bucket_call({.name = "b"}), make_drop_bucket_call("b"),
          make_flush_bucket_call("b"), make_drop_scope_call("b", "s"),
          make_create_scope_call("b", "s"), make_drop_collection_call("b", "s", "c"),
          make_raw_call({.method = "POST", .target = "/x"}),
          make_raw_call({.method = "DELETE", .target = "/x"}),
          make_raw_call({.method = "PUT", .target = "/x"}),
          make_raw_call({.method = "get", .target = "/x"})}) {
        EXPECT_FALSE(call->is_idempotent) << call->method << call->target;
    }
}

TEST(management_request, an_empty_name_never_widens_a_request) {
    using enum service_call_errc;
    EXPECT_EQ(make_drop_bucket_call("").error(), (service_call_error{text_missing, "bucket"}));
    EXPECT_EQ(make_drop_scope_call("b", "").error(), (service_call_error{text_missing, "scope"}));
    EXPECT_EQ(
        make_drop_collection_call("b", "s", "").error(),
        (service_call_error{text_missing, "collection"}));
    EXPECT_EQ(make_create_bucket_call({}).error(), (service_call_error{text_missing, "bucket"}));
    EXPECT_EQ(make_create_scope_call("b", "").error(), (service_call_error{text_missing, "scope"}));
    EXPECT_EQ(
        make_create_collection_call("b", {.scope = "s", .name = ""}).error(),
        (service_call_error{text_missing, "collection"}));
}

TEST(management_request, a_raw_target_cannot_smuggle_anything) {
    for (const char* target : {"", "pools", "/a b", "/a\r\nX: y", "/\x01", "/\x7f", "/\xc3\xa9"}) {
        EXPECT_EQ(make_raw_call({.target = target}).error().code, service_call_errc::target_invalid)
            << target;
    }
    const auto call = make_raw_call({.service = couchbase::service_kind::search,
                                     .method = "PUT",
                                     .target = "/api/index/x?y=%20",
                                     .content_type = "application/json",
                                     .body = "{}"})
                          .value();
    EXPECT_EQ(call.service, wire::service::search);
    EXPECT_EQ(call.body, "{}");
    EXPECT_EQ(
        make_raw_call({.service = couchbase::service_kind::key_value, .target = "/"}).error().code,
        service_call_errc::option_out_of_place);
    EXPECT_EQ(
        make_raw_call({.method = "", .target = "/"}).error(),
        (service_call_error{service_call_errc::text_missing, "method"}));
}

// Some servers would treat DELETE /pools/default/buckets/../x as DELETE /pools/default/x.
TEST(management_request, names_that_navigate_in_a_path_are_rejected) {
    using enum service_call_errc;
    for (const char* dots : {".", ".."}) {
        SCOPED_TRACE(dots);
        const service_call_error bucket{dot_segment, "bucket"};
        EXPECT_EQ(make_drop_bucket_call(dots).error(), bucket);
        EXPECT_EQ(make_get_bucket_call(dots).error(), bucket);
        EXPECT_EQ(make_flush_bucket_call(dots).error(), bucket);
        EXPECT_EQ(make_update_bucket_call({.name = dots}).error(), bucket);
        EXPECT_EQ(make_list_scopes_call(dots).error(), bucket);
        EXPECT_EQ(make_create_scope_call(dots, "s").error(), bucket);
        EXPECT_EQ(
            make_drop_scope_call("b", dots).error(), (service_call_error{dot_segment, "scope"}));
        EXPECT_EQ(
            make_create_collection_call("b", {.scope = dots, .name = "c"}).error(),
            (service_call_error{dot_segment, "scope"}));
        EXPECT_EQ(
            make_drop_collection_call("b", "s", dots).error(),
            (service_call_error{dot_segment, "collection"}));
    }
    EXPECT_EQ(to_string(service_call_error{dot_segment, "bucket"}), "dot_segment: bucket");
    EXPECT_EQ(make_drop_bucket_call("...").value().target, "/pools/default/buckets/...")
        << "three dots are a name";
}

TEST(management_request, a_raw_target_cannot_navigate_elsewhere) {
    for (const char* target :
         {"/..", "/.", "/a/../b", "/a/./b", "/a/%2e%2e/b", "/a/.%2E", "/%2e", "/a/..?x=1"}) {
        EXPECT_EQ(
            make_raw_call({.target = target}).error(),
            (service_call_error{service_call_errc::dot_segment, target}));
    }
    for (const char* target : {"/", "/a.b/c..d", "/...", "/a?x=/../y", "/.x", "/x.", "/%2ex"}) {
        EXPECT_TRUE(make_raw_call({.target = target})) << target;
    }
}

TEST(management_outcome, parses_buckets) {
    const std::string shown =
        R"({"name":"b","bucketType":"membase","quota":{"ram":209715200,"rawRAM":104857600},)"
        R"("replicaNumber":1,"replicaIndex":true,"maxTTL":5,"evictionPolicy":"fullEviction",)"
        R"("compressionMode":"passive","durabilityMinLevel":"none","storageBackend":"couchstore",)"
        R"("conflictResolutionType":"lww","controllers":{"flush":"/x"},"nodes":[]})";
    const auto bucket = parse_bucket(shown).value();
    EXPECT_EQ(
        bucket, (bucket_settings{
                    "b", couchbase::bucket_kind::couchbase, 100, 1, true, true, 5s, "fullEviction",
                    "passive", "none", "lww", "couchstore"}));
    const auto list = parse_bucket_list("[" + shown + R"(,{"name":"m","bucketType":"memcached"}])");
    ASSERT_TRUE(list);
    ASSERT_EQ(list->size(), 2u);
    EXPECT_EQ((*list)[0], bucket);
    EXPECT_EQ((*list)[1].kind, couchbase::bucket_kind::memcached);
    EXPECT_EQ(parse_bucket_list(R"([{"name":"a"},{}])").error().path, "[1].name");
    EXPECT_EQ(parse_bucket_list("{}").error().code, outcome_errc::wrong_type);
    EXPECT_EQ(parse_bucket("[").error().code, outcome_errc::not_json);
}

TEST(management_outcome, answers_are_classified) {
    using enum errc;
    const auto of = [](int status, std::string_view body,
                       std::string_view target = "/pools/default/buckets/b") {
        return classify_management(status, target, body);
    };
    EXPECT_EQ(of(202, ""), std::nullopt);
    EXPECT_EQ(
        of(400, R"({"errors":{"name":"Bucket with given name already exists"}})"), bucket_exists);
    EXPECT_EQ(of(400, "{\"_\":\"Flush is disabled for the bucket\"}"), bucket_not_flushable);
    EXPECT_EQ(of(400, R"({"errors":{"_":"Scope with name \"s\" already exists"}})"), scope_exists);
    EXPECT_EQ(
        of(400, R"(Collection with name \"c\" in scope \"s\" already exists)"), collection_exists);
    EXPECT_EQ(of(400, "no"), invalid_argument);
    EXPECT_EQ(of(401, ""), authentication_failure);
    EXPECT_EQ(of(404, R"(Scope with name \"s\" is not found)"), scope_not_found);
    EXPECT_EQ(of(404, R"(Collection with name \"c\" is not found)"), collection_not_found);
    EXPECT_EQ(of(404, "Requested resource not found."), bucket_not_found);
    EXPECT_EQ(of(404, "Unknown user.", "/settings/rbac/users/local/x"), user_not_found);
    EXPECT_EQ(of(404, "Unknown group.", "/settings/rbac/groups/x"), group_not_found);
    EXPECT_EQ(of(404, "{}", "/b/_design/d"), design_document_not_found);
    EXPECT_EQ(of(404, "User was not found.", "/settings/rbac/users/local/x"), user_not_found);
    EXPECT_EQ(of(404, "Not found.", "/nothing"), feature_not_available);
    EXPECT_EQ(of(429, "Limit(s) exceeded [num_concurrent_requests]"), rate_limited);
    EXPECT_EQ(of(429, "Maximum number of collections has been reached for scope"), quota_limited);
    EXPECT_EQ(of(500, ""), internal_server_failure);
    EXPECT_EQ(of(503, ""), service_not_available);
    EXPECT_EQ(of(302, ""), internal_server_failure);
}

TEST(query_index_statement, names_are_quoted) {
    EXPECT_EQ(
        make_create_index_statement(
            {.bucket = "b"}, {.name = "i`x", .keys = {"a", "b.c DESC"}, .condition = "a > 1"}),
        "CREATE INDEX `i``x` ON `b`(a, b.c DESC) WHERE a > 1 USING GSI");
    EXPECT_EQ(
        make_create_index_statement(
            {"b", "s", "c"}, {.is_primary = true, .is_deferred = true, .replica_count = 2}),
        "CREATE PRIMARY INDEX ON `b`.`s`.`c` USING GSI WITH "
        R"({"defer_build":true,"num_replica":2})");
    EXPECT_EQ(make_drop_index_statement({.bucket = "b"}, "i"), "DROP INDEX `b`.`i` USING GSI");
    EXPECT_EQ(
        make_drop_index_statement({"b", "s", "c"}, "i"), "DROP INDEX `i` ON `b`.`s`.`c` USING GSI");
    EXPECT_EQ(
        make_drop_index_statement({.bucket = "b"}, ""), "DROP PRIMARY INDEX ON `b` USING GSI");
    EXPECT_EQ(
        make_build_index_statement({.bucket = "b"}, {"i", "j"}),
        "BUILD INDEX ON `b`(`i`, `j`) USING GSI");
    EXPECT_EQ(quote_keyspace({.bucket = "b", .collection = "c"}), "`b`.`_default`.`c`");
}

TEST(query_index_statement, RH_18_listing_is_readonly_and_its_rows_are_parsed) {
    const index_target on{.bucket = "b\"1"};
    const auto call =
        make_query_call(make_list_indexes_statement(on), make_list_indexes_options(on, {})).value();
    EXPECT_TRUE(call.is_idempotent);
    EXPECT_NE(call.body.find(R"("$bucket":"b\"1","$scope":"_default")"), std::string::npos)
        << call.body;
    EXPECT_NE(call.body.find("IS MISSING"), std::string::npos);
    EXPECT_EQ(make_list_indexes_statement({"b", "s", "c"}).find("IS MISSING"), std::string::npos);
    const auto row =
        parse_query_index(R"({"name":"i","state":"online","index_key":["`a`"],"condition":"x",)"
                          R"("bucket_id":"b","scope_id":"s","keyspace_id":"c"})")
            .value();
    EXPECT_EQ(row.name, "i");
    EXPECT_EQ(row.state, "online");
    EXPECT_FALSE(row.is_deferred);
    EXPECT_TRUE(parse_query_index(R"({"name":"i","state":"deferred"})")->is_deferred);
    EXPECT_FALSE(row.is_primary);
    EXPECT_EQ(row.keys, (std::vector<std::string>{"`a`"}));
    EXPECT_EQ(row.on.bucket + '.' + row.on.scope + '.' + row.on.collection, "b.s.c");
    const auto primary =
        parse_query_index(R"({"name":"#primary","is_primary":true,"keyspace_id":"b"})").value();
    EXPECT_TRUE(primary.is_primary);
    EXPECT_EQ(primary.on.bucket, "b");
    EXPECT_FALSE(parse_query_index("{}"));
}

}  // namespace reprise::services::management_request_test
