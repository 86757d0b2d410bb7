#include <reprise/wire/error_map.hpp>

#include <gtest/gtest.h>

#include <string>

#include <reprise/base/bytes.hpp>
#include <reprise/wire/compression.hpp>
#include <reprise/wire/status.hpp>

namespace reprise::wire::error_map_test {

using errc = error_map_errc;
using std::chrono::milliseconds;

// A map whose `errors` object has these members.
std::string map_text(std::string_view members) {
    return R"({"version":2,"revision":4,"errors":{)" + std::string(members) + "}}";
}

// A map of one entry, code 7ff0, with these further members.
std::string entry_text(std::string_view further) {
    return map_text(
        R"("7ff0":{"name":"N","desc":"D","attrs":["auto-retry"])" + std::string(further) + "}");
}

error_map parsed(std::string_view text, const parse_error_map_options& options = {}) {
    auto result = parse_error_map(text, options);
    EXPECT_TRUE(result.has_value()) << (result ? "" : to_string(result.error()));
    return result ? std::move(*result) : error_map(0, 0, {});
}

error_map_error refused(std::string_view text, const parse_error_map_options& options = {}) {
    auto result = parse_error_map(text, options);
    EXPECT_FALSE(result.has_value()) << text;
    return result ? error_map_error{} : result.error();
}

std::optional<retry_spec> parsed_spec(std::string_view retry) {
    const error_map map = parsed(entry_text(",\"retry\":" + std::string(retry)));
    const error_map_entry* entry = map.find(0x7ff0);
    EXPECT_NE(entry, nullptr);
    return entry == nullptr ? std::nullopt : entry->retry;
}

TEST(error_map, EM_02_versions_one_and_two_are_accepted) {
    const error_map map = parsed(
        R"({"version":1,"revision":2,"errors":{"1f":{"name":"AUTH_STALE","desc":"old",
            "attrs":["conn-state-invalidated","auth"],"more":1}},"more":{}})");
    EXPECT_EQ(map.version(), 1);
    EXPECT_EQ(map.revision(), 2);
    const error_map_entry* entry = map.find(0x1f);
    ASSERT_NE(entry, nullptr);
    EXPECT_EQ(entry->name, "AUTH_STALE");
    EXPECT_EQ(entry->description, "old");
    EXPECT_EQ(
        entry->attributes,
        (error_attributes{error_attribute::auth, error_attribute::conn_state_invalidated}));
    EXPECT_EQ(entry->retry, std::nullopt);
    EXPECT_EQ(map.find(0x20), nullptr);
    EXPECT_TRUE(parsed(map_text("")).entries().empty());
    EXPECT_EQ(parsed(R"({"version":1,"revision":0,"errors":{}})").revision(), 0);
}

TEST(error_map, EM_04_an_empty_body_is_neither_a_map_nor_a_corruption) {
    EXPECT_EQ(refused("").code, errc::empty_body);
    EXPECT_FALSE(is_corruption(errc::empty_body));
    EXPECT_TRUE(is_corruption(errc::not_json));
}

TEST(error_map, EM_04_a_body_that_is_not_a_map_is_corrupt) {
    EXPECT_EQ(refused("nonsense").code, errc::not_json);
    EXPECT_EQ(refused("{\"version\":2,").code, errc::not_json);
    EXPECT_EQ(refused("{\"a\":\"\xff\"}").code, errc::not_json);
    EXPECT_EQ(refused("[]").code, errc::not_an_object);
    EXPECT_EQ(refused("null").code, errc::not_an_object);
    for (const char* version :
         {"", "\"version\":\"2\",", "\"version\":0,", "\"version\":-1,", "\"version\":3,",
          "\"version\":2.0,", "\"version\":null,"}) {
        EXPECT_EQ(
            refused("{" + std::string(version) + R"("revision":1,"errors":{}})").code,
            errc::version_invalid)
            << version;
    }
    for (const char* revision :
         {"", "\"revision\":\"2\",", "\"revision\":-1,", "\"revision\":1.5,"}) {
        EXPECT_EQ(
            refused("{" + std::string(revision) + R"("version":1,"errors":{}})").code,
            errc::revision_invalid)
            << revision;
    }
    EXPECT_EQ(refused(R"({"version":1,"revision":1})").code, errc::errors_invalid);
    EXPECT_EQ(refused(R"({"version":1,"revision":1,"errors":[]})").code, errc::errors_invalid);
    parse_error_map_options options;
    options.requested_version = 1;
    EXPECT_EQ(refused(map_text(""), options).code, errc::version_invalid);
}

TEST(error_map, EM_04_keys_must_be_plain_hexadecimal_codes) {
    const std::string entry = R"(:{"name":"N","desc":"D","attrs":[]})";
    for (const char* key : {"xyz", "", "0x1f", "-1", " 1f", "1g", "1f "}) {
        EXPECT_EQ(
            refused(map_text("\"" + std::string(key) + "\"" + entry)).code, errc::code_invalid)
            << key;
    }
    for (const char* key : {"10000", "fffff", "ffffffffffffffffffffffff1"}) {
        EXPECT_EQ(
            refused(map_text("\"" + std::string(key) + "\"" + entry)).code, errc::code_out_of_range)
            << key;
    }
    for (const char* key : {"1F", "001f", "0000000000000000000000001f"}) {
        EXPECT_NE(parsed(map_text("\"" + std::string(key) + "\"" + entry)).find(0x1f), nullptr);
    }
    EXPECT_NE(parsed(map_text("\"ffff\"" + entry)).find(0xffff), nullptr);
}

TEST(error_map, EM_04_a_repeated_code_or_member_is_corrupt) {
    const std::string entry = R"(:{"name":"N","desc":"D","attrs":[]})";
    EXPECT_EQ(refused(map_text("\"1f\"" + entry + ",\"1F\"" + entry)).code, errc::duplicate_member);
    EXPECT_EQ(
        refused(map_text("\"1f\"" + entry + ",\"01f\"" + entry)).code, errc::duplicate_member);
    const error_map_error twice = refused(map_text("\"1f\"" + entry + ",\"1f\"" + entry));
    EXPECT_EQ(twice.code, errc::duplicate_member);
    EXPECT_EQ(twice.path, "errors.1f");
    EXPECT_EQ(
        refused(map_text("\"1f\"" + entry + ",\"\\u0031f\"" + entry)).code, errc::duplicate_member);
    EXPECT_EQ(
        refused(R"({"version":1,"version":2,"revision":1,"errors":{}})").code,
        errc::duplicate_member);
    EXPECT_EQ(refused(entry_text(",\"name\":\"M\"")).path, "errors.7ff0.name");
    // Members that the parser does not read may repeat.
    EXPECT_NE(
        parsed(entry_text(",\"x\":1,\"x\":2,\"y\":{\"name\":1,\"name\":2}")).find(0x7ff0), nullptr);
}

TEST(error_map, EM_04_entries_need_name_description_and_attributes) {
    const auto entry_error = [](std::string_view entry) {
        return refused(map_text("\"1f\":" + std::string(entry)));
    };
    EXPECT_EQ(entry_error("[]").code, errc::entry_invalid);
    EXPECT_EQ(entry_error("null").code, errc::entry_invalid);
    EXPECT_EQ(entry_error(R"({"desc":"D","attrs":[]})").path, "errors.1f.name");
    EXPECT_EQ(entry_error(R"({"name":"N","attrs":[]})").path, "errors.1f.desc");
    EXPECT_EQ(entry_error(R"({"name":1,"desc":"D","attrs":[]})").code, errc::text_invalid);
    EXPECT_EQ(entry_error(R"({"name":"N","desc":"D"})").code, errc::attributes_invalid);
    EXPECT_EQ(
        entry_error(R"({"name":"N","desc":"D","attrs":"temp"})").code, errc::attributes_invalid);
    EXPECT_EQ(
        entry_error(R"({"name":"N","desc":"D","attrs":["temp",1]})").code,
        errc::attributes_invalid);
}

TEST(error_map, EM_04_bodies_are_inflated_up_to_the_size_limit) {
    parse_error_map_options options;
    options.is_compressed = true;
    const std::string text = map_text("");
    const auto block = compress(base::as_bytes(text));
    EXPECT_EQ(parsed(base::as_text(block), options).revision(), 4);
    EXPECT_EQ(refused(text, options).code, errc::not_inflatable);
    options.size_max_bytes = 2000;
    const auto bomb = compress(base::as_bytes(text + std::string(9000, ' ')));
    ASSERT_LT(bomb.size(), options.size_max_bytes);
    EXPECT_EQ(refused(base::as_text(bomb), options).code, errc::too_large);
    options.is_compressed = false;
    options.size_max_bytes = text.size() - 1;
    EXPECT_EQ(refused(text, options).code, errc::too_large);
    const std::string long_text = text + std::string(std::size_t{21} * 1024 * 1024, ' ');
    options.size_max_bytes = long_text.size();
    EXPECT_EQ(parsed(long_text, options).revision(), 4) << "no smaller limit of JSON applies";
}

TEST(error_map, EM_04_nesting_is_bounded) {
    const auto nested = [](std::size_t depth) {
        return entry_text(",\"more\":" + std::string(depth, '[') + std::string(depth, ']'));
    };
    EXPECT_NE(parsed(nested(29)).find(0x7ff0), nullptr);
    EXPECT_EQ(refused(nested(30)).code, errc::not_json);
}

TEST(error_map, a_code_that_a_map_built_by_hand_repeats_counts_once) {
    const error_map map(
        2, 1,
        {{0x21, "LATER", "d", {}, {}},
         {0x20, "FIRST", "d", {}, {}},
         {0x20, "SECOND", "d", {}, {}}});
    ASSERT_EQ(map.entries().size(), 2U);
    EXPECT_EQ(map.entries()[0].name, "FIRST");
    EXPECT_EQ(map.find(0x21)->name, "LATER");
}

TEST(error_map, the_default_map_describes_every_status_as_the_table_does) {
    for (const error_map_entry& entry : default_error_map().entries()) {
        const status_facts& facts = status_info(static_cast<status>(entry.code));
        EXPECT_EQ(entry.name, facts.name);
        EXPECT_EQ(entry.description, facts.meaning);
        EXPECT_FALSE(entry.description.empty()) << entry.name;
    }
}

TEST(error_map, EM_16_every_attribute_is_encoded) {
    error_map_entry entry{0x7ff0, "N", "D", {}, {}};
    for (std::size_t index = 0; index < error_attribute_count; ++index) {
        entry.attributes = {static_cast<error_attribute>(index)};
        const error_map again = parsed(encode_error_map(error_map(2, 1, {entry}), 2));
        ASSERT_NE(again.find(0x7ff0), nullptr);
        EXPECT_EQ(again.find(0x7ff0)->attributes, entry.attributes) << index;
    }
}

TEST(error_map, EM_07_unknown_and_repeated_attributes_are_accepted) {
    const error_map map = parsed(map_text(
        R"("1f":{"name":"N","desc":"D","attrs":["brand-new","temp","temp","RETRY-NOW"]})"));
    EXPECT_EQ(map.find(0x1f)->attributes, error_attributes{error_attribute::temp});
    EXPECT_EQ(
        map.find(0x1f)->unknown_attributes, (std::vector<std::string>{"brand-new", "RETRY-NOW"}));
}

TEST(error_map, EM_07_attributes_of_version_2_are_unknown_in_a_map_of_version_1) {
    const std::string entry =
        R"("1f":{"name":"N","desc":"D","attrs":["retry-later","rate-limit","no-retry"]})";
    const error_map first = parsed(R"({"version":1,"revision":4,"errors":{)" + entry + "}}");
    EXPECT_EQ(first.find(0x1f)->attributes, error_attributes{error_attribute::retry_later});
    EXPECT_EQ(
        first.find(0x1f)->unknown_attributes, (std::vector<std::string>{"rate-limit", "no-retry"}));
    EXPECT_TRUE(first.find(0x1f)->is_retry_indicated()) << "no-retry does not exist there";
    const error_map second = parsed(R"({"version":2,"revision":4,"errors":{)" + entry + "}}");
    EXPECT_TRUE(second.find(0x1f)->unknown_attributes.empty());
    EXPECT_FALSE(second.find(0x1f)->is_retry_indicated());
}

TEST(error_map, EM_07_unknown_attributes_survive_encoding) {
    const error_map map =
        parsed(map_text(R"("1f":{"name":"N","desc":"D","attrs":["guard-rail","temp"]})"));
    const error_map again = parsed(encode_error_map(map, map.version()));
    EXPECT_EQ(again.find(0x1f)->unknown_attributes, std::vector<std::string>{"guard-rail"});
}

TEST(error_map, EM_05_code_zero_is_accepted_and_never_looked_up) {
    const error_map map = parsed(map_text(R"("0":{"name":"N","desc":"D","attrs":["temp"]})"));
    EXPECT_EQ(map.entries().size(), 1U);
    EXPECT_EQ(map.find(0), nullptr);
}

TEST(error_map, EM_08_retry_specs_are_read) {
    const auto spec = parsed_spec(R"({"strategy":"linear","interval":10,"after":20,"ceil":200,)"
                                  R"("max-duration":500,"floor":9})");
    ASSERT_TRUE(spec.has_value());
    EXPECT_EQ(spec->kind, retry_spec_kind::linear);
    EXPECT_EQ(spec->interval, milliseconds(10));
    EXPECT_EQ(spec->after, milliseconds(20));
    EXPECT_EQ(spec->ceil, milliseconds(200));
    EXPECT_EQ(spec->max_duration, milliseconds(500));
    EXPECT_EQ(spec->floor, milliseconds(9));
}

TEST(error_map, EM_08_EM_10_zero_or_missing_limits_mean_no_limit) {
    const auto spec = parsed_spec(
        R"({"strategy":"exponential","interval":2,"after":0,"ceil":0,"floor":0,"max-duration":0})");
    ASSERT_TRUE(spec.has_value());
    EXPECT_EQ(spec->ceil, std::nullopt);
    EXPECT_EQ(spec->floor, std::nullopt);
    EXPECT_EQ(spec->max_duration, std::nullopt);
    EXPECT_EQ(parsed_spec(R"({"strategy":"constant","interval":2,"after":0})")->ceil, std::nullopt);
}

TEST(error_map, EM_08_EM_12_an_unusable_spec_is_dropped_and_the_entry_kept) {
    for (const char* retry : {
             "[]",
             "\"constant\"",
             "null",
             "{}",
             R"({"interval":1,"after":1})",
             R"({"strategy":"fibonacci","interval":1,"after":1})",
             R"({"strategy":7,"interval":1,"after":1})",
             R"({"strategy":"constant","after":1})",
             R"({"strategy":"constant","interval":1})",
             R"({"strategy":"constant","interval":0,"after":1})",
             R"({"strategy":"constant","interval":-1,"after":1})",
             R"({"strategy":"constant","interval":1.5,"after":1})",
             R"({"strategy":"constant","interval":"1","after":1})",
             R"({"strategy":"constant","interval":2147483648,"after":1})",
             R"({"strategy":"constant","interval":1,"after":-1})",
             R"({"strategy":"constant","interval":1,"after":99999999999999999999})",
             R"({"strategy":"linear","interval":1,"after":1,"ceil":-1})",
             R"({"strategy":"linear","interval":1,"after":1,"floor":-1})",
             R"({"strategy":"linear","interval":1,"after":1,"max-duration":"x"})",
         }) {
        EXPECT_EQ(parsed_spec(retry), std::nullopt) << retry;
    }
    EXPECT_TRUE(
        parsed_spec(R"({"strategy":"constant","interval":2147483647,"after":0})").has_value());
}

TEST(error_map, EM_12_interval_fields_outside_the_retry_object_are_not_a_spec) {
    const error_map map = parsed(entry_text(
        ",\"strategy\":\"constant\",\"interval\":10,\"after\":10,\"ceil\":5,\"max-duration\":9"));
    ASSERT_NE(map.find(0x7ff0), nullptr);
    EXPECT_EQ(map.find(0x7ff0)->retry, std::nullopt);
    EXPECT_TRUE(map.find(0x7ff0)->is_retry_indicated());
}

TEST(error_map, EM_12_auto_retry_alone_promises_a_spec_that_is_missing) {
    const error_map map =
        parsed(map_text(R"("7ff0":{"name":"N","desc":"D","attrs":["auto-retry"]},)"
                        R"("7ff1":{"name":"N","desc":"D","attrs":["retry-later"]},)"
                        R"("7ff2":{"name":"N","desc":"D","attrs":["retry-later"],"retry":{}},)"
                        R"("7ff3":{"name":"N","desc":"D","attrs":["retry-later"],"interval":1})"));
    ASSERT_EQ(map.entries().size(), 4U) << "the map stays valid";
    EXPECT_TRUE(map.find(0x7ff0)->is_retry_spec_unusable);
    EXPECT_FALSE(map.find(0x7ff1)->is_retry_spec_unusable) << "nothing was promised";
    EXPECT_TRUE(map.find(0x7ff2)->is_retry_spec_unusable);
    EXPECT_TRUE(map.find(0x7ff3)->is_retry_spec_unusable);
}

TEST(error_map, EM_16_temp_does_not_indicate_a_retry_and_no_retry_overrides_the_others) {
    const auto is_indicated = [](error_attributes attributes) {
        return error_map_entry{1, "", "", attributes, std::nullopt}.is_retry_indicated();
    };
    EXPECT_FALSE(is_indicated({error_attribute::temp}));
    EXPECT_FALSE(is_indicated({error_attribute::auth, error_attribute::item_only}));
    EXPECT_TRUE(is_indicated({error_attribute::retry_now}));
    EXPECT_TRUE(is_indicated({error_attribute::retry_later}));
    EXPECT_TRUE(is_indicated({error_attribute::auto_retry}));
    EXPECT_FALSE(is_indicated({error_attribute::retry_now, error_attribute::no_retry}));
}

TEST(error_map, EM_16_every_attribute_is_parsed_from_its_wire_name) {
    for (std::size_t index = 0; index < error_attribute_count; ++index) {
        const auto attribute = static_cast<error_attribute>(index);
        EXPECT_EQ(parse_error_attribute(to_string(attribute)), attribute);
    }
    EXPECT_EQ(parse_error_attribute("item_only"), std::nullopt);
    EXPECT_EQ(
        to_string(error_attributes{error_attribute::temp, error_attribute::item_only}),
        "item-only, temp");
}

TEST(error_map, the_default_map_covers_every_status_a_current_server_sends) {
    const error_map& map = default_error_map();
    EXPECT_EQ(map.entries().size(), 83U);
    for (const status_facts& each : all_statuses()) {
        // Only older servers send these codes.
        const bool is_retired = each.code == status::scope_size_limit_exceeded ||
                                each.code == status::no_collections_manifest ||
                                each.code == status::collections_manifest_is_ahead;
        const auto code = static_cast<std::uint16_t>(each.code);
        EXPECT_EQ(map.find(code) != nullptr, !is_retired && code != 0) << each.name;
    }
    EXPECT_TRUE(map.find(0x0d)->attributes.has(error_attribute::fetch_config));
    EXPECT_FALSE(map.find(0x35)->is_retry_indicated());
    EXPECT_TRUE(map.find(0x51)->is_retry_indicated());
}

TEST(error_map, each_strategy_of_a_retry_rule_is_written_as_it_is_read) {
    for (const auto kind :
         {retry_spec_kind::constant, retry_spec_kind::linear, retry_spec_kind::exponential}) {
        error_map_entry entry{0x7ff1, "TEST", "a test", {}, retry_spec{}};
        entry.attributes = {error_attribute::auto_retry};
        entry.retry->kind = kind;
        const error_map map = parsed(encode_error_map(error_map(2, 9, {entry}), 2));
        ASSERT_NE(map.find(0x7ff1), nullptr);
        EXPECT_EQ(map.find(0x7ff1)->retry, entry.retry);
    }
}

TEST(error_map, an_encoded_map_parses_to_the_same_value) {
    error_map_entry entry{0x7ff1, "TEST", "a \"test\"", {}, retry_spec{}};
    entry.attributes = {error_attribute::auto_retry, error_attribute::rate_limit};
    entry.retry->kind = retry_spec_kind::exponential;
    entry.retry->interval = milliseconds(2);
    entry.retry->after = milliseconds(10);
    entry.retry->ceil = milliseconds(500);
    entry.retry->floor = milliseconds(3);
    entry.retry->max_duration = milliseconds(900);
    const error_map map(2, 9, {entry});
    const error_map second = parsed(encode_error_map(map, 2));
    ASSERT_NE(second.find(0x7ff1), nullptr);
    EXPECT_EQ(second.find(0x7ff1)->attributes, entry.attributes);
    EXPECT_EQ(second.find(0x7ff1)->retry, entry.retry);
    EXPECT_EQ(second.find(0x7ff1)->description, entry.description);
    const error_map first = parsed(encode_error_map(map, 1));
    EXPECT_EQ(first.version(), 1);
    EXPECT_EQ(first.find(0x7ff1)->attributes, error_attributes{error_attribute::auto_retry});
    EXPECT_EQ(parsed(encode_error_map(default_error_map(), 2)).entries().size(), 83U);
}

}  // namespace reprise::wire::error_map_test
