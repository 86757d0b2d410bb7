#include "conversation.hpp"

#include <reprise/wire/status.hpp>

namespace subdoc_commands_test {

using namespace sandbox_testing;
using wire::doc_flags;
using wire::path_flags;

struct lookup {
    opcode op;
    std::string_view path;
    path_flags flags = path_flags::none;
};
struct change {
    opcode op;
    std::string_view path;
    std::string_view value = {};
    path_flags flags = path_flags::none;
};

struct subdoc : testing::Test {
    sandbox::cluster cluster = make_cluster();
    peer client{cluster};
    subdoc() { client.ready(); }

    // "status: result|result|...", where a failed path shows the name of its status.
    std::string look(std::initializer_list<lookup> specs, std::optional<doc_flags> flags = {}) {
        wire::subdoc_lookup_request request;
        request.key = client.key("k");
        request.doc_flags = flags;
        for (const lookup& one : specs) {
            EXPECT_TRUE(request.specs.push_back({one.op, one.flags, one.path}));
        }
        const reply answer = client.ask(request, peer::at("k"));
        std::string text(to_string(answer.status));
        if (!wire::is_success(answer.status)) {
            return text;
        }
        text += ":";
        base::byte_reader reader(base::as_bytes(answer.value));
        while (reader.remaining() > 0) {
            const auto code = static_cast<status>(reader.read_u16());
            const auto value = reader.read_bytes(reader.read_u32());
            text += code == status::success ? std::string(base::as_text(value))
                                            : std::string(to_string(code));
            text += "|";
        }
        EXPECT_TRUE(reader.ok());
        return text;
    }

    reply mutate_reply(
        std::initializer_list<change> specs, std::optional<doc_flags> flags = {},
        std::uint64_t cas = 0) {
        wire::subdoc_mutation_request request;
        request.key = client.key("k");
        request.doc_flags = flags;
        for (const change& one : specs) {
            EXPECT_TRUE(
                request.specs.push_back({one.op, one.flags, one.path, base::as_bytes(one.value)}));
        }
        return client.ask(request, peer::at("k", cas));
    }
    // The name of the status; for a failed path "@index status".
    std::string mutate(
        std::initializer_list<change> specs, std::optional<doc_flags> flags = {},
        std::uint64_t cas = 0) {
        const reply answer = mutate_reply(specs, flags, cas);
        std::string text(to_string(answer.status));
        if (answer.status == status::subdoc_multi_path_failure ||
            answer.status == status::subdoc_multi_path_failure_deleted) {
            base::byte_reader reader(base::as_bytes(answer.value));
            text = "@" + std::to_string(reader.read_u8());
            text += " " + std::string(to_string(static_cast<status>(reader.read_u16())));
            EXPECT_TRUE(reader.is_complete());
        }
        return text;
    }
    std::string body() { return client.get("k").value; }
    void remove() {
        client.ask(wire::document_request{opcode::remove, client.key("k")}, peer::at("k"));
    }
};

constexpr auto get = opcode::subdoc_get;
constexpr auto upsert = opcode::subdoc_dict_upsert;

TEST_F(subdoc, a_lookup_answers_every_path) {
    EXPECT_EQ(look({{get, "a"}}), "KeyEnoent");
    client.set("k", R"({"name":"Ann","list":[1,2]})");
    EXPECT_EQ(
        look(
            {{get, "$document.exptime", path_flags::xattr},
             {get, "name"},
             {opcode::subdoc_exists, "geo.lat"},
             {opcode::subdoc_get_count, "list"},
             {opcode::get, ""}}),
        R"(SubdocMultiPathFailure:0|"Ann"|SubdocPathEnoent|2|{"name":"Ann","list":[1,2]}|)");
    EXPECT_EQ(look({{get, "name"}}), R"(Success:"Ann"|)");
    client.set("k", "not json");
    EXPECT_EQ(
        look({{get, "a"}, {opcode::get, ""}}), "SubdocMultiPathFailure:SubdocDocNotJson|not json|");
    client.set("k", std::string(40, '[') + std::string(40, ']'));
    EXPECT_EQ(look({{get, "[0]"}}), "SubdocMultiPathFailure:SubdocDocE2deep|");
}

TEST_F(subdoc, mutations_are_all_or_nothing) {
    client.set("k", R"({"n":41,"old":1})");
    EXPECT_EQ(
        mutate(
            {{opcode::subdoc_counter, "n", "1"},
             {upsert, "x", "true"},
             {opcode::subdoc_dict_add, "old", "1"}}),
        "@2 SubdocPathEexists");
    EXPECT_EQ(body(), R"({"n":41,"old":1})");
    const reply answer = mutate_reply({{upsert, "x", "true"}, {opcode::subdoc_counter, "n", "1"}});
    EXPECT_EQ(answer.status, status::success);
    EXPECT_EQ(answer.value, std::string("\x01\x00\x00\x00\x00\x00\x02", 7) + "42");
    EXPECT_EQ(answer.extras.size(), 16u);
    EXPECT_EQ(body(), R"({"n":42,"old":1,"x":true})");
}

TEST_F(subdoc, create_and_add_create_documents) {
    EXPECT_EQ(mutate({{upsert, "a", "1"}}), "KeyEnoent");
    EXPECT_EQ(mutate({{upsert, "a.b", "1"}}, doc_flags::create), "Success");
    EXPECT_EQ(body(), R"({"a":{"b":1}})");
    EXPECT_EQ(mutate({{upsert, "a", "1"}}, doc_flags::add), "KeyEexists");
    remove();
    EXPECT_EQ(mutate({{opcode::subdoc_array_push_last, "", "1"}}, doc_flags::add), "Success");
    EXPECT_EQ(body(), "[1]");
    EXPECT_EQ(mutate({{upsert, "a", "1"}}, doc_flags::create | doc_flags::add), "Einval");
    EXPECT_EQ(mutate({{opcode::subdoc_replace, "a", "1"}}, doc_flags::create), "Einval");
}

TEST_F(subdoc, whole_documents_can_be_set_and_deleted) {
    EXPECT_EQ(mutate({{opcode::set, "", "plain"}}, doc_flags::create), "Success");
    EXPECT_EQ(body(), "plain");
    EXPECT_EQ(mutate({{upsert, "_sys", "1", path_flags::xattr}, {opcode::remove, ""}}), "Success");
    EXPECT_EQ(client.get("k").status, status::key_enoent);
    EXPECT_EQ(
        look({{get, "_sys", path_flags::xattr}}, doc_flags::access_deleted),
        "SubdocSuccessDeleted:1|");
}

TEST_F(subdoc, cas_locks_and_expiry_are_respected) {
    const reply stored = client.store(opcode::set, "k", "{}", 0, 3, 100);
    EXPECT_EQ(mutate({{upsert, "a", "1"}}, {}, stored.cas + 1), "KeyEexists");
    EXPECT_EQ(mutate({{upsert, "a", "1"}}, {}, stored.cas), "Success");
    EXPECT_EQ(client.get("k").u32(0), 3u);
    const reply lock = client.ask(wire::get_locked_request{client.key("k"), 5}, peer::at("k"));
    EXPECT_EQ(mutate({{upsert, "a", "2"}}), "Locked");
    EXPECT_EQ(mutate({{upsert, "a", "2"}}, {}, lock.cas), "Success");
    client.now += std::chrono::seconds(101);
    EXPECT_EQ(body(), R"({"a":2})");
}

TEST_F(subdoc, xattrs_are_separate_from_the_body) {
    client.set("k", "{}");
    const auto x = path_flags::xattr;
    const auto xp = path_flags::xattr | path_flags::create_parents;
    EXPECT_EQ(mutate({{upsert, "meta.a", "1", x}}), "@0 SubdocPathEnoent");
    EXPECT_EQ(mutate({{upsert, "meta.a", "1", xp}, {upsert, "b", "2"}}), "Success");
    EXPECT_EQ(body(), R"({"b":2})");
    EXPECT_EQ(look({{get, "meta", x}, {get, "b"}}), R"(Success:{"a":1}|2|)");
    // A store replaces only the body; a delete also removes user attributes.
    client.set("k", "[]");
    EXPECT_EQ(look({{get, "meta.a", x}}), "Success:1|");
    EXPECT_EQ(look({{get, "$XTOC", x}}), R"(Success:["meta"]|)");
    EXPECT_EQ(mutate({{opcode::subdoc_remove, "meta", "", x}}), "Success");
    EXPECT_EQ(look({{get, "$XTOC", x}}), "Success:[]|");
    EXPECT_EQ(look({{get, "b"}, {get, "meta", x}}), "SubdocInvalidXattrOrder");
    EXPECT_EQ(look({{get, "one", x}, {get, "two", x}}), "SubdocXattrInvalidKeyCombo");
    EXPECT_EQ(look({{get, "a_name_of_16_byt", x}}), "XattrEinval");
    client.hello(
        with(usual_features(), hello_feature::subdoc_allows_access_on_multiple_xattr_keys));
    EXPECT_EQ(
        look({{get, "one", x}, {get, "two", x}}),
        "SubdocMultiPathFailure:SubdocPathEnoent|SubdocPathEnoent|");
}

TEST_F(subdoc, system_xattrs_require_a_privilege) {
    sandbox::user_options user{.name = "limited", .password = "p"};
    user.can_access_system_xattrs = false;
    cluster.accounts().put_user(user);
    client.set("k", "{}");
    client.login("limited", "p");
    EXPECT_EQ(look({{get, "_sync", path_flags::xattr}}), "SubdocMultiPathFailure:Eaccess|");
    EXPECT_EQ(mutate({{upsert, "_sync", "1", path_flags::xattr}}), "@0 Eaccess");
}

TEST_F(subdoc, virtual_xattrs_show_the_document) {
    const reply stored = client.store(opcode::set, "k", R"({"a":1})", 0, 7, 0);
    const auto x = path_flags::xattr;
    EXPECT_EQ(
        look(
            {{get, "$document.flags", x},
             {get, "$document.value_bytes", x},
             {get, "$document.deleted", x},
             {get, "$document.revid", x},
             {get, "$document.datatype", x}}),
        R"(Success:7|7|false|"1"|["json"]|)");
    std::string cas = look({{get, "$document.CAS", x}});
    char expected[64];
    std::snprintf(
        expected, sizeof expected, "Success:\"0x%016llx\"|",
        static_cast<unsigned long long>(stored.cas));
    EXPECT_EQ(cas, expected);
    EXPECT_EQ(look({{get, "$unknown", x}}), "SubdocMultiPathFailure:SubdocXattrUnknownVattr|");
    EXPECT_EQ(mutate({{upsert, "$document", "1", x}}), "@0 SubdocXattrCantModifyVattr");
}

TEST_F(subdoc, macros_expand_to_facts_of_this_mutation) {
    client.set("k", "{}");
    const auto macro = path_flags::xattr | path_flags::expand_macros | path_flags::create_parents;
    const reply answer = mutate_reply(
        {{upsert, "_m.cas", R"("${Mutation.CAS}")", macro},
         {upsert, "_m.seqno", R"("${Mutation.seqno}")", macro},
         {upsert, "_m.crc", R"("${Mutation.value_crc32c}")", macro},
         {opcode::set, "", "123456789"}});
    ASSERT_EQ(answer.status, status::success);
    char expected[160];
    std::snprintf(
        expected, sizeof expected,
        "Success:{\"cas\":\"0x%016llx\",\"seqno\":\"0x%016llx\",\"crc\":\"0xe3069283\"}|",
        static_cast<unsigned long long>(__builtin_bswap64(answer.cas)),
        static_cast<unsigned long long>(answer.u64(8)));
    EXPECT_EQ(look({{get, "_m", path_flags::xattr}}), expected);
    EXPECT_EQ(
        mutate({{upsert, "_m.x", "\"${Mutation.nope}\"", macro}}), "@0 SubdocXattrUnknownMacro");
    EXPECT_EQ(
        mutate({{upsert, "_m.x", "\"${$document.nope}\"", macro}}),
        "@0 SubdocXattrUnknownVattrMacro");
    EXPECT_EQ(mutate({{upsert, "_m.x", "\"${$document.revid}\"", macro}}), "Success");
    EXPECT_EQ(look({{get, "_m.x", path_flags::xattr}}), R"(Success:"2"|)");
    EXPECT_EQ(
        mutate({{upsert, "x", "1", path_flags::expand_macros}}), "SubdocXattrInvalidFlagCombo");
}

TEST_F(subdoc, binary_xattrs_and_replacing_the_body_with_an_xattr) {
    client.set("k", "{}");
    const auto binary = path_flags::xattr | path_flags::binary_value;
    EXPECT_EQ(mutate({{upsert, "txn", std::string_view("\0\xff\x01z", 4), binary}}), "Success");
    EXPECT_EQ(look({{get, "txn", binary}}), "Success:" + std::string("\0\xff\x01z", 4) + "|");
    EXPECT_EQ(mutate({{upsert, "txn", R"({"staged":1})", path_flags::xattr}}), "Success");
    EXPECT_EQ(look({{get, "txn", binary}}), "SubdocMultiPathFailure:SubdocFieldNotBinaryValue|");
    EXPECT_EQ(
        mutate({{opcode::subdoc_replace_body_with_xattr, "txn", "", path_flags::xattr}}),
        "Success");
    EXPECT_EQ(body(), R"({"staged":1})");
}

TEST_F(subdoc, tombstones_can_be_created_read_changed_and_revived) {
    const auto x = path_flags::xattr | path_flags::create_parents;
    EXPECT_EQ(
        mutate(
            {{upsert, "txn.a", "1", x}},
            doc_flags::add | doc_flags::create_as_deleted | doc_flags::access_deleted),
        "SubdocSuccessDeleted");
    EXPECT_EQ(client.get("k").status, status::key_enoent);
    EXPECT_EQ(look({{get, "txn", path_flags::xattr}}), "KeyEnoent");
    EXPECT_EQ(
        look({{get, "txn", path_flags::xattr}}, doc_flags::access_deleted),
        R"(SubdocSuccessDeleted:{"a":1}|)");
    EXPECT_EQ(
        mutate({{upsert, "body", "1"}}, doc_flags::access_deleted),
        "@0 SubdocDeletedDocumentCantHaveValue");
    EXPECT_EQ(
        mutate({{upsert, "txn.b", "2", x}}, doc_flags::access_deleted), "SubdocSuccessDeleted");
    EXPECT_EQ(
        mutate({{upsert, "txn.c", "3", x}}, doc_flags::access_deleted | doc_flags::revive),
        "Success");
    EXPECT_EQ(body(), "{}");
    EXPECT_EQ(
        mutate({{upsert, "txn.c", "3", x}}, doc_flags::access_deleted | doc_flags::revive),
        "SubdocCanOnlyReviveDeletedDocuments");
}

TEST_F(subdoc, a_transaction_stages_an_insert_and_then_replaces_it_by_its_cas) {
    const auto x = path_flags::xattr | path_flags::create_parents;
    const auto hidden = doc_flags::create_as_deleted | doc_flags::access_deleted;
    wire::subdoc_mutation_request request;
    request.key = client.key("k");
    request.doc_flags = hidden | doc_flags::add;
    ASSERT_TRUE(request.specs.push_back({upsert, x, "txn.id", base::as_bytes("1")}));
    const reply staged = client.ask(request, peer::at("k"));
    ASSERT_EQ(staged.status, status::subdoc_success_deleted);
    EXPECT_EQ(client.ask(request, peer::at("k")).status, status::subdoc_success_deleted);
    request.doc_flags = hidden;
    EXPECT_EQ(client.ask(request, peer::at("k", staged.cas)).status, status::key_eexists);
    const reply seen = [&] {
        wire::subdoc_lookup_request lookup;
        lookup.key = client.key("k");
        lookup.doc_flags = doc_flags::access_deleted;
        EXPECT_TRUE(lookup.specs.push_back({get, path_flags::xattr, "txn"}));
        return client.ask(lookup, peer::at("k"));
    }();
    EXPECT_EQ(client.ask(request, peer::at("k", seen.cas)).status, status::subdoc_success_deleted);
    EXPECT_EQ(client.get("k").status, status::key_enoent);
}

TEST_F(subdoc, the_vbucket_shows_its_clock) {
    client.set("k", "{}");
    EXPECT_EQ(look({{get, "$vbucket.HLC.mode", path_flags::xattr}}), R"(Success:"real"|)");
    EXPECT_EQ(
        look({{get, "$vbucket.HLC.now", path_flags::xattr}}),
        "Success:\"" + std::to_string(client.get("k").cas / 1'000'000'000) + "\"|");
    EXPECT_EQ(
        mutate({{upsert, "$vbucket.x", "1", path_flags::xattr}}), "@0 SubdocXattrCantModifyVattr");
}

TEST_F(subdoc, too_many_or_no_paths_are_an_invalid_combination) {
    client.set("k", "{}");
    const std::string key = std::string(1, '\0') + "k";
    raw_request parts{.op = opcode::subdoc_multi_lookup};
    parts.vbucket = wire::vbucket_of("k", 16).value;
    parts.key = base::as_bytes(key);
    EXPECT_EQ(client.ask_raw(parts).status, status::subdoc_invalid_combo);
    std::string specs;
    for (int i = 0; i < 17; ++i) {
        specs += std::string("\xc5\x00\x00\x01", 4) + "a";
    }
    parts.value = base::as_bytes(specs);
    EXPECT_EQ(client.ask_raw(parts).status, status::subdoc_invalid_combo);
}

TEST_F(subdoc, single_path_commands_answer_in_the_header) {
    const auto ask = [this](
                         opcode op, std::string_view path, std::string_view value,
                         std::optional<doc_flags> flags = {}) {
        wire::subdoc_request request;
        request.op = op;
        request.key = client.key("k");
        request.path = path;
        request.value = base::as_bytes(value);
        request.doc_flags = flags;
        return client.ask(request, peer::at("k"));
    };
    EXPECT_EQ(ask(upsert, "n", "41", doc_flags::create).status, status::success);
    const reply counted = ask(opcode::subdoc_counter, "n", "1");
    EXPECT_EQ(counted.value, "42");
    EXPECT_EQ(counted.datatype, wire::datatype::json);
    EXPECT_EQ(counted.extras.size(), 16u);
    EXPECT_EQ(ask(get, "n", "").value, "42");
    EXPECT_EQ(ask(get, "m", "").status, status::subdoc_path_enoent);
    EXPECT_EQ(ask(opcode::subdoc_exists, "n", "").status, status::success);
    EXPECT_EQ(ask(opcode::subdoc_remove, "n", "").status, status::success);
    EXPECT_EQ(body(), "{}");
}

TEST(subdoc_replica, a_replica_serves_lookups_on_request) {
    sandbox::cluster cluster = make_cluster(small_options(2));
    const std::string key = key_on(cluster, 0);
    peer active = ready_on(cluster, 0);
    active.set(key, R"({"a":1})");
    peer replica = ready_on(cluster, 1);
    wire::subdoc_lookup_request request;
    request.key = replica.key(key);
    ASSERT_TRUE(request.specs.push_back({get, path_flags::none, "a"}));
    EXPECT_EQ(replica.ask(request, peer::at(key)).status, status::not_my_vbucket);
    request.doc_flags = doc_flags::replica_read;
    EXPECT_EQ(replica.ask(request, peer::at(key)).status, status::success);
    EXPECT_EQ(active.ask(request, peer::at(key)).status, status::not_my_vbucket);
}

}  // namespace subdoc_commands_test
