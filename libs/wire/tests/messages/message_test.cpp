#include <algorithm>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>
#include <reprise/wire/cluster_messages.hpp>
#include <reprise/wire/document_messages.hpp>
#include <reprise/wire/observe_messages.hpp>
#include <reprise/wire/session_messages.hpp>
#include <reprise/wire/subdoc_messages.hpp>

#include "frame_bytes.hpp"

// Checks with generated values that every decoded message encodes to the same bytes. The golden
// tests check that the bytes are right.

namespace message_property_test {

using namespace reprise::wire;
using namespace frame_bytes;

constexpr int rounds = 400;

class generator {
public:
    explicit generator(std::uint64_t seed) : rng_(seed) {}

    std::uint64_t number() { return rng_() >> (rng_() % 64); }
    std::uint32_t u32() { return static_cast<std::uint32_t>(number()); }
    std::uint16_t u16() { return static_cast<std::uint16_t>(number()); }
    bool coin() { return (rng_() & 1) != 0; }
    std::size_t below(std::size_t count) { return rng_() % count; }

    // The text lives as long as the generator.
    std::string_view text(std::size_t size_min, std::size_t size_max) {
        std::string made(size_min + below(size_max - size_min + 1), '\0');
        for (char& character : made) {
            character = static_cast<char>(rng_());
        }
        texts_.push_back(std::make_unique<std::string>(std::move(made)));
        return *texts_.back();
    }
    byte_view bytes(std::size_t size_max) { return reprise::base::as_bytes(text(0, size_max)); }

    template <class Value>
    Value one_of(std::initializer_list<Value> values) {
        return values.begin()[below(values.size())];
    }
    template <class Make>
    auto maybe(Make make) -> std::optional<decltype(make())> {
        if (coin()) {
            return std::nullopt;
        }
        return make();
    }

    document_key key(key_form form) {
        document_key made;
        made.form = form;
        if (form == key_form::collection_prefixed && coin()) {
            made.collection = collection_id{std::max<std::uint32_t>(8, u32())};
        }
        made.key = text(1, 246);
        return made;
    }
    mutation_token token() { return {number(), number()}; }

    request_header request() {
        request_header header;
        header.opaque = u32();
        return header;
    }
    response_header response(opcode op) {
        response_header header;
        header.op = op;
        header.opaque = u32();
        header.cas = number();
        if (coin()) {
            header.frame_infos.server_duration = std::chrono::microseconds{number() >> 8};
        }
        return header;
    }

private:
    std::mt19937_64 rng_;
    std::vector<std::unique_ptr<std::string>> texts_;
};

// Encodes, decodes, and encodes again to the same bytes. Works for messages with and without a key
// form.
template <class Message, class Header>
void expect_round_trip(const Message& message, const Header& header, key_form form) {
    const std::vector<std::byte> bytes = encoded(message, header);
    ASSERT_FALSE(bytes.empty());
    const frame_view frame = frame_of(bytes);
    const auto decoded = [&] {
        if constexpr (std::is_invocable_v<decltype(&Message::decode), const frame_view&>) {
            return Message::decode(frame);
        } else {
            return Message::decode(frame, form);
        }
    }();
    ASSERT_TRUE(decoded.has_value()) << to_string(decoded.error());
    ASSERT_EQ(to_hex(encoded(*decoded, header)), to_hex(bytes));
}

template <class Test>
void in_rounds(Test test) {
    for (int seed = 0; seed < rounds; ++seed) {
        SCOPED_TRACE(seed);
        generator made(static_cast<std::uint64_t>(seed));
        test(made, made.coin() ? key_form::bare : key_form::collection_prefixed);
        ASSERT_FALSE(::testing::Test::HasFatalFailure());
    }
}

TEST(message_property, document_requests_survive_a_round_trip) {
    in_rounds([](generator& made, key_form form) {
        request_header header = made.request();
        header.vbucket = vbucket_id{made.u16()};
        expect_round_trip(
            document_request{
                made.one_of({opcode::get, opcode::get_replica, opcode::remove}), made.key(form)},
            header, form);
        expect_round_trip(
            touch_request{
                made.one_of({opcode::touch, opcode::get_and_touch}), made.key(form), made.u32()},
            header, form);
        counter_request counter;
        counter.op = made.one_of({opcode::increment, opcode::decrement});
        counter.key = made.key(form);
        counter.delta = made.number();
        counter.initial = made.number();
        counter.expiry = made.u32();
        expect_round_trip(counter, header, form);
        expect_round_trip(
            get_locked_request{made.key(form), made.maybe([&] { return made.u32(); })}, header,
            form);
        expect_round_trip(
            get_meta_request{made.key(form), made.maybe([&] {
                                 return static_cast<std::uint8_t>(made.below(3));
                             })},
            header, form);
        header.cas = made.number() | 1;
        expect_round_trip(document_request{opcode::unlock, made.key(form)}, header, form);
        header.datatype = made.one_of({datatype::raw, datatype::json, datatype::snappy});
        header.frame_infos.emplace().preserve_ttl = made.coin();
        header.frame_infos->durability = made.maybe([&] {
            return durability_requirement{
                made.one_of({durability_level::majority, durability_level::persist_to_majority}),
                std::chrono::milliseconds{1 + made.below(65534)}};
        });
        expect_round_trip(
            store_request{
                made.one_of({opcode::set, opcode::replace}), made.key(form), made.u32(), made.u32(),
                made.bytes(2000)},
            header, form);
        expect_round_trip(
            concat_request{
                made.one_of({opcode::append, opcode::prepend}), made.key(form), made.bytes(2000)},
            header, form);
    });
}

TEST(message_property, document_responses_survive_a_round_trip) {
    in_rounds([](generator& made, key_form form) {
        expect_round_trip(
            document_response{made.u32(), made.bytes(3000), made.bytes(250)},
            made.response(made.one_of(
                {opcode::get, opcode::get_replica, opcode::get_and_touch, opcode::get_locked})),
            form);
        const auto token = [&] { return made.token(); };
        expect_round_trip(
            mutation_response{made.maybe(token)},
            made.response(made.one_of({opcode::set, opcode::remove, opcode::append})), form);
        expect_round_trip(
            counter_response{made.number(), made.maybe(token)}, made.response(opcode::increment),
            form);
        expect_round_trip(
            get_meta_response{made.coin(), made.u32(), made.u32(), made.number(), made.maybe([&] {
                                  return made.one_of({datatype::raw, datatype::json});
                              })},
            made.response(opcode::get_meta), form);
        expect_round_trip(empty_response{}, made.response(opcode::noop), form);
        expect_round_trip(value_response{made.bytes(500)}, made.response(opcode::version), form);
    });
}

TEST(message_property, observe_messages_survive_a_round_trip) {
    in_rounds([](generator& made, key_form form) {
        observe_request request;
        observe_response response;
        for (std::size_t i = 1 + made.below(observe_key_count_max); i > 0; --i) {
            const observe_key entry{vbucket_id{made.u16()}, made.key(form)};
            ASSERT_TRUE(request.keys.push_back(entry));
            ASSERT_TRUE(response.results.push_back(
                {entry.vbucket, entry.key,
                 made.one_of({observe_state::found, observe_state::not_found}), made.number()}));
        }
        expect_round_trip(request, made.request(), form);
        expect_round_trip(response, made.response(opcode::observe), form);
        expect_round_trip(observe_seqno_request{made.number()}, made.request(), form);
        observe_seqno_response seqno{
            vbucket_id{made.u16()}, made.number(), made.number(), made.number(), {}};
        if (made.coin()) {
            seqno.failed_over = seqno_failover{made.number(), made.number()};
        }
        expect_round_trip(seqno, made.response(opcode::observe_seqno), form);
    });
}

TEST(message_property, session_and_cluster_messages_survive_a_round_trip) {
    in_rounds([](generator& made, key_form form) {
        hello_feature_set features;
        for (std::size_t i = made.below(20); i > 0; --i) {
            features.insert(static_cast<hello_feature>(1 + made.below(0x26)));
        }
        expect_round_trip(hello_request{made.text(0, 300), features}, made.request(), form);
        expect_round_trip(hello_response{features}, made.response(opcode::hello), form);
        expect_round_trip(
            sasl_request{
                made.one_of({opcode::sasl_auth, opcode::sasl_step}), made.text(1, 20),
                made.bytes(200)},
            made.request(), form);
        expect_round_trip(select_bucket_request{made.text(0, 100)}, made.request(), form);
        expect_round_trip(get_error_map_request{made.u16()}, made.request(), form);
        expect_round_trip(stat_request{made.text(0, 20), made.bytes(20)}, made.request(), form);
        expect_round_trip(verbosity_request{made.u32()}, made.request(), form);
        expect_round_trip(
            get_cluster_config_request{made.maybe([&] {
                return configuration_revision{
                    static_cast<std::int64_t>(1 + (made.number() >> 2)), 1 + (made.number() >> 2)};
            })},
            made.request(), form);
        expect_round_trip(get_collection_id_request{made.text(0, 500)}, made.request(), form);
        expect_round_trip(get_scope_id_request{made.text(0, 250)}, made.request(), form);
        expect_round_trip(
            collection_id_response{made.number(), collection_id{made.u32()}},
            made.response(opcode::get_collection_id), form);
    });
}

TEST(message_property, subdoc_messages_survive_a_round_trip) {
    in_rounds([](generator& made, key_form form) {
        subdoc_request single;
        single.op = made.one_of(
            {opcode::subdoc_dict_upsert, opcode::subdoc_counter, opcode::subdoc_remove});
        single.key = made.key(form);
        single.flags = static_cast<path_flags>(made.below(64));
        single.doc_flags = made.maybe([&] { return static_cast<doc_flags>(made.below(64)); });
        single.expiry = made.maybe([&] { return made.u32(); });
        if (single.expiry) {
            single.user_flags = made.maybe([&] { return made.u32(); });
        }
        single.path = made.text(0, 1024);
        single.value = made.bytes(500);
        expect_round_trip(single, made.request(), form);

        subdoc_lookup_request lookup;
        subdoc_lookup_response lookup_answer;
        subdoc_mutation_request mutation;
        subdoc_mutation_response mutation_answer;
        lookup.key = made.key(form);
        lookup.doc_flags = single.doc_flags;
        mutation.key = lookup.key;
        mutation.doc_flags = single.doc_flags;
        mutation.expiry = single.expiry;
        mutation.user_flags = single.user_flags;
        for (std::size_t i = 1 + made.below(subdoc_spec_count_max); i > 0; --i) {
            ASSERT_TRUE(lookup.specs.push_back(
                {made.one_of({opcode::subdoc_get, opcode::subdoc_get_count, opcode::get}),
                 single.flags, made.text(0, 100)}));
            ASSERT_TRUE(lookup_answer.results.push_back(
                {static_cast<status>(made.u16()), made.bytes(100)}));
            ASSERT_TRUE(mutation.specs.push_back(
                {made.one_of({opcode::subdoc_dict_add, opcode::set, opcode::remove}), single.flags,
                 made.text(0, 100), made.bytes(100)}));
            ASSERT_TRUE(mutation_answer.results.push_back(
                {static_cast<std::uint8_t>(i), status::success, made.bytes(100)}));
        }
        mutation_answer.token = made.maybe([&] { return made.token(); });
        expect_round_trip(lookup, made.request(), form);
        expect_round_trip(lookup_answer, made.response(opcode::subdoc_multi_lookup), form);
        expect_round_trip(mutation, made.request(), form);
        expect_round_trip(mutation_answer, made.response(opcode::subdoc_multi_mutation), form);
    });
}

}  // namespace message_property_test
