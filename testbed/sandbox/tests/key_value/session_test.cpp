#include "conversation.hpp"

#include <algorithm>

#include <reprise/wire/cluster_configuration.hpp>
#include <reprise/wire/compression.hpp>
#include <reprise/wire/error_map.hpp>

namespace session_test {

using namespace sandbox_testing;

void append(std::vector<std::byte>& all, const std::vector<std::byte>& more) {
    all.insert(all.end(), more.begin(), more.end());
}

std::vector<std::uint16_t> codes_of(const reply& hello) {
    std::vector<std::uint16_t> codes;
    base::byte_reader reader(base::as_bytes(hello.value));
    while (reader.remaining() >= 2) {
        codes.push_back(reader.read_u16());
    }
    return codes;
}

TEST(hello, grants_the_offered_features_in_ascending_order) {
    auto [cluster, client] = one_peer();
    const reply answer = client.hello(
        {hello_feature::tls, hello_feature::json, hello_feature::xerror, hello_feature::tcp_delay,
         hello_feature::report_unit_usage, hello_feature::collections,
         hello_feature::mutate_with_meta});
    EXPECT_EQ(answer.status, status::success);
    EXPECT_EQ(codes_of(answer), (std::vector<std::uint16_t>{0x07, 0x0b, 0x12}));
}

TEST(hello, a_missing_prerequisite_fails_the_whole_hello) {
    auto [cluster, client] = one_peer();
    const reply refused = client.hello({hello_feature::vattr, hello_feature::xerror});
    EXPECT_EQ(refused.status, status::einval);
    EXPECT_NE(refused.value.find("\"context\""), std::string::npos);
    EXPECT_EQ(client.hello({hello_feature::clustermap_change_notification}).status, status::einval);
}

TEST(hello, brief_notification_wins_over_the_full_one) {
    auto [cluster, client] = one_peer();
    const reply answer = client.hello(
        {hello_feature::duplex, hello_feature::clustermap_change_notification,
         hello_feature::clustermap_change_notification_brief});
    EXPECT_EQ(codes_of(answer), (std::vector<std::uint16_t>{0x0c, 0x1f}));
}

TEST(hello, each_hello_replaces_all_features) {
    auto [cluster, client] = ready_peer();
    EXPECT_EQ(client.set("k", "1").extras.size(), 16u);
    client.hello(without(usual_features(), hello_feature::mutation_seqno));
    EXPECT_EQ(client.set("k", "1").extras.size(), 0u);
}

TEST(hello, tracing_adds_the_server_duration_to_answers) {
    auto [cluster, client] = one_peer();
    client.ready(with(usual_features(), hello_feature::tracing));
    const reply answer = client.get("none");
    EXPECT_EQ(answer.magic, wire::magic::alt_response);
    ASSERT_EQ(answer.framing.size(), 3u);
    EXPECT_EQ(answer.framing[0], '\x02');
}

TEST(hello, the_audit_identifies_the_connection_by_the_ids_of_the_agent) {
    auto [cluster, client] = one_peer();
    client.hello(usual_features(), R"({"a":"x/1","i":"66388CF5BFCF7522/18CC8791579B567C"})");
    client.ask(wire::empty_request{opcode::noop});
    const auto entries = cluster.audit().entries({.op = opcode::noop});
    ASSERT_EQ(entries.size(), 1u);
    EXPECT_EQ(entries[0].client_id, 0x66388cf5bfcf7522u);
    EXPECT_EQ(entries[0].client_connection_id, 0x18cc8791579b567cu);
    // A client with an unreadable name is not refused.
    EXPECT_EQ(client.hello(usual_features(), "{broken").status, status::success);
    client.ask(wire::empty_request{opcode::noop});
    EXPECT_FALSE(cluster.audit().entries({.op = opcode::noop}).back().client_id);
}

// The documented form of the ids is 16 hexadecimal digits, a slash, and 16 more. The Node.js SDK,
// which is based on the C++ SDK, sends two UUIDs. The sandbox refused them at HELLO, although real
// servers accept any text. A client whose ids cannot be parsed therefore has none.
TEST(hello, ids_of_other_lengths_are_accepted_as_the_cxx_sdk_sends_them) {
    sandbox::cluster cluster = make_cluster();
    for (const char* ids :
         {"3f1c6a52-9d4e-4b0a-8c77-2f90e1d5ab36/b7e04d19-5c2f-47aa-9e81-60d3c8f1742b",
          "66388cf5bfcf7522/1", "66388cf5bfcf7522", "no hexadecimal digits/at all", ""}) {
        peer client(cluster);
        const std::string agent = R"({"a":"cxx/1.0.4;nodejs","i":")" + std::string(ids) + R"("})";
        const reply answer = client.hello(usual_features(), agent);
        EXPECT_EQ(answer.status, status::success) << ids;
        EXPECT_EQ(codes_of(answer).size(), usual_features().size()) << ids;
        EXPECT_EQ(client.login(), status::success) << ids;
        EXPECT_EQ(client.select(), status::success) << ids;
        EXPECT_EQ(client.set("k", "1").status, status::success) << ids;
        const auto entry = cluster.audit().entries({.op = opcode::set}).back();
        EXPECT_FALSE(entry.client_id) << ids;
        EXPECT_FALSE(entry.client_connection_id) << ids;
    }
}

TEST(login, every_scram_and_plain_over_tls_accept_the_right_password) {
    sandbox::cluster cluster = make_cluster();
    for (const auto mechanism :
         {wire::sasl_mechanism::scram_sha1, wire::sasl_mechanism::scram_sha256,
          wire::sasl_mechanism::scram_sha512, wire::sasl_mechanism::plain}) {
        peer good(cluster, 0, {.over = wire::transport::tls});
        EXPECT_EQ(good.login("app", "secret", mechanism), status::success);
        EXPECT_EQ(good.select(), status::success);
        peer bad(cluster, 0, {.over = wire::transport::tls});
        EXPECT_EQ(bad.login("app", "wrong", mechanism), status::auth_error);
        EXPECT_EQ(bad.select(), status::eaccess);
        peer unknown(cluster, 0, {.over = wire::transport::tls});
        EXPECT_EQ(unknown.login("nobody", "secret", mechanism), status::auth_error);
    }
    peer token(cluster, 0, {.over = wire::transport::tls});
    EXPECT_EQ(token.login("", "ey.J.x", wire::sasl_mechanism::oauthbearer), status::success);
}

TEST(login, plain_is_offered_without_tls_unless_disabled) {
    sandbox::cluster cluster = make_cluster();
    peer plain(cluster);
    EXPECT_EQ(
        plain.ask(wire::empty_request{opcode::sasl_list_mechanisms}).value,
        "SCRAM-SHA512 SCRAM-SHA256 SCRAM-SHA1 PLAIN");
    EXPECT_EQ(plain.login("app", "secret", wire::sasl_mechanism::plain), status::success);
    sandbox::cluster_options options = small_options();
    options.offers_plain_without_tls = false;
    sandbox::cluster strict = make_cluster(options);
    peer refused(strict);
    EXPECT_EQ(
        refused.ask(wire::empty_request{opcode::sasl_list_mechanisms}).value,
        "SCRAM-SHA512 SCRAM-SHA256 SCRAM-SHA1");
    EXPECT_EQ(refused.login("app", "secret", wire::sasl_mechanism::plain), status::auth_error);
}

TEST(login, messages_out_of_order_are_malformed_not_refused) {
    auto [cluster, client] = one_peer();
    const auto step = [&client](opcode op, std::string_view data) {
        return client.ask(wire::sasl_request{op, "SCRAM-SHA256", base::as_bytes(data)}).status;
    };
    EXPECT_EQ(step(opcode::sasl_step, "c=biws"), status::einval);
    EXPECT_EQ(step(opcode::sasl_auth, "n,,n=app,r=abc"), status::auth_continue);
    EXPECT_EQ(step(opcode::sasl_auth, "n,,n=app,r=abc"), status::einval);
    EXPECT_EQ(step(opcode::sasl_auth, "garbage"), status::einval);
    EXPECT_EQ(client.login(), status::success);
}

TEST(login, a_new_authentication_ends_the_previous_login) {
    auto [cluster, client] = ready_peer();
    client.ask(
        wire::sasl_request{opcode::sasl_auth, "SCRAM-SHA256", base::as_bytes("n,,n=app,r=abc")});
    EXPECT_EQ(client.get("k").status, status::eaccess);
}

TEST(login, a_certificate_replaces_sasl) {
    sandbox::cluster cluster = make_cluster();
    peer client(cluster, 0, {.over = wire::transport::tls, .certificate_user = "app"});
    EXPECT_EQ(client.select(), status::success);
    EXPECT_EQ(
        client.ask(wire::empty_request{opcode::sasl_list_mechanisms}).status,
        status::not_supported);
    EXPECT_FALSE(cluster.accept(sandbox::node_id{0}, {.certificate_user = "nobody"}));
}

TEST(login, only_five_opcodes_are_answered_before_login) {
    auto [cluster, client] = one_peer();
    for (unsigned byte = 0; byte <= 0xff; ++byte) {
        const auto op = static_cast<opcode>(byte);
        const reply answer = client.ask_raw({.op = op});
        const bool is_allowed = op == opcode::hello || op == opcode::sasl_list_mechanisms ||
                                op == opcode::sasl_auth || op == opcode::sasl_step ||
                                op == opcode::get_error_map;
        EXPECT_EQ(answer.status == status::eaccess, !is_allowed) << byte;
        EXPECT_EQ(answer.op, op);
    }
    EXPECT_FALSE(client.connection().is_closing());
}

TEST(select_bucket, checks_follow_the_order_of_the_server) {
    sandbox::cluster_options options = small_options();
    options.users.push_back({.name = "narrow", .password = "p", .buckets = {"travel"}});
    options.buckets.push_back({.name = "old", .has_collections = false});
    sandbox::cluster cluster = make_cluster(options);
    peer full(cluster);
    EXPECT_EQ(full.select("travel"), status::eaccess);
    full.hello(usual_features());
    full.login();
    EXPECT_EQ(full.select("missing"), status::eaccess) << "as by real servers";
    EXPECT_EQ(full.select("old"), status::not_supported);
    EXPECT_EQ(full.select("travel"), status::success);
    EXPECT_EQ(full.select("@no bucket@"), status::success);
    EXPECT_EQ(full.get("k").status, status::no_bucket);

    peer narrow(cluster);
    narrow.login("narrow", "p");
    EXPECT_EQ(narrow.select("missing"), status::eaccess);
    EXPECT_EQ(narrow.select("old"), status::eaccess);
    EXPECT_EQ(narrow.select("travel"), status::success);
}

// As seen on a real server: until the manager has created the bucket again, a node that restarts
// does not know it.
TEST(select_bucket, a_restarting_node_is_silent_and_then_does_not_know_the_bucket) {
    auto cluster = make_cluster();
    cluster.on_time(start_of_time);
    ASSERT_TRUE(cluster.topology().restart(
        sandbox::node_id{0}, sandbox::restart_kind::with_data,
        {.silence = std::chrono::seconds{1}, .absence = std::chrono::seconds{3}}));
    peer client(cluster);
    client.hello(usual_features());
    ASSERT_EQ(client.login(), status::success);
    EXPECT_TRUE(client.send(client.bytes_of(wire::select_bucket_request{"travel"})).empty());
    client.now += std::chrono::seconds{1};
    EXPECT_EQ(client.select(), status::key_enoent);
    client.now += std::chrono::seconds{2};
    EXPECT_EQ(client.select(), status::success);
}

TEST(select_bucket, collections_are_not_granted_on_a_bucket_without_them) {
    sandbox::cluster_options options = small_options();
    options.buckets.push_back({.name = "old", .has_collections = false});
    sandbox::cluster cluster = make_cluster(options);
    peer client(cluster);
    client.login();
    EXPECT_EQ(client.select("old"), status::success);
    EXPECT_TRUE(codes_of(client.hello({hello_feature::collections})).empty());
    EXPECT_EQ(
        client.ask(wire::get_collection_id_request{"_default._default"}).status,
        status::not_supported);
}

TEST(bootstrap, a_pipelined_bootstrap_is_answered_in_order) {
    auto [cluster, client] = one_peer();
    wire::sasl_client sasl(
        wire::sasl_mechanism::scram_sha512, {"app", "secret", ""}, "abcdef", {.iterations_min = 1});
    const std::string first = sasl.start().value();
    std::vector<std::byte> burst;
    append(burst, client.bytes_of(wire::hello_request{"gocbcore/10", usual_features()}));
    append(burst, client.bytes_of(wire::get_error_map_request{2}));
    append(burst, client.bytes_of(wire::empty_request{opcode::sasl_list_mechanisms}));
    append(
        burst, client.bytes_of(
                   wire::sasl_request{opcode::sasl_auth, "SCRAM-SHA512", base::as_bytes(first)}));
    auto answers = client.send(burst);
    ASSERT_EQ(answers.size(), 4u);
    EXPECT_TRUE(wire::parse_error_map(answers[1].value));
    EXPECT_EQ(answers[3].status, status::auth_continue);

    // Step, select and configuration in one write: the login must be finished before the select.
    const auto key = wire::derive_key(sasl.on_challenge(answers[3].value).value());
    const std::string proof = sasl.on_key(key).value();
    burst.clear();
    append(
        burst, client.bytes_of(
                   wire::sasl_request{opcode::sasl_step, "SCRAM-SHA512", base::as_bytes(proof)}));
    append(burst, client.bytes_of(wire::select_bucket_request{"travel"}));
    append(burst, client.bytes_of(wire::get_cluster_config_request{}));
    answers = client.send(burst);
    ASSERT_EQ(answers.size(), 3u);
    EXPECT_TRUE(sasl.on_success(answers[0].value));
    EXPECT_EQ(answers[1].status, status::success);
    const auto configuration = wire::parse_cluster_configuration(answers[2].value);
    ASSERT_TRUE(configuration) << to_string(configuration.error());
    EXPECT_EQ((*configuration)->bucket_name(), "travel");
    EXPECT_EQ((*configuration)->vbucket_count(), 16u);
}

TEST(bootstrap, any_split_of_the_bytes_gives_the_same_answers) {
    sandbox::cluster cluster = make_cluster();
    std::vector<std::byte> burst;
    {
        peer scribe(cluster);
        append(burst, scribe.bytes_of(wire::hello_request{"cxx", usual_features()}));
        append(burst, scribe.bytes_of(wire::empty_request{opcode::sasl_list_mechanisms}));
        append(burst, scribe.bytes_of(wire::get_error_map_request{1}));
    }
    peer whole(cluster);
    const auto expected = whole.send(burst);
    ASSERT_EQ(expected.size(), 3u);
    for (std::size_t cut = 0; cut <= burst.size(); ++cut) {
        peer split(cluster);
        auto answers = split.send(base::byte_view(burst).first(cut));
        for (auto& answer : split.send(base::byte_view(burst).subspan(cut))) {
            answers.push_back(std::move(answer));
        }
        ASSERT_EQ(answers.size(), 3u);
        EXPECT_EQ(answers[2].value, expected[2].value);
    }
}

TEST(error_map, versions_can_be_selected_and_version_zero_is_unknown) {
    auto [cluster, client] = one_peer();
    const auto ask = [&client](std::uint16_t version) {
        return client.ask(wire::get_error_map_request{version});
    };
    EXPECT_EQ(ask(0).status, status::key_enoent);
    EXPECT_EQ(wire::parse_error_map(ask(1).value, {.requested_version = 1})->version(), 1);
    EXPECT_EQ(wire::parse_error_map(ask(7).value, {.requested_version = 7})->version(), 2);
}

TEST(configuration, is_global_without_a_bucket_and_empty_if_known) {
    sandbox::cluster cluster = make_cluster(small_options(3));
    peer client(cluster, 1);
    client.hello(usual_features());
    client.login();
    const auto global =
        wire::parse_cluster_configuration(client.ask(wire::get_cluster_config_request{}).value);
    ASSERT_TRUE(global) << to_string(global.error());
    EXPECT_TRUE((*global)->is_global());
    ASSERT_EQ((*global)->nodes().size(), 3u);
    EXPECT_TRUE((*global)->nodes()[1].is_this_node);
    wire::get_cluster_config_request known{(*global)->revision()};
    const reply same = client.ask(known);
    EXPECT_EQ(same.status, status::success);
    EXPECT_TRUE(same.value.empty());
    // The revision that a client without a configuration may send.
    known.known = wire::configuration_revision{-1, 1};
    EXPECT_FALSE(client.ask(known).value.empty());
    client.select();
    EXPECT_FALSE(client.ask(wire::get_cluster_config_request{}).value.empty());
}

TEST(configuration, is_compressed_for_connections_with_snappy_everywhere) {
    auto [cluster, client] = one_peer();
    client.ready(with(usual_features(), hello_feature::snappy_everywhere));
    const reply answer = client.ask(wire::get_cluster_config_request{});
    EXPECT_EQ(answer.datatype, wire::datatype::json | wire::datatype::snappy);
    const auto text = wire::inflate(base::as_bytes(answer.value), 1 << 20);
    ASSERT_TRUE(text);
    EXPECT_TRUE(wire::parse_cluster_configuration(base::as_text(*text)));
}

TEST(collections, ids_and_manifest_are_found_by_name) {
    auto [cluster, client] = ready_peer();
    const auto id = [&client](std::string_view path) {
        return client.ask(wire::get_collection_id_request{path});
    };
    EXPECT_EQ(id("inventory.airline").u32(8), 8u);
    EXPECT_EQ(id(".").u32(8), 0u);
    EXPECT_EQ(id("inventory.nothing").status, status::unknown_collection);
    EXPECT_EQ(id("nowhere.airline").status, status::unknown_scope);
    EXPECT_EQ(id("a.b.c").status, status::einval);
    EXPECT_EQ(id("nodot").status, status::einval);
    EXPECT_EQ(client.ask(wire::get_scope_id_request{"inventory.x"}).u32(8), 8u);
    EXPECT_EQ(client.ask(wire::get_scope_id_request{"nope"}).status, status::unknown_scope);
    const auto manifest = wire::parse_collections_manifest(
        client.ask(wire::empty_request{opcode::get_collections_manifest}).value);
    ASSERT_TRUE(manifest);
    EXPECT_EQ(*manifest, *cluster.buckets().manifest("travel"));
}

TEST(collections, a_recreated_collection_has_another_id_and_no_documents) {
    auto [cluster, client] = ready_peer();
    const wire::store_request store{opcode::set, client.key("k", 8), 0, 0, base::as_bytes("1")};
    EXPECT_EQ(client.ask(store, peer::at("k")).status, status::success);
    ASSERT_TRUE(cluster.buckets().drop_collection("travel", "inventory", "airline"));
    EXPECT_EQ(client.ask(store, peer::at("k")).status, status::unknown_collection);
    ASSERT_TRUE(cluster.buckets().create_collection("travel", "inventory", "airline"));
    EXPECT_NE(client.ask(wire::get_collection_id_request{"inventory.airline"}).u32(8), 8u);
    EXPECT_FALSE(
        cluster.buckets().find_document("travel", wire::collection_id{8}, "k", client.now));
}

TEST(stat, groups_end_with_an_empty_frame) {
    auto [cluster, client] = ready_peer();
    for (const char* group : {"", "vbucket", "vbucket-seqno"}) {
        const auto answers = client.send(client.bytes_of(wire::stat_request{group, {}}));
        ASSERT_GT(answers.size(), 1u) << group;
        EXPECT_TRUE(answers.back().key.empty());
        EXPECT_TRUE(std::ranges::all_of(
            answers, [](const reply& one) { return one.status == status::success; }));
    }
    EXPECT_EQ(client.ask(wire::stat_request{"nonsense", {}}).status, status::key_enoent);
}

TEST(session, quit_answers_and_closes) {
    auto [cluster, client] = ready_peer();
    EXPECT_EQ(client.ask(wire::empty_request{opcode::quit}).status, status::success);
    EXPECT_TRUE(client.connection().is_closing());
    EXPECT_TRUE(client.send(client.bytes_of(wire::empty_request{opcode::noop})).empty());
}

TEST(session, many_large_answers_wait_for_the_peer_to_read) {
    auto [cluster, client] = ready_peer();
    client.set("big", std::string(8 << 20, 'x'));
    std::vector<std::byte> burst;
    for (int i = 0; i < 10; ++i) {
        append(
            burst, client.bytes_of(
                       wire::document_request{opcode::get, client.key("big")}, peer::at("big")));
    }
    std::size_t answered = client.send(burst).size();
    EXPECT_TRUE(client.connection().has_backlog());
    EXPECT_EQ(answered, 4u);
    while (client.connection().has_backlog()) {
        answered += client.tick().size();
    }
    EXPECT_EQ(answered, 10u);
}

TEST(session, a_thousand_connections_work_side_by_side) {
    sandbox::cluster cluster = make_cluster(small_options(4));
    std::vector<std::unique_ptr<peer>> clients;
    for (std::uint32_t i = 0; i < 1000; ++i) {
        clients.push_back(std::make_unique<peer>(cluster, i % 4));
        clients.back()->ready();
    }
    EXPECT_EQ(cluster.connection_count(), 1000u);
    for (std::uint32_t i = 0; i < 1000; ++i) {
        const std::string name = key_on(cluster, i % 4);
        ASSERT_EQ(clients[i]->set(name, std::to_string(i)).status, status::success);
        ASSERT_EQ(clients[i]->get(name).value, std::to_string(i));
    }
    clients.clear();
    EXPECT_EQ(cluster.connection_count(), 0u);
}

TEST(session, equal_clusters_produce_equal_bytes_for_equal_input) {
    const auto run = [] {
        sandbox::cluster cluster = make_cluster(small_options(2));
        peer client(cluster);
        client.ready(with(usual_features(), hello_feature::tracing));
        std::string all;
        for (int i = 0; i < 20; ++i) {
            const reply answer = client.set("key_" + std::to_string(i), "v");
            all += answer.extras + answer.value + std::to_string(answer.cas);
        }
        return all + client.ask(wire::get_cluster_config_request{}).value;
    };
    EXPECT_EQ(run(), run());
}

}  // namespace session_test
