#include <reprise/engine/reason_table.hpp>

#include <gtest/gtest.h>

#include "engine_driver.hpp"

// Goal: every reason is raised at its stage, for every class of operations it applies to, and
// nowhere else. Method: for each class, tries every status, every way to be refused before sending
// and a close in flight, and compares the decisions that the engine reports with the table.

namespace reprise::engine::testing::reason_table_tests {

constexpr std::array key_value_classes{
    operation_class::read,          operation_class::write,        operation_class::durable_write,
    operation_class::lock,          operation_class::unlock,       operation_class::subdoc_lookup,
    operation_class::subdoc_mutate, operation_class::replica_read, operation_class::noop};

operation_kind kind_of(operation_class of) {
    switch (of) {
        case operation_class::read:
            return operation_kind::get;
        case operation_class::lock:
            return operation_kind::get_and_lock;
        case operation_class::unlock:
            return operation_kind::unlock;
        case operation_class::subdoc_lookup:
            return operation_kind::lookup_in;
        case operation_class::subdoc_mutate:
            return operation_kind::mutate_in;
        case operation_class::replica_read:
            return operation_kind::get_replica;
        case operation_class::noop:
            return operation_kind::noop;
        default:
            return operation_kind::increment;  // the success of a store needs no body
    }
}

using cell_key = std::tuple<retry_reason, attempt_stage, operation_class>;

// Records the cell of each decision about an operation, except for the client's own requests.
class cell_recorder final : public log_sink {
public:
    void on_decision(log_level, const decision_record& record) noexcept override {
        if (record.operation == to_string(kind_of(current))) {
            seen.insert({record.reason, record.stage, current});
        }
    }
    void on_message(log_level, std::string_view) noexcept override {}
    operation_class current = operation_class::read;
    std::set<cell_key> seen;
};

// One client and one cluster, for one kind of failure and one class of operations.
struct failing_scene {
    failing_scene(const std::shared_ptr<cell_recorder>& log, operation_class given)
        : of(given), cluster(2, 1) {
        log->current = of;
        cluster.map = {{0, 1}};
        options.log = log;
        options.log_decisions_per_second_max = 0;
    }
    engine_driver& driver() {
        if (!made) {
            made = std::make_unique<engine_driver>(cluster, options);
        }
        return *made;
    }
    void connect() {
        driver().connect();
        driver().advance(10ms);
    }
    engine_driver::outcome_ptr start(std::string_view scope = {}, std::string_view name = {}) {
        // The key of a noop would name a node.
        const std::string_view key = of == operation_class::noop ? "" : "k";
        auto request = driver().request(kind_of(of), key, "v", scope, name);
        request.timeout = 20ms;
        request.cas = of == operation_class::unlock ? 1 : 0;
        if (of == operation_class::durable_write) {
            request.durability = durability_level::majority;
        }
        if (of == operation_class::subdoc_lookup) {
            request.terms().specs = {{.path = "a"}};
        }
        if (of == operation_class::subdoc_mutate) {
            request.terms().specs = {{.verb = path_verb::upsert, .path = "a", .value = "1"}};
        }
        return driver().start(std::move(request));
    }
    void run(std::string_view scope = {}, std::string_view name = {}) {
        const auto done = start(scope, name);
        driver().advance(50ms);
        EXPECT_EQ(done->calls, 1) << to_string(of);
    }

    operation_class of;
    scripted_cluster cluster;
    engine_options options;
    std::unique_ptr<engine_driver> made;
};

using recorder_ptr = std::shared_ptr<cell_recorder>;

void every_status(const recorder_ptr& log, operation_class of) {
    failing_scene scene(log, of);
    scene.connect();
    const opcode op = opcode_of(kind_of(of));
    for (std::uint16_t code = 1; code <= 0x100; ++code) {
        const auto answered = static_cast<status>(code == 0x100 ? 0x7ff0 : code);
        SCOPED_TRACE(std::string(to_string(of)) + " " + std::to_string(code));
        scene.cluster.answer_all(op, {.status = answered});
        scene.run();
        scene.driver().advance(200ms);  // some statuses close the connection
    }
}

// A success whose parts have invalid sizes.
std::string misshapen_success(const seen_request& seen) {
    std::string frame(29, '\0');
    frame[0] = static_cast<char>(0x81);
    frame[1] = static_cast<char>(seen.op);
    frame[4] = 3;
    frame[11] = 5;
    for (std::size_t index = 0; index < 4; ++index) {
        frame[12 + index] = static_cast<char>((seen.opaque >> (24 - 8 * index)) & 0xffU);
    }
    return frame;
}

void misread_success(const recorder_ptr& log, operation_class of) {
    failing_scene scene(log, of);
    scene.connect();
    const opcode op = opcode_of(kind_of(of));
    scene.cluster.on_request = [op](const seen_request& seen) -> std::optional<answer> {
        return seen.op == op ? std::optional(answer{.raw = misshapen_success(seen)}) : std::nullopt;
    };
    scene.run();
}

void closed_in_flight_then_lost(const recorder_ptr& log, operation_class of) {
    failing_scene scene(log, of);
    scene.connect();
    const opcode op = opcode_of(kind_of(of));
    scene.cluster.answer_all(op, {.is_silent = true});
    const auto sent = scene.start();
    scene.driver().settle();
    scene.driver().close_node(0);
    scene.driver().close_node(1);
    scene.run();
    EXPECT_EQ(sent->calls, 1);
}

void refused_before_sending(const recorder_ptr& log, operation_class of) {
    const std::vector<std::function<void(scripted_node&)>> troubles{
        [](scripted_node& node) { node.refuses_connections = true; },
        [](scripted_node& node) { node.sasl_status = status::auth_error; },
        [](scripted_node& node) { node.connect_failure_kind = connect_failure::tls_untrusted; },
        [](scripted_node& node) { node.select_status = status::eaccess; },
    };
    for (const auto& trouble : troubles) {
        failing_scene scene(log, of);
        for (scripted_node& node : scene.cluster.nodes) {
            trouble(node);
        }
        scene.run();
    }
}

void without_data_ports(const recorder_ptr& log, operation_class of) {
    failing_scene scene(log, of);
    scene.cluster.nodes[0].configuration_text =
        R"({"revEpoch":1,"rev":10,"name":"travel","nodeLocator":"vbucket",)"
        R"("vBucketServerMap":{"hashAlgorithm":"CRC","numReplicas":1,)"
        R"("serverList":["node1:11210","node2:11210"],"vBucketMap":[[0,1]]},)"
        R"("nodesExt":[{"services":{"mgmt":8091},"hostname":"node1"},)"
        R"({"services":{"mgmt":8091},"hostname":"node2"}]})";
    scene.run();
}

void missing_names(const recorder_ptr& log, operation_class of) {
    for (const status answered : {status::unknown_scope, status::unknown_collection}) {
        failing_scene scene(log, of);
        scene.cluster.answer_all(opcode::get_collection_id, {.status = answered});
        scene.run("s", "c");
    }
}

void open_breaker(const recorder_ptr& log, operation_class of) {
    failing_scene scene(log, of);
    scene.options.circuit_breaker.emplace();
    scene.options.circuit_breaker->volume_threshold = 1;
    scene.connect();
    for (scripted_node& node : scene.cluster.nodes) {
        node.is_silent = true;
    }
    scene.run();
    scene.run();  // a NOOP to the other node
    scene.run();
}

TEST(reason_table, RH_09_RH_15_every_applicable_cell_is_hit_and_no_other_one) {
    const auto log = std::make_shared<cell_recorder>();
    for (const operation_class of : key_value_classes) {
        every_status(log, of);
        misread_success(log, of);
        closed_in_flight_then_lost(log, of);
        refused_before_sending(log, of);
        without_data_ports(log, of);
        missing_names(log, of);
        open_breaker(log, of);
    }
    std::size_t applicable = 0;
    for (const retry_reason_facts& facts : all_retry_reasons()) {
        for (std::size_t stage = 0; stage < attempt_stage_count; ++stage) {
            for (const operation_class of : key_value_classes) {
                const auto at = static_cast<attempt_stage>(stage);
                const bool is_expected =
                    cell_of(facts.reason, at, of).applicable == reason_applicability::yes;
                applicable += is_expected ? 1U : 0U;
                EXPECT_EQ(log->seen.contains({facts.reason, at, of}), is_expected)
                    << facts.name << ", " << to_string(at) << ", " << to_string(of);
            }
        }
    }
    EXPECT_EQ(log->seen.size(), applicable);
}

TEST(reason_table, RH_09_each_reason_applies_somewhere) {
    for (const retry_reason_facts& facts : all_retry_reasons()) {
        bool is_anywhere = false;
        for (std::size_t of = 0; of < operation_class_count; ++of) {
            const auto cell = cell_of(
                facts.reason, detail::stage_of(facts.reason), static_cast<operation_class>(of));
            is_anywhere = is_anywhere || cell.applicable != reason_applicability::no;
            EXPECT_FALSE(cell.why.empty());
        }
        EXPECT_TRUE(is_anywhere) << facts.name;
    }
}

TEST(reason_table, operations_that_fail_alike_have_the_same_class) {
    EXPECT_EQ(class_of(operation_kind::exists, false), operation_class::read);
    EXPECT_EQ(class_of(operation_kind::touch, true), operation_class::write);
    EXPECT_EQ(class_of(operation_kind::increment, true), operation_class::durable_write);
    for (const operation_class of : key_value_classes) {
        EXPECT_EQ(class_of(kind_of(of), of == operation_class::durable_write), of);
    }
}

}  // namespace reprise::engine::testing::reason_table_tests
