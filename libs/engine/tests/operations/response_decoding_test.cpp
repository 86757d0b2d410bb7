#include <gtest/gtest.h>

#include <reprise/wire/subdoc_messages.hpp>

#include "engine_driver.hpp"

// Decoding ignores what it does not need and is strict about what it needs. Servers of other
// versions add a key, a value, a few bytes of extras or a bit. A success stays a success unless a
// required part is missing.

namespace reprise::engine::testing::liberal_answers_tests {

struct success_parts {
    std::string extras{};
    std::string key{};
    std::string value{};
    std::uint8_t datatype = 0;
};

std::string frame_of(const seen_request& asked, const success_parts& parts) {
    std::vector<std::byte> bytes;
    base::byte_writer writer(bytes);
    wire::frame_parts frame;
    frame.magic = wire::magic::response;
    frame.op = asked.op;
    frame.opaque = asked.opaque;
    frame.cas = 77;
    frame.datatype = static_cast<wire::datatype>(parts.datatype);
    frame.extras = base::as_bytes(parts.extras);
    frame.key = base::as_bytes(parts.key);
    frame.value = base::as_bytes(parts.value);
    EXPECT_TRUE(wire::encode_frame(writer, frame).has_value());
    return std::string(base::as_text(bytes));
}

struct answered_kind {
    operation_kind kind;
    success_parts plain;  // the usual answer of a server
    bool has_value;       // the value is part of the answer
};

const std::vector<answered_kind> answered_kinds{
    {operation_kind::get, {.extras = std::string(4, '\0'), .value = "v"}, true},
    {operation_kind::get_and_touch, {.extras = std::string(4, '\0'), .value = "v"}, true},
    {operation_kind::get_and_lock, {.extras = std::string(4, '\0'), .value = "v"}, true},
    {operation_kind::exists, {.extras = std::string(20, '\0')}, false},
    {operation_kind::upsert, {}, false},
    {operation_kind::insert, {.extras = std::string(16, '\1')}, false},
    {operation_kind::replace, {}, false},
    {operation_kind::remove, {.extras = std::string(16, '\1')}, false},
    {operation_kind::append, {}, false},
    {operation_kind::prepend, {}, false},
    {operation_kind::increment, {.value = std::string(7, '\0') + '\5'}, true},
    {operation_kind::decrement,
     {.extras = std::string(16, '\1'), .value = std::string(7, '\0') + '\5'},
     true},
    {operation_kind::lookup_in, {.value = std::string("\0\0\0\0\0\1v", 7)}, true},
    {operation_kind::mutate_in, {.extras = std::string(16, '\1')}, true},
    {operation_kind::touch, {}, false},
    {operation_kind::unlock, {}, false},
    {operation_kind::noop, {}, false},
};

// One operation on a new client, with this answer.
struct answered_scene {
    answered_scene(operation_kind kind, const success_parts& with) {
        driver.connect();
        cluster.on_request = [=](const seen_request& seen) -> std::optional<answer> {
            return seen.op == opcode_of(kind) ? std::optional(answer{.raw = frame_of(seen, with)})
                                              : std::nullopt;
        };
        // The key of a noop would name a node.
        auto request = driver.request(kind, kind == operation_kind::noop ? "" : "k", "v");
        request.cas = kind == operation_kind::unlock ? 9 : 0;
        if (kind == operation_kind::lookup_in || kind == operation_kind::mutate_in) {
            request.terms().specs.resize(1);
            request.terms().specs[0].verb =
                kind == operation_kind::lookup_in ? path_verb::get : path_verb::upsert;
            request.terms().specs[0].path = "a";
        }
        outcome = driver.start(std::move(request));
        driver.settle();
    }
    scripted_cluster cluster{1};
    engine_driver driver{cluster};
    engine_driver::outcome_ptr outcome;
};

void expect_success(const answered_kind& row, const success_parts& with, std::string_view what) {
    const answered_scene scene(row.kind, with);
    ASSERT_EQ(scene.outcome->calls, 1) << to_string(row.kind) << " with " << what;
    EXPECT_TRUE(scene.outcome->result.has_value())
        << to_string(row.kind) << " with " << what << ": " << scene.outcome->result.ec.message();
    EXPECT_EQ(scene.outcome->result.cas, 77U);
    EXPECT_TRUE(scene.driver.closes.empty()) << to_string(row.kind) << " with " << what;
}

class message_keeper final : public log_sink {
public:
    void on_decision(log_level, const decision_record&) noexcept override {}
    void on_message(log_level, std::string_view text) noexcept override {
        texts.emplace_back(text);
    }
    bool has(std::string_view part) const {
        return std::ranges::any_of(
            texts, [&](const std::string& text) { return text.find(part) != std::string::npos; });
    }
    std::vector<std::string> texts;
};

TEST(liberal_answers, a_success_with_a_stray_key_or_value_is_a_success) {
    for (const answered_kind& row : answered_kinds) {
        expect_success(row, row.plain, "nothing more");
        success_parts with_key = row.plain;
        with_key.key = "stray";
        expect_success(row, with_key, "a key");
        if (!row.has_value) {
            success_parts with_value = row.plain;
            with_value.value = "stray";
            expect_success(row, with_value, "a value");
        }
    }
}

TEST(liberal_answers, a_success_with_longer_extras_is_a_success) {
    for (const answered_kind& row : answered_kinds) {
        success_parts longer = row.plain;
        longer.extras += "xyz";
        expect_success(row, longer, "three more bytes of extras");
    }
}

TEST(liberal_answers, a_success_with_an_unknown_datatype_bit_is_a_success) {
    for (const answered_kind& row : answered_kinds) {
        success_parts odd = row.plain;
        odd.datatype = 0x40;
        expect_success(row, odd, "an unknown bit");
    }
    const answered_scene read(
        operation_kind::get, {.extras = std::string(4, '\0'), .value = "{}", .datatype = 0x41});
    EXPECT_EQ(read.outcome->result.datatype, wire::datatype::json);
    EXPECT_EQ(read.outcome->result.value.text(), "{}");
}

TEST(liberal_answers, tokens_are_read_from_longer_extras_and_shorter_ones_have_none) {
    const answered_scene longer(operation_kind::upsert, {.extras = std::string(18, '\1')});
    ASSERT_TRUE(longer.outcome->result.token.has_value());
    EXPECT_EQ(longer.outcome->result.token->seqno, 0x0101010101010101U);
    const answered_scene shorter(operation_kind::upsert, {.extras = "short"});
    EXPECT_TRUE(shorter.outcome->result.has_value());
    EXPECT_FALSE(shorter.outcome->result.token.has_value());
}

TEST(liberal_answers, required_parts_are_still_checked) {
    const std::vector<std::pair<operation_kind, success_parts>> lacking{
        {operation_kind::get, {.value = "no flags"}},
        {operation_kind::get, {.extras = "abc", .value = "flags cut off"}},
        {operation_kind::exists, {.extras = std::string(19, '\0')}},
        {operation_kind::increment, {}},
        {operation_kind::increment, {.value = std::string(7, '\0')}},
        {operation_kind::lookup_in, {}},
        {operation_kind::lookup_in, {.value = std::string("\0\0\0\0\0\2v", 7)}},
        {operation_kind::mutate_in, {.value = std::string("\7\0\0\0\0\0\1v", 8)}},
    };
    for (const auto& [kind, parts] : lacking) {
        const answered_scene scene(kind, parts);
        ASSERT_EQ(scene.outcome->code(), errc::decoding_failure)
            << to_string(kind) << to_string(kind);
        EXPECT_EQ(scene.outcome->result.error->is_ambiguous, !is_idempotent(kind));
        EXPECT_EQ(scene.driver.closes.size(), 1U) << to_string(kind);
    }
}

TEST(liberal_answers, a_collection_id_that_other_servers_reserve_is_used_as_given) {
    scripted_cluster cluster(1);
    cluster.collections["app.users"] = 3;
    connected_driver driver(cluster);
    const auto stored = driver.start(operation_kind::upsert, "k", "v", "app", "users");
    driver.settle();
    EXPECT_TRUE(stored->has_succeeded()) << stored->result.ec.message();
    EXPECT_EQ(cluster.all(opcode::set).at(0).key, "\3k");
}

TEST(liberal_answers, an_answer_to_a_collection_lookup_may_have_longer_extras) {
    auto [cluster, driver] = connected_node();
    cluster.on_request = [](const seen_request& seen) -> std::optional<answer> {
        return seen.op == opcode::get_collection_id
                   ? std::optional(answer{
                         .raw = frame_of(
                             seen, {.extras = std::string("\0\0\0\0\0\0\0\1\0\0\0\x09more", 16),
                                    .value = "stray"})})
                   : std::nullopt;
    };
    const auto stored = driver.start(operation_kind::upsert, "k", "v", "app", "users");
    driver.settle();
    EXPECT_TRUE(stored->has_succeeded());
    EXPECT_EQ(cluster.all(opcode::set).at(0).key, "\x09k");
}

TEST(liberal_answers, an_answer_to_a_collection_lookup_without_an_id_closes_the_connection) {
    scripted_cluster cluster(1);
    cluster.collections["app.users"] = 9;
    connected_driver driver(cluster);
    bool is_first = true;
    cluster.on_request = [&](const seen_request& seen) -> std::optional<answer> {
        return seen.op == opcode::get_collection_id && std::exchange(is_first, false)
                   ? std::optional(answer{.raw = frame_of(seen, {.extras = "short"})})
                   : std::nullopt;
    };
    const auto stored = driver.start(operation_kind::upsert, "k", "v", "app", "users");
    driver.settle();
    EXPECT_EQ(driver.closes.size(), 1U);
    EXPECT_EQ(stored->calls, 0);
    driver.advance(1s);
    EXPECT_TRUE(stored->has_succeeded());
}

TEST(liberal_answers, an_opaque_that_was_never_issued_closes_the_connection_and_is_named) {
    scripted_cluster cluster(1);
    engine_options options;
    const auto log = std::make_shared<message_keeper>();
    options.log = log;
    connected_driver driver(cluster, options);
    bool is_first = true;
    std::uint32_t response = 0;
    cluster.on_request = [&](const seen_request& seen) -> std::optional<answer> {
        if (seen.op != opcode::set || !std::exchange(is_first, false)) {
            return std::nullopt;
        }
        response = seen.opaque + 1;
        return answer{.opaque = response};
    };
    const auto stored = driver.settled(driver.upsert("k", "v"));
    ASSERT_EQ(driver.closes.size(), 1U);
    ASSERT_EQ(stored->code(), errc::request_canceled);
    EXPECT_TRUE(stored->result.error->is_ambiguous);
    std::array<char, 16> name{};
    std::snprintf(name.data(), name.size(), "0x%08x", response);
    EXPECT_TRUE(log->has(
        "the server answered opaque " + std::string(name.data()) + " that was never issued"));
    driver.advance(1s);
    const auto read = driver.settled(driver.get("k"));
    EXPECT_EQ(read->calls, 1) << "the next connection works";
}

TEST(liberal_answers, an_opaque_that_was_never_issued_is_named_during_the_bootstrap_too) {
    scripted_cluster cluster(1);
    engine_options options;
    const auto log = std::make_shared<message_keeper>();
    options.log = log;
    engine_driver driver(cluster, options);
    cluster.answer_all(opcode::hello, {.opaque = 0x1234});
    driver.engine().open(cluster.bucket, driver.now);
    driver.settle();
    ASSERT_EQ(driver.closes.size(), 1U);
    EXPECT_TRUE(log->has("the server answered opaque 0x00001234 that was never issued"));
}

TEST(liberal_answers, opaques_of_the_bootstrap_are_distinguished_from_invented_ones) {
    auto [cluster, driver] = connected_node();
    const auto last = cluster.requests.back();
    ASSERT_LT(last.opaque, 0x100U);
    // Answered twice: unwelcome, but an opaque that was issued.
    driver.send(driver.connections_to(0).at(0), base::as_bytes(frame_of(last, {})));
    driver.settle();
    EXPECT_TRUE(driver.closes.empty());
    EXPECT_EQ(driver.engine().statistics().orphans, 1U);
    for (const std::uint32_t opaque : {0U, last.opaque + 1, 0xffffffffU}) {
        seen_request invented = last;
        invented.opaque = opaque;
        const std::size_t closed = driver.closes.size();
        driver.send(driver.connections_to(0).at(0), base::as_bytes(frame_of(invented, {})));
        driver.settle();
        EXPECT_EQ(driver.closes.size(), closed + 1) << opaque;
        driver.advance(1s);
    }
}

TEST(liberal_answers, the_servers_duration_is_part_of_the_result) {
    for (const bool has_duration : {true, false}) {
        auto [cluster, driver] = connected_node();
        cluster.answer_each(opcode::set, [=](const seen_request& seen) {
            wire::response_header header;
            header.op = seen.op;
            header.opaque = seen.opaque;
            if (has_duration) {
                header.frame_infos.server_duration = std::chrono::microseconds{119635};
            }
            return answer{
                .raw = std::string(base::as_text(encoded(wire::mutation_response{}, header)))};
        });
        const auto stored = driver.settled(driver.upsert("k", "v"));
        ASSERT_TRUE(stored->result.has_value());
        EXPECT_EQ(stored->result.server_duration.has_value(), has_duration);
        if (has_duration) {
            EXPECT_EQ(*stored->result.server_duration, std::chrono::microseconds{119635});
        }
    }
}

// One operation whose answer is this message.
template <class Message>
operation_result answered(
    operation_kind kind, const Message& message, wire::status code = wire::status::success) {
    auto [cluster, driver] = connected_node();
    cluster.on_request = [&](const seen_request& seen) -> std::optional<answer> {
        if (seen.op != opcode_of(kind)) {
            return std::nullopt;
        }
        wire::response_header header;
        header.op = seen.op;
        header.opaque = seen.opaque;
        header.status = code;
        header.cas = 77;
        return answer{.raw = std::string(base::as_text(encoded(message, header)))};
    };
    auto request = driver.request(kind, "k", "v");
    request.terms().specs.resize(2);
    for (auto& spec : request.terms().specs) {
        spec.verb = kind == operation_kind::lookup_in ? path_verb::get : path_verb::counter;
        spec.path = "a";
    }
    const auto done = driver.settled(driver.start(std::move(request)));
    EXPECT_EQ(done->calls, 1);
    return std::move(done->result);
}

TEST(decoded_answers, all_parts_of_a_document_and_its_metadata_are_in_the_result) {
    wire::document_response document;
    document.flags = 0x02000006;
    document.value = base::as_bytes("text");
    const auto read = answered(operation_kind::get, document);
    EXPECT_EQ(read.flags, 0x02000006U);
    EXPECT_EQ(read.value.text(), "text");
    EXPECT_EQ(read.cas, 77U);
    for (const bool is_deleted : {true, false}) {
        wire::get_meta_response meta;
        meta.is_deleted = is_deleted;
        meta.flags = 5;
        meta.expiry = 1234;
        const auto found = answered(operation_kind::exists, meta);
        EXPECT_EQ(found.is_present, !is_deleted);
        EXPECT_EQ(found.is_deleted, is_deleted);
        EXPECT_EQ(found.flags, 5U);
        EXPECT_EQ(found.expiry, 1234U);
    }
}

TEST(decoded_answers, the_datatype_keeps_json_and_extended_attributes_and_nothing_else) {
    for (const auto& [sent, kept] : std::vector<std::pair<std::uint8_t, std::uint8_t>>{
             {0x01, 0x01}, {0x04, 0x04}, {0x05, 0x05}, {0xf5, 0x05}}) {
        auto [cluster, driver] = connected_node();
        cluster.on_request = [sent](const seen_request& seen) -> std::optional<answer> {
            return seen.op == opcode::get ? std::optional(answer{
                                                .raw = frame_of(
                                                    seen, {.extras = std::string(4, '\0'),
                                                           .value = "{}",
                                                           .datatype = sent})})
                                          : std::nullopt;
        };
        const auto read = driver.settled(driver.get("k"));
        ASSERT_TRUE(read->result.has_value());
        EXPECT_EQ(static_cast<std::uint8_t>(read->result.datatype), kept);
    }
}

TEST(decoded_answers, counters_and_mutations_have_their_tokens) {
    const wire::mutation_token token{11, 12};
    const auto counted = answered(operation_kind::increment, wire::counter_response{9, token});
    EXPECT_EQ(counted.counter, 9U);
    EXPECT_EQ(counted.token, token);
    wire::subdoc_mutation_response mutated;
    mutated.token = token;
    ASSERT_TRUE(mutated.results.push_back({1, wire::status::success, base::as_bytes("42")}));
    const auto changed = answered(operation_kind::mutate_in, mutated);
    EXPECT_EQ(changed.token, token);
    ASSERT_EQ(changed.paths.size(), 2U);
    EXPECT_TRUE(changed.paths[0].value.empty()) << "it has no value";
    EXPECT_EQ(changed.paths[1].value.text(), "42");
}

TEST(decoded_answers, a_mutation_whose_path_failed_names_the_path_and_its_error) {
    wire::subdoc_mutation_response mutated;
    ASSERT_TRUE(mutated.results.push_back({1, wire::status::subdoc_path_eexists, {}}));
    const auto failed =
        answered(operation_kind::mutate_in, mutated, wire::status::subdoc_multi_path_failure);
    EXPECT_EQ(failed.ec, errc::path_exists);
    EXPECT_EQ(failed.error->failed_path, 1U);
}

TEST(decoded_answers, a_failed_mutation_whose_path_succeeded_is_not_understood) {
    wire::subdoc_mutation_response mutated;
    ASSERT_TRUE(mutated.results.push_back({1, wire::status::success, {}}));
    const auto failed =
        answered(operation_kind::mutate_in, mutated, wire::status::subdoc_multi_path_failure);
    EXPECT_EQ(failed.ec, errc::decoding_failure);
}

TEST(decoded_answers, a_lookup_in_a_deleted_document_reports_that) {
    using wire::status;
    const std::vector<std::pair<status, bool>> rows{
        {status::success, false},
        {status::subdoc_multi_path_failure, false},
        {status::subdoc_success_deleted, true},
        {status::subdoc_multi_path_failure_deleted, true}};
    for (const auto& [code, is_deleted] : rows) {
        wire::subdoc_lookup_response found;
        ASSERT_TRUE(found.results.push_back({status::success, base::as_bytes("1")}));
        ASSERT_TRUE(found.results.push_back({status::subdoc_path_enoent, {}}));
        const auto read = answered(operation_kind::lookup_in, found, code);
        EXPECT_EQ(read.is_deleted, is_deleted) << wire::to_string(code);
        ASSERT_EQ(read.paths.size(), 2U);
        EXPECT_EQ(read.paths[0].value.text(), "1");
        EXPECT_EQ(read.paths[1].status, static_cast<std::uint16_t>(status::subdoc_path_enoent));
        EXPECT_EQ(read.paths[1].ec, errc::path_not_found);
    }
}

}  // namespace reprise::engine::testing::liberal_answers_tests
