#include "conversation.hpp"

namespace validators_test {

using namespace sandbox_testing;

struct strictness : testing::Test {
    sandbox::cluster cluster = make_cluster();
    peer client{cluster};
    strictness() { client.ready(); }

    status raw(raw_request parts) { return client.ask_raw(parts).status; }
};

const std::string prefixed_key("\0k", 2);

TEST_F(strictness, malformed_requests_are_answered_with_einval_and_keep_the_connection) {
    const auto key = base::as_bytes(prefixed_key);
    const auto eight = base::as_bytes(std::string_view("\0\0\0\0\0\0\0\0", 8));
    const auto value = base::as_bytes("v");
    const std::string long_key = std::string(1, '\0') + std::string(251, 'x');
    const std::string long_named = std::string("\x08", 1) + std::string(247, 'x');
    const struct {
        const char* what;
        raw_request parts;
    } cases[] = {
        {"get with extras", {.op = opcode::get, .extras = eight, .key = key}},
        {"get with value", {.op = opcode::get, .key = key, .value = value}},
        {"get without key", {.op = opcode::get}},
        {"get with cas", {.op = opcode::get, .cas = 1, .key = key}},
        {"get with datatype", {.op = opcode::get, .datatype = wire::datatype::json, .key = key}},
        {"get with the prefix only", {.op = opcode::get, .key = key.first(1)}},
        {"get with a reserved collection", {.op = opcode::get, .key = base::as_bytes("\x01k")}},
        {"get with a prefix that is not the shortest",
         {.op = opcode::get, .key = base::as_bytes(std::string_view("\x81\0k", 3))}},
        {"get with too long a key", {.op = opcode::get, .key = base::as_bytes(long_key)}},
        {"get with too long a key of a named collection",
         {.op = opcode::get, .key = base::as_bytes(long_named)}},
        {"set without extras", {.op = opcode::set, .key = key, .value = value}},
        {"set with an xattr value",
         {.op = opcode::set, .datatype = wire::datatype::xattr, .extras = eight, .key = key}},
        {"add with cas", {.op = opcode::add, .cas = 1, .extras = eight, .key = key}},
        {"append with extras", {.op = opcode::append, .extras = eight, .key = key}},
        {"delete with value", {.op = opcode::remove, .key = key, .value = value}},
        {"increment without extras", {.op = opcode::increment, .key = key}},
        {"touch without extras", {.op = opcode::touch, .key = key}},
        {"unlock without cas", {.op = opcode::unlock, .key = key}},
        {"noop with a key", {.op = opcode::noop, .key = key}},
        {"observe seqno without a uuid", {.op = opcode::observe_seqno}},
        {"error map without a version", {.op = opcode::get_error_map}},
        {"hello with half a feature", {.op = opcode::hello, .value = value}},
        {"collection id with a vbucket",
         {.op = opcode::get_collection_id, .vbucket = 1, .value = value}},
        {"configuration with short extras", {.op = opcode::get_cluster_config, .extras = eight}},
        {"configuration with revision zero",
         {.op = opcode::get_cluster_config,
          .extras = base::as_bytes(std::string_view("\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\0", 16))}},
        {"unknown datatype bits",
         {.op = opcode::noop, .datatype = static_cast<wire::datatype>(0x08)}},
        {"snappy that was not agreed on",
         {.op = opcode::set, .datatype = wire::datatype::snappy, .extras = eight, .key = key}},
    };
    for (const auto& one : cases) {
        EXPECT_EQ(raw(one.parts), status::einval) << one.what;
    }
    EXPECT_FALSE(client.connection().is_closing());
    EXPECT_EQ(client.set("k", "1").status, status::success);
}

TEST_F(strictness, unknown_and_unsupported_commands_have_their_own_codes) {
    EXPECT_EQ(raw({.op = static_cast<opcode>(0xee)}), status::unknown_command);
    EXPECT_EQ(
        raw({.op = opcode::get_quiet, .key = base::as_bytes(prefixed_key)}), status::not_supported);
}

TEST_F(strictness, frame_infos_are_checked) {
    const auto key = base::as_bytes(prefixed_key);
    const auto eight = base::as_bytes(std::string_view("\0\0\0\0\0\0\0\0", 8));
    const auto ask = [&](std::string_view infos, opcode op = opcode::set) {
        raw_request parts{.magic = wire::magic::alt_request, .op = op};
        parts.framing_extras = base::as_bytes(infos);
        parts.key = key;
        if (op == opcode::set) {
            parts.extras = eight;
        }
        return client.ask_raw(parts).status;
    };
    using std::string_view_literals::operator""sv;
    EXPECT_EQ(ask("\x01"sv), status::einval);          // a barrier with a payload
    EXPECT_EQ(ask("\x12\x01\x00"sv), status::einval);  // durability of two bytes
    EXPECT_EQ(ask("\x11\x00"sv), status::durability_invalid_level);
    EXPECT_EQ(ask("\x11\x04"sv), status::durability_invalid_level);
    EXPECT_EQ(ask("\x13\x01\x00\x00"sv), status::durability_invalid_level);
    EXPECT_EQ(ask("\x11\x01"sv, opcode::get), status::einval);
    EXPECT_EQ(ask("\x30"sv), status::unknown_frame_info);
    EXPECT_EQ(ask("\x50"sv, opcode::get), status::not_supported);
    EXPECT_EQ(ask("\x41x"sv), status::eaccess);
    EXPECT_EQ(ask("\x13\x01"sv), status::einval);
    EXPECT_EQ(ask("\x00\x50"sv), status::success);
    // The first of repeated ones counts: this bucket refuses level 3 but accepts level 1.
    EXPECT_EQ(ask("\x11\x01\x11\x03"sv), ask("\x11\x01"sv));
    EXPECT_EQ(ask("\x50\x50"sv), status::success);
}

TEST_F(strictness, durable_writes_need_no_hello_feature) {
    sandbox::cluster two = make_cluster(small_options(2));
    peer plain(two);
    plain.ready({hello_feature::xerror, hello_feature::json});
    const std::string name = key_on(two, 0);
    wire::request_header header = peer::at(name);
    header.frame_infos.emplace().durability = wire::durability_requirement{};
    const wire::store_request store{opcode::set, plain.key(name), 0, 0, base::as_bytes("1")};
    EXPECT_EQ(plain.ask(store, header).status, status::success);
}

TEST_F(strictness, preserving_an_expiry_without_its_feature_is_refused) {
    peer plain(cluster);
    plain.ready({hello_feature::xerror, hello_feature::json});
    wire::request_header header = peer::at("k");
    const wire::store_request store{opcode::set, plain.key("k"), 0, 0, base::as_bytes("1")};
    header.frame_infos.emplace().preserve_ttl = true;
    EXPECT_EQ(plain.ask(store, header).status, status::not_supported);
}

TEST_F(strictness, error_bodies_are_json_with_context_and_reference) {
    const reply refused = client.ask_raw({.op = opcode::get});
    EXPECT_EQ(refused.datatype, wire::datatype::json);
    const auto context = wire::parse_error_context(base::as_bytes(refused.value));
    ASSERT_TRUE(context);
    EXPECT_FALSE(context->context.empty());
    EXPECT_EQ(context->ref.size(), 36u);
    peer plain(cluster);
    plain.ready({hello_feature::xerror});
    EXPECT_EQ(plain.ask_raw({.op = opcode::get}).datatype, wire::datatype::raw);
}

TEST_F(strictness, bytes_that_are_not_frames_close_the_connection) {
    const std::string zeros(24, '\0');
    std::string lies(24, '\0');
    lies[0] = '\x80';
    lies[3] = '\x05';  // a key in an empty body
    std::string huge(24, '\0');
    huge[0] = '\x80';
    huge[8] = '\x7f';
    std::string response(24, '\0');
    response[0] = '\x81';
    for (const std::string& bytes : {zeros, lies, huge, response}) {
        peer other(cluster);
        EXPECT_TRUE(other.send(base::as_bytes(bytes)).empty());
        EXPECT_TRUE(other.connection().is_closing());
    }
    std::string reply_to_push(24, '\0');
    reply_to_push[0] = '\x83';
    EXPECT_TRUE(client.send(base::as_bytes(reply_to_push)).empty());
    EXPECT_FALSE(client.connection().is_closing());
}

struct without_xerror : testing::Test {
    sandbox::cluster cluster = make_cluster();
    peer client{cluster};
    without_xerror() {
        client.ready(without(usual_features(), hello_feature::xerror));
        client.set("k", "1");
        client.ask(wire::get_locked_request{client.key("k"), 10}, peer::at("k"));
    }
};

TEST_F(without_xerror, EM_14_locked_is_answered_as_exists_or_temporary_failure) {
    EXPECT_EQ(client.set("k", "2").status, status::key_eexists);
    EXPECT_EQ(
        client.ask(wire::document_request{opcode::remove, client.key("k")}, peer::at("k")).status,
        status::etmpfail);
    EXPECT_EQ(
        client.ask(wire::get_locked_request{client.key("k"), 1}, peer::at("k")).status,
        status::etmpfail);
    const wire::document_request unlock{opcode::unlock, client.key("k")};
    EXPECT_EQ(client.ask(unlock, peer::at("k", 1)).status, status::etmpfail);
    client.now += std::chrono::seconds(11);
    EXPECT_EQ(client.ask(unlock, peer::at("k", 1)).status, status::etmpfail);
}

TEST_F(without_xerror, codes_without_an_older_equivalent_close_the_connection) {
    EXPECT_EQ(client.select("@no bucket@"), status::success);
    EXPECT_TRUE(client
                    .send(client.bytes_of(
                        wire::document_request{opcode::get, client.key("k")}, peer::at("k")))
                    .empty());
    EXPECT_TRUE(client.connection().is_closing());
    EXPECT_EQ(
        cluster.audit().entries({.op = opcode::get}).back().fate, sandbox::answer_fate::closed);
}

TEST_F(without_xerror, codes_of_invalid_requests_are_sent_unchanged) {
    peer fresh(cluster);
    EXPECT_EQ(fresh.select(), status::eaccess);
    EXPECT_FALSE(fresh.connection().is_closing());
    raw_request parts{.magic = wire::magic::alt_request, .op = opcode::set};
    parts.framing_extras = base::as_bytes("\x11\x09");
    parts.extras = base::as_bytes(std::string_view("\0\0\0\0\0\0\0\0", 8));
    parts.key = base::as_bytes(prefixed_key);
    EXPECT_EQ(client.ask_raw(parts).status, status::durability_invalid_level);
}

}  // namespace validators_test
