#include <reprise/wire/collections_manifest.hpp>

#include <gtest/gtest.h>

#include <string>

namespace reprise::wire::collections_manifest_test {

constexpr std::string_view sample = R"({"uid":"1F","scopes":[
  {"name":"_default","uid":"0","collections":[{"name":"_default","uid":"0"}]},
  {"name":"inventory","uid":"8","collections":[
    {"name":"airline","uid":"b","maxTTL":3600,"x":1},{"name":"hotel","uid":"c","history":true}]},
  {"name":"_system","uid":"9","collections":[]}]})";

manifest_error refused(std::string_view text) {
    auto result = parse_collections_manifest(text);
    EXPECT_FALSE(result.has_value()) << text;
    return result ? manifest_error{} : result.error();
}

TEST(collections_manifest, scopes_and_collections_are_found_by_name) {
    const auto manifest = parse_collections_manifest(sample);
    ASSERT_TRUE(manifest.has_value()) << to_string(manifest.error());
    EXPECT_EQ(manifest->uid, 0x1fU);
    EXPECT_EQ(manifest->scopes.size(), 3U);
    const manifest_collection* airline = manifest->find_collection("inventory", "airline");
    ASSERT_NE(airline, nullptr);
    EXPECT_EQ(airline->id, 0xbU);
    EXPECT_EQ(airline->max_ttl, 3600);
    EXPECT_EQ(airline->history, std::nullopt);
    EXPECT_EQ(manifest->find_collection("inventory", "hotel")->history, true);
    EXPECT_EQ(manifest->find_collection("", "")->id, 0U);
    EXPECT_EQ(manifest->find_collection("inventory", ""), nullptr);
    EXPECT_EQ(manifest->find_collection("nowhere", "airline"), nullptr);
    EXPECT_EQ(manifest->find_scope("inventory")->id, 8U);
}

TEST(collections_manifest, an_encoded_manifest_parses_to_the_same_value) {
    collections_manifest manifest = make_default_manifest();
    manifest.uid = UINT64_MAX;
    manifest.scopes.push_back({"s", 0xffffffff, {{"c", 8, -1, false}}});
    EXPECT_EQ(parse_collections_manifest(encode_collections_manifest(manifest)).value(), manifest);
    EXPECT_EQ(
        encode_collections_manifest(make_default_manifest()),
        R"({"uid":"0","scopes":[{"name":"_default","uid":"0",)"
        R"("collections":[{"name":"_default","uid":"0"}]}]})");
}

TEST(collections_manifest, invalid_manifests_are_rejected_with_path_and_reason) {
    EXPECT_EQ(refused("").code, manifest_errc::not_json);
    EXPECT_EQ(refused("[]").code, manifest_errc::wrong_type);
    EXPECT_EQ(refused(R"({"scopes":[]})").path, "uid");
    EXPECT_EQ(refused(R"({"uid":5,"scopes":[]})").code, manifest_errc::wrong_type);
    for (const char* uid : {"", "g", "0x1", "-1", "10000000000000000", " 1"}) {
        EXPECT_EQ(
            refused(R"({"uid":")" + std::string(uid) + R"(","scopes":[]})").code,
            manifest_errc::uid_invalid)
            << uid;
    }
    EXPECT_EQ(refused(R"({"uid":"1"})").path, "scopes");
    EXPECT_EQ(refused(R"({"uid":"1","scopes":[1]})").path, "scopes[0].name");
    EXPECT_EQ(
        refused(R"({"uid":"1","scopes":[{"name":"a","uid":"100000000"}]})").code,
        manifest_errc::uid_invalid);
    EXPECT_EQ(
        refused(R"({"uid":"1","scopes":[{"name":"a","uid":"8"}]})").path, "scopes[0].collections");
    EXPECT_EQ(
        refused(R"({"uid":"1","scopes":[{"name":"a.b","uid":"8","collections":[]}]})").code,
        manifest_errc::name_invalid);
    EXPECT_EQ(
        refused(R"({"uid":"1","scopes":[{"name":"a","uid":"8","collections":[]},
                          {"name":"a","uid":"9","collections":[]}]})")
            .code,
        manifest_errc::duplicate_name);
    const manifest_error ttl = refused(R"({"uid":"1","scopes":[{"name":"a","uid":"8",
        "collections":[{"name":"c","uid":"8","maxTTL":-2}]}]})");
    EXPECT_EQ(ttl.path, "scopes[0].collections[0].maxTTL");
    EXPECT_EQ(
        to_string(ttl), "scopes[0].collections[0].maxTTL: wrong type: not a number of seconds");
}

TEST(collections_manifest, names_follow_the_naming_rules) {
    for (const char* name : {"a", "A-Z_9%", "0"}) {
        EXPECT_TRUE(is_valid_collection_name(name, name_origin::user)) << name;
    }
    for (const char* name : {"", "_a", "%a", "a.b", "a b", "a$b", "\xc3\xa9"}) {
        EXPECT_FALSE(is_valid_collection_name(name, name_origin::user)) << name;
    }
    EXPECT_TRUE(is_valid_collection_name("_a$b", name_origin::server));
    EXPECT_FALSE(is_valid_collection_name("a$b", name_origin::server));
    EXPECT_TRUE(is_valid_collection_name(std::string(251, 'a'), name_origin::user));
    EXPECT_FALSE(is_valid_collection_name(std::string(252, 'a'), name_origin::user));
}

}  // namespace reprise::wire::collections_manifest_test
