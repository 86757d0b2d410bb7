#include "conversation.hpp"

namespace document_operations_test {

using namespace sandbox_testing;

struct documents : testing::Test {
    sandbox::cluster cluster = make_cluster();
    peer client{cluster};
    documents() { client.ready(); }
};

using store_commands = documents;
using counters = documents;
using expiries = documents;
using locks = documents;
using meta = documents;

TEST_F(store_commands, get_after_set_returns_value_flags_cas_and_token) {
    const reply stored = client.store(opcode::set, "k", R"({"a":1})", 0, 0x02000006);
    EXPECT_EQ(stored.status, status::success);
    EXPECT_NE(stored.cas, 0u);
    ASSERT_EQ(stored.extras.size(), 16u);
    EXPECT_EQ(stored.u64(8), 1u);
    const reply read = client.get("k");
    EXPECT_EQ(read.status, status::success);
    EXPECT_EQ(read.value, R"({"a":1})");
    EXPECT_EQ(read.u32(0), 0x02000006u);
    EXPECT_EQ(read.cas, stored.cas);
    EXPECT_EQ(read.datatype, wire::datatype::json);
    EXPECT_EQ(client.set("raw", "{not json").status, status::success);
    EXPECT_EQ(client.get("raw").datatype, wire::datatype::raw);
}

TEST_F(store_commands, add_replace_and_set_with_cas_check_existence) {
    EXPECT_EQ(client.get("k").status, status::key_enoent);
    EXPECT_EQ(client.store(opcode::replace, "k", "1").status, status::key_enoent);
    EXPECT_EQ(client.set("k", "1", 77).status, status::key_enoent);
    const reply added = client.store(opcode::add, "k", "1");
    EXPECT_EQ(added.status, status::success);
    EXPECT_EQ(client.store(opcode::add, "k", "2").status, status::key_eexists);
    EXPECT_EQ(client.set("k", "2", added.cas + 1).status, status::key_eexists);
    const reply replaced = client.store(opcode::replace, "k", "2", added.cas);
    EXPECT_EQ(replaced.status, status::success);
    EXPECT_GT(replaced.cas, added.cas);
    EXPECT_EQ(client.get("k").value, "2");
}

TEST_F(store_commands, append_and_prepend_extend_and_require_an_existing_document) {
    const auto concat = [this](opcode op, std::string_view value, std::uint64_t cas = 0) {
        return client.ask(
            wire::concat_request{op, client.key("k"), base::as_bytes(value)}, peer::at("k", cas));
    };
    EXPECT_EQ(concat(opcode::append, "x").status, status::not_stored);
    const reply stored = client.store(opcode::set, "k", "b", 0, 5);
    EXPECT_EQ(concat(opcode::append, "c", stored.cas + 1).status, status::key_eexists);
    EXPECT_EQ(concat(opcode::append, "c", stored.cas).status, status::success);
    EXPECT_EQ(concat(opcode::prepend, "a").status, status::success);
    const reply read = client.get("k");
    EXPECT_EQ(read.value, "abc");
    EXPECT_EQ(read.u32(0), 5u);
}

TEST_F(store_commands, remove_leaves_a_tombstone_with_a_new_cas) {
    const wire::document_request remove{opcode::remove, client.key("k")};
    EXPECT_EQ(client.ask(remove, peer::at("k")).status, status::key_enoent);
    const reply stored = client.set("k", "1");
    EXPECT_EQ(client.ask(remove, peer::at("k", stored.cas + 1)).status, status::key_eexists);
    const reply removed = client.ask(remove, peer::at("k", stored.cas));
    EXPECT_EQ(removed.status, status::success);
    EXPECT_GT(removed.cas, stored.cas);
    EXPECT_EQ(removed.u64(8), 2u);
    EXPECT_EQ(client.get("k").status, status::key_enoent);
    EXPECT_EQ(client.store(opcode::add, "k", "2").status, status::success);
    const auto found =
        cluster.buckets().find_document("travel", wire::default_collection, "k", client.now);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->revision, 3u);
}

TEST_F(store_commands, values_over_the_limit_are_refused) {
    sandbox::cluster_options options = small_options();
    options.value_size_max_bytes = 100;
    sandbox::cluster tight = make_cluster(options);
    peer other(tight);
    other.ready();
    EXPECT_EQ(other.set("k", std::string(101, 'x')).status, status::e2big);
    EXPECT_EQ(other.set("k", std::string(100, 'x')).status, status::success);
    EXPECT_EQ(
        other
            .ask(
                wire::concat_request{opcode::append, other.key("k"), base::as_bytes("y")},
                peer::at("k"))
            .status,
        status::e2big);
}

TEST_F(store_commands, collections_separate_documents_with_the_same_key) {
    const std::uint32_t airline = 8;
    const auto set_in = [this](std::uint32_t collection, std::string_view value) {
        return client
            .ask(
                wire::store_request{
                    opcode::set, client.key("k", collection), 0, 0, base::as_bytes(value)},
                peer::at("k"))
            .status;
    };
    EXPECT_EQ(set_in(0, "default"), status::success);
    EXPECT_EQ(set_in(airline, "airline"), status::success);
    const reply read =
        client.ask(wire::document_request{opcode::get, client.key("k", airline)}, peer::at("k"));
    EXPECT_EQ(read.value, "airline");
    EXPECT_EQ(client.get("k").value, "default");

    const reply unknown =
        client.ask(wire::document_request{opcode::get, client.key("k", 99)}, peer::at("k"));
    EXPECT_EQ(unknown.status, status::unknown_collection);
    EXPECT_EQ(
        unknown.value,
        R"({"error":{"context":"Unknown scope or collection in operation"},"manifest_uid":"1"})");
}

TEST_F(counters, are_created_wrap_around_and_stop_at_zero) {
    const auto count =
        [this](opcode op, std::uint64_t delta, std::uint64_t initial, std::uint32_t expiry = 0) {
            return client.ask(
                wire::counter_request{op, client.key("n"), delta, initial, expiry}, peer::at("n"));
        };
    const auto number = [](const reply& answer) {
        return base::byte_reader(base::as_bytes(answer.value)).read_u64();
    };
    EXPECT_EQ(
        count(opcode::increment, 1, 5, wire::expiry_do_not_create).status, status::key_enoent);
    EXPECT_EQ(number(count(opcode::increment, 1, 5)), 5u);
    EXPECT_EQ(number(count(opcode::increment, 3, 5)), 8u);
    EXPECT_EQ(client.get("n").value, "8");
    EXPECT_EQ(number(count(opcode::decrement, 10, 5)), 0u);
    EXPECT_EQ(number(count(opcode::increment, UINT64_MAX, 0)), UINT64_MAX);
    EXPECT_EQ(number(count(opcode::increment, 2, 0)), 1u);
    EXPECT_EQ(client.set("n", "seven").status, status::success);
    EXPECT_EQ(count(opcode::increment, 1, 0).status, status::delta_badval);
}

TEST_F(expiries, documents_expire_by_relative_and_absolute_time) {
    client.store(opcode::set, "relative", "1", 0, 0, 10);
    const auto absolute =
        static_cast<std::uint32_t>(start_of_time.time_since_epoch() / std::chrono::seconds(1)) + 20;
    client.store(opcode::set, "absolute", "1", 0, 0, absolute);
    client.store(opcode::set, "past", "1", 0, 0, absolute - 100);
    EXPECT_EQ(client.get("past").status, status::key_enoent);
    client.now += std::chrono::seconds(9);
    EXPECT_EQ(client.get("relative").status, status::success);
    client.now += std::chrono::seconds(1);
    EXPECT_EQ(client.get("relative").status, status::key_enoent);
    EXPECT_EQ(client.get("absolute").status, status::success);
    client.now += std::chrono::seconds(10);
    EXPECT_EQ(client.get("absolute").status, status::key_enoent);
    EXPECT_EQ(client.store(opcode::add, "absolute", "2").status, status::success);
}

TEST_F(expiries, touch_and_get_and_touch_change_the_expiry) {
    client.store(opcode::set, "k", "v", 0, 7, 10);
    const reply touched =
        client.ask(wire::touch_request{opcode::touch, client.key("k"), 100}, peer::at("k"));
    EXPECT_EQ(touched.status, status::success);
    EXPECT_TRUE(touched.extras.empty());
    client.now += std::chrono::seconds(50);
    const reply read =
        client.ask(wire::touch_request{opcode::get_and_touch, client.key("k"), 0}, peer::at("k"));
    EXPECT_EQ(read.value, "v");
    EXPECT_EQ(read.u32(0), 7u);
    client.now += std::chrono::hours(24 * 365);
    EXPECT_EQ(client.get("k").status, status::success);
    EXPECT_EQ(
        client.ask(wire::touch_request{opcode::touch, client.key("none"), 1}, peer::at("none"))
            .status,
        status::key_enoent);
}

TEST_F(expiries, set_resets_the_expiry_unless_asked_to_preserve_it) {
    client.store(opcode::set, "k", "1", 0, 0, 10);
    wire::request_header header = peer::at("k");
    header.frame_infos.emplace().preserve_ttl = true;
    const wire::store_request again{opcode::set, client.key("k"), 0, 0, base::as_bytes("2")};
    EXPECT_EQ(client.ask(again, header).status, status::success);
    client.now += std::chrono::seconds(11);
    EXPECT_EQ(client.get("k").status, status::key_enoent);

    client.store(opcode::set, "k", "1", 0, 0, 10);
    EXPECT_EQ(client.ask(again, peer::at("k")).status, status::success);
    client.now += std::chrono::seconds(11);
    EXPECT_EQ(client.get("k").status, status::success);
}

TEST_F(expiries, a_collection_limits_the_lifetime_of_documents) {
    ASSERT_TRUE(cluster.buckets().create_collection("travel", "inventory", "short", 60));
    const std::uint32_t id =
        cluster.buckets().manifest("travel")->find_collection("inventory", "short")->id;
    const wire::store_request store{opcode::set, client.key("k", id), 0, 0, base::as_bytes("1")};
    EXPECT_EQ(client.ask(store, peer::at("k")).status, status::success);
    const wire::document_request get{opcode::get, client.key("k", id)};
    client.now += std::chrono::seconds(59);
    EXPECT_EQ(client.ask(get, peer::at("k")).status, status::success);
    client.now += std::chrono::seconds(1);
    EXPECT_EQ(client.ask(get, peer::at("k")).status, status::key_enoent);
}

struct locked_document : documents {
    std::uint64_t lock = 0;
    locked_document() {
        client.set("k", "1");
        const reply answer =
            client.ask(wire::get_locked_request{client.key("k"), 10}, peer::at("k"));
        EXPECT_EQ(answer.status, status::success);
        EXPECT_EQ(answer.value, "1");
        lock = answer.cas;
    }
};

TEST_F(locked_document, hides_its_cas_and_refuses_all_other_clients) {
    EXPECT_EQ(client.get("k").cas, wire::cas_locked);
    EXPECT_EQ(client.set("k", "2").status, status::locked);
    EXPECT_EQ(client.set("k", "2", lock + 1).status, status::locked);
    EXPECT_EQ(client.store(opcode::replace, "k", "2").status, status::locked);
    EXPECT_EQ(
        client.ask(wire::document_request{opcode::remove, client.key("k")}, peer::at("k")).status,
        status::locked);
    EXPECT_EQ(
        client.ask(wire::get_locked_request{client.key("k"), 5}, peer::at("k")).status,
        status::locked);
    for (const opcode op : {opcode::touch, opcode::get_and_touch}) {
        EXPECT_EQ(
            client.ask(wire::touch_request{op, client.key("k"), 5}, peer::at("k")).status,
            status::locked);
    }
    EXPECT_EQ(
        client
            .ask(
                wire::concat_request{opcode::append, client.key("k"), base::as_bytes("2")},
                peer::at("k"))
            .status,
        status::locked);
    EXPECT_EQ(
        client
            .ask(wire::counter_request{opcode::increment, client.key("k"), 1, 0, 0}, peer::at("k"))
            .status,
        status::locked);
}

TEST_F(locked_document, is_released_by_a_change_with_the_cas_of_the_lock) {
    EXPECT_EQ(client.set("k", "2", lock).status, status::success);
    EXPECT_NE(client.get("k").cas, wire::cas_locked);
    EXPECT_EQ(client.set("k", "3").status, status::success);
}

TEST_F(locked_document, is_released_by_time_and_by_unlock) {
    const wire::document_request unlock{opcode::unlock, client.key("k")};
    EXPECT_EQ(client.ask(unlock, peer::at("k", lock + 1)).status, status::locked);
    EXPECT_EQ(client.ask(unlock, peer::at("k", lock)).status, status::success);
    EXPECT_EQ(client.ask(unlock, peer::at("k", lock)).status, status::not_locked);
    EXPECT_EQ(client.set("k", "2").status, status::success);

    client.ask(wire::get_locked_request{client.key("k"), 10}, peer::at("k"));
    client.now += std::chrono::seconds(9);
    EXPECT_EQ(client.set("k", "3").status, status::locked);
    client.now += std::chrono::seconds(1);
    EXPECT_EQ(client.set("k", "3").status, status::success);
}

TEST_F(locks, use_the_default_time_for_missing_zero_and_too_long_times) {
    for (const std::optional<std::uint32_t> asked :
         {std::optional<std::uint32_t>(), std::optional(0u), std::optional(31u)}) {
        client.set("k", "1");
        ASSERT_EQ(
            client.ask(wire::get_locked_request{client.key("k"), asked}, peer::at("k")).status,
            status::success);
        client.now += std::chrono::seconds(14);
        EXPECT_EQ(client.set("k", "2").status, status::locked);
        client.now += std::chrono::seconds(1);
        EXPECT_EQ(client.set("k", "2").status, status::success);
    }
    EXPECT_EQ(
        client.ask(wire::get_locked_request{client.key("none"), 1}, peer::at("none")).status,
        status::key_enoent);
    EXPECT_EQ(
        client.ask(wire::document_request{opcode::unlock, client.key("none")}, peer::at("none", 1))
            .status,
        status::key_enoent);
}

TEST_F(meta, shows_living_documents_and_tombstones) {
    const auto ask = [this](std::optional<std::uint8_t> version) {
        return client.ask(wire::get_meta_request{client.key("k"), version}, peer::at("k"));
    };
    EXPECT_EQ(ask(std::nullopt).status, status::key_enoent);
    client.store(opcode::set, "k", "{}", 0, 9, 100);
    const reply alive = ask(2);
    EXPECT_EQ(alive.status, status::success);
    ASSERT_EQ(alive.extras.size(), 21u);
    EXPECT_EQ(alive.u32(0), 0u);
    EXPECT_EQ(alive.u32(4), 9u);
    EXPECT_EQ(alive.extras[20], '\x01');
    client.ask(wire::document_request{opcode::remove, client.key("k")}, peer::at("k"));
    const reply dead = ask(std::nullopt);
    EXPECT_EQ(dead.status, status::success);
    ASSERT_EQ(dead.extras.size(), 20u);
    EXPECT_EQ(dead.u32(0), 1u);
}

TEST_F(documents, observe_reports_states_and_persistence) {
    client.set("here", "1");
    cluster.durability().hold_persistence(true);
    client.set("fresh", "1");
    wire::observe_request request;
    for (const char* name : {"here", "fresh", "none"}) {
        ASSERT_TRUE(request.keys.push_back({wire::vbucket_of(name, 16), client.key(name)}));
    }
    std::vector<std::byte> out;
    client.connection().on_bytes(client.now, client.bytes_of(request), out);
    const auto scan = wire::scan_frame(out, {});
    const auto response =
        wire::observe_response::decode(*scan->frame, wire::key_form::collection_prefixed);
    ASSERT_TRUE(response);
    ASSERT_EQ(response->results.size(), 3u);
    EXPECT_EQ(response->results[0].state, wire::observe_state::persisted);
    EXPECT_EQ(response->results[1].state, wire::observe_state::found);
    EXPECT_EQ(response->results[2].state, wire::observe_state::not_found);
    EXPECT_NE(response->results[0].cas, 0u);
}

TEST_F(documents, compressed_values_are_decompressed_for_connections_without_snappy) {
    peer snappy(cluster);
    snappy.ready(with(usual_features(), hello_feature::snappy));
    // The snappy block of `Hello`.
    const std::string block("\x05\x10Hello", 7);
    wire::request_header header = peer::at("k");
    header.datatype = wire::datatype::snappy;
    const wire::store_request store{opcode::set, snappy.key("k"), 0, 0, base::as_bytes(block)};
    EXPECT_EQ(snappy.ask(store, header).status, status::success);
    const reply same = snappy.get("k");
    EXPECT_EQ(same.datatype, wire::datatype::snappy);
    EXPECT_EQ(same.value, block);
    EXPECT_EQ(client.get("k").value, "Hello");
    EXPECT_EQ(client.get("k").datatype, wire::datatype::raw);

    const wire::store_request broken{
        opcode::set, snappy.key("k"), 0, 0, base::as_bytes("\xff\xff\xff")};
    EXPECT_EQ(snappy.ask(broken, header).status, status::einval);
    const wire::concat_request append{opcode::append, snappy.key("k"), base::as_bytes("!")};
    EXPECT_EQ(snappy.ask(append, peer::at("k")).status, status::success);
    EXPECT_EQ(snappy.get("k").value, "Hello!");
}

}  // namespace document_operations_test
