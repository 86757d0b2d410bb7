#pragma once

// The server's side of the tests. It answers frames in order, like a node or as the test sets. It
// does not depend on the engine.

#include "scripted_cluster.hpp"

namespace reprise::engine::testing {

// A connection from the server's view.
struct server_peer {
    std::size_t node = 0;
    bool is_up = false;
    std::unique_ptr<wire::frame_reader> reader;
    std::unique_ptr<http::request_parser> http;  // replaces `reader` for HTTP services
    std::uint16_t port = 0;
    bool is_paused = false;  // the engine has paused reading
    std::unique_ptr<wire::scram_server> scram;
    wire::hello_feature_set features;
    std::size_t unwritten = 0;
    std::vector<std::byte> answers;
    bool closes = false;
};

class scripted_server {
public:
    explicit scripted_server(scripted_cluster& cluster) : cluster_(cluster) {}

    void on_frame(
        connection_id id, server_peer& to, const wire::frame_view& frame, time_point now) {
        seen_request seen;
        seen.node = to.node;
        seen.connection = id;
        seen.op = frame.op();
        seen.opaque = frame.opaque();
        seen.key = base::as_text(frame.key());
        seen.value = base::as_text(frame.value());
        seen.extras = base::as_text(frame.extras());
        seen.vbucket = frame.vbucket().value;
        seen.cas = frame.cas();
        seen.at = now;
        seen.magic = frame.magic();
        cluster_.requests.push_back(seen);
        if (cluster_.nodes[to.node].is_silent) {
            return;
        }
        if (cluster_.on_request) {
            if (const auto scripted = cluster_.on_request(seen)) {
                if (scripted->applies) {
                    server_peer nobody;
                    answer_document(nobody, frame);
                }
                return answer_scripted(to, frame, *scripted);
            }
        }
        answer_usual(to, frame);
    }
    // The contents of HELLO on all connections.
    std::vector<std::string> hello_agents;
    std::vector<wire::hello_feature_set> hello_features;
    std::size_t applied_writes = 0;
    std::map<std::string, int> applied_by_key;  // stores only

private:
    void answer_scripted(
        server_peer& to, const wire::frame_view& frame,
        const scripted_cluster::scripted_answer& with) {
        to.closes = to.closes || with.closes;
        if (!with.raw.empty()) {
            const auto bytes = base::as_bytes(with.raw);
            to.answers.insert(to.answers.end(), bytes.begin(), bytes.end());
            return;
        }
        if (with.is_silent || with.closes) {
            return;
        }
        for (int copy = 0; copy < with.copies; ++copy) {
            wire::response_header header = header_for(frame, with.status);
            header.datatype = with.datatype;
            header.opaque = with.opaque.value_or(frame.opaque());
            answer(to, header, wire::value_response{base::as_bytes(with.value)});
        }
    }

    static wire::response_header header_for(const wire::frame_view& frame, wire::status status) {
        wire::response_header header;
        header.op = frame.op();
        header.opaque = frame.opaque();
        header.status = status;
        return header;
    }
    template <class Message>
    static void answer(
        server_peer& to, const wire::response_header& header, const Message& message) {
        base::byte_writer writer(to.answers);
        const auto encoded = message.encode(writer, header);
        ASSERT_TRUE(encoded.has_value()) << wire::to_string(encoded.error());
    }
    static void answer_text(
        server_peer& to, const wire::frame_view& frame, wire::status status, std::string_view text,
        wire::datatype datatype = wire::datatype::raw) {
        wire::response_header header = header_for(frame, status);
        header.datatype = datatype;
        answer(to, header, wire::value_response{base::as_bytes(text)});
    }

    [[nodiscard]] wire::status select_status_of(const scripted_node& node) const {
        const bool is_refused = node.refuses_collections &&
                                hello_features.back().contains(wire::hello_feature::collections);
        return is_refused ? wire::status::not_supported
                          : node.select_status.value_or(wire::status::success);
    }

    void answer_usual(server_peer& to, const wire::frame_view& frame) {
        scripted_node& node = cluster_.nodes[to.node];
        switch (frame.op()) {
            case wire::opcode::hello:
                return answer_hello(to, frame);
            case wire::opcode::get_error_map:
                return answer_text(
                    to, frame, node.error_map_status.value_or(wire::status::success),
                    node.is_error_map_empty ? "" : error_map_text(node));
            case wire::opcode::sasl_list_mechanisms:
                return answer_text(to, frame, wire::status::success, node.mechanisms);
            case wire::opcode::sasl_auth:
            case wire::opcode::sasl_step:
                return answer_sasl(to, frame);
            case wire::opcode::select_bucket:
                return answer_text(to, frame, select_status_of(node), "");
            case wire::opcode::get_cluster_config:
                return answer_configuration(to, frame);
            case wire::opcode::get_collection_id:
                return answer_collection(to, frame);
            default:
                return answer_document(to, frame);
        }
    }
    static std::string error_map_text(const scripted_node& node) {
        if (!node.error_map_text.empty()) {
            return node.error_map_text;
        }
        return R"({"version":2,"revision":1,"errors":{)"
               R"("7ff0":{"name":"TEST_NOW","desc":"for tests","attrs":["temp","retry-now"]},)"
               R"("7ff1":{"name":"TEST_FAIL","desc":"for tests","attrs":["temp"]},)"
               R"("7ff2":{"name":"TEST_DROP","desc":"d",)"
               R"("attrs":["conn-state-invalidated","retry-later"]},)"
               R"("7ff3":{"name":"TEST_FETCH","desc":"d",)"
               R"("attrs":["fetch-config","no-retry","retry-now"]}}})";
    }
    void answer_hello(server_peer& to, const wire::frame_view& frame) {
        const scripted_node& node = cluster_.nodes[to.node];
        const auto hello = wire::hello_request::decode(frame);
        ASSERT_TRUE(hello.has_value());
        hello_agents.emplace_back(hello->agent);
        hello_features.push_back(hello->features);
        if (node.hello_status) {
            return answer_text(to, frame, *node.hello_status, "");
        }
        wire::hello_response granted;
        for (const auto& facts : wire::all_hello_features()) {
            if (hello->features.contains(facts.feature) && !node.withheld.contains(facts.feature) &&
                facts.is_acknowledged) {
                granted.features.insert(facts.feature);
            }
        }
        to.features = granted.features;
        answer(to, header_for(frame, wire::status::success), granted);
    }
    void answer_sasl(server_peer& to, const wire::frame_view& frame) {
        const scripted_node& node = cluster_.nodes[to.node];
        const auto asked = wire::sasl_request::decode(frame);
        ASSERT_TRUE(asked.has_value());
        if (node.sasl_status) {
            return answer_text(to, frame, *node.sasl_status, "");
        }
        const std::string_view data = base::as_text(asked->data);
        if (asked->mechanism == "PLAIN") {
            const auto plain = wire::decode_plain(data);
            const bool fits = plain && plain->password == cluster_.password;
            return answer_text(
                to, frame, fits ? wire::status::success : wire::status::auth_error, "");
        }
        const auto mechanism = *wire::parse_sasl_mechanism(asked->mechanism);
        if (frame.op() == wire::opcode::sasl_auth) {
            to.scram = std::make_unique<wire::scram_server>(mechanism, "servernonce");
            ASSERT_TRUE(to.scram->on_first(data).has_value());
            return answer_text(
                to, frame, wire::status::auth_continue,
                to.scram->challenge(credential_of(mechanism, cluster_.password)));
        }
        const auto final = to.scram->on_final(data);
        answer_text(
            to, frame, final ? wire::status::success : wire::status::auth_error,
            final ? *final : "");
    }
    // Computed once for each password, because stretching it takes milliseconds.
    static const wire::scram_credential& credential_of(
        wire::sasl_mechanism mechanism, const std::string& password) {
        static std::map<std::pair<wire::sasl_mechanism, std::string>, wire::scram_credential> made;
        const auto [at, is_new] = made.try_emplace({mechanism, password});
        if (is_new) {
            at->second = wire::make_scram_credential(
                mechanism, password, "saltsaltsalt", wire::scram_iterations_min);
        }
        return at->second;
    }
    void answer_configuration(server_peer& to, const wire::frame_view& frame) {
        const scripted_node& node = cluster_.nodes[to.node];
        if (node.config_status) {
            return answer_text(to, frame, *node.config_status, "");
        }
        const auto asked = wire::get_cluster_config_request::decode(frame);
        ASSERT_TRUE(asked.has_value());
        if (asked->known && *asked->known >= cluster_.revision && node.configuration_text.empty()) {
            return answer_text(to, frame, wire::status::success, "");
        }
        answer_text(
            to, frame, wire::status::success,
            node.configuration_text.empty() ? cluster_.configuration_text(to.node)
                                            : node.configuration_text,
            wire::datatype::json);
    }
    void answer_collection(server_peer& to, const wire::frame_view& frame) {
        const auto asked = wire::get_collection_id_request::decode(frame);
        ASSERT_TRUE(asked.has_value());
        const auto found = cluster_.collections.find(std::string(asked->path));
        if (found == cluster_.collections.end()) {
            return answer_text(
                to, frame, wire::status::unknown_collection,
                R"({"manifest_uid":")" + std::to_string(cluster_.manifest_uid) + R"("})",
                wire::datatype::json);
        }
        wire::collection_id_response response;
        response.manifest_uid = cluster_.manifest_uid;
        response.collection = wire::collection_id{found->second};
        answer(to, header_for(frame, wire::status::success), response);
    }
    void answer_document(server_peer& to, const wire::frame_view& frame) {
        wire::response_header header = header_for(frame, wire::status::success);
        const std::string key(base::as_text(frame.key()));
        const auto found = cluster_.documents.find(key);
        const bool exists = found != cluster_.documents.end();
        const auto refuse = [&](wire::status status) { answer_text(to, frame, status, ""); };
        switch (frame.op()) {
            case wire::opcode::noop:
                return answer(to, header, wire::empty_response{});
            case wire::opcode::get:
            case wire::opcode::get_replica:
            case wire::opcode::get_locked:
            case wire::opcode::get_and_touch: {
                if (!exists) {
                    return refuse(wire::status::key_enoent);
                }
                wire::document_response response;
                response.flags = found->second.flags;
                response.value = base::as_bytes(found->second.value);
                header.cas = found->second.cas;
                return answer(to, header, response);
            }
            case wire::opcode::get_meta: {
                if (!exists) {
                    return refuse(wire::status::key_enoent);
                }
                header.cas = found->second.cas;
                return answer(to, header, wire::get_meta_response{});
            }
            case wire::opcode::set:
            case wire::opcode::add:
            case wire::opcode::replace: {
                if (frame.op() == wire::opcode::add && exists) {
                    return refuse(wire::status::key_eexists);
                }
                if (frame.op() == wire::opcode::replace && !exists) {
                    return refuse(wire::status::key_enoent);
                }
                header.cas = ++cluster_.next_cas;
                cluster_.documents[key] = {
                    std::string(base::as_text(frame.value())), 0, header.cas};
                ++applied_writes;
                ++applied_by_key[key];
                return answer(to, header, wire::mutation_response{});
            }
            case wire::opcode::remove:
                if (!exists) {
                    return refuse(wire::status::key_enoent);
                }
                cluster_.documents.erase(found);
                ++applied_writes;
                return answer(to, header, wire::mutation_response{});
            case wire::opcode::increment:
            case wire::opcode::decrement:
                ++applied_writes;
                return answer(to, header, wire::counter_response{7, {}});
            default:
                return answer(to, header, wire::empty_response{});
        }
    }

    scripted_cluster& cluster_;
};

}  // namespace reprise::engine::testing
