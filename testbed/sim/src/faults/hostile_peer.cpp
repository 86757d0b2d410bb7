#include "faults/hostile_peer.hpp"

#include <array>
#include <utility>

#include <reprise/base/byte_writer.hpp>
#include <reprise/wire/cluster_configuration_encode.hpp>
#include <reprise/wire/cluster_messages.hpp>
#include <reprise/wire/session_messages.hpp>

#include "world/world.hpp"

namespace reprise::sim {
namespace {

using wire::opcode;
using wire::status;

constexpr std::string_view lying_map =
    R"({"version":2,"revision":2147483647,"errors":{)"
    R"("1":{"name":"LIE","desc":"not true","attrs":["retry-now"]},)"
    R"("7ff5":{"name":"LIE","desc":"not true","attrs":["retry-now"]}}})";

wire::frame_limits request_limits() noexcept {
    wire::frame_limits limits;
    limits.direction = wire::frame_direction::to_server;
    return limits;
}

void respond(
    const wire::frame_view& request, status code, std::string_view value,
    std::vector<std::byte>& out) {
    wire::frame_parts parts;
    parts.magic = wire::magic::response;
    parts.op = request.op();
    parts.opaque = request.opaque();
    parts.vbucket_or_status = static_cast<std::uint16_t>(code);
    parts.value = base::as_bytes(value);
    base::byte_writer writer(out);
    (void)wire::encode_frame(writer, parts);
}

// A configuration with a single node, which offers everything.
std::string poisoned_text(const std::string& host, wire::configuration_revision revision) {
    wire::cluster_configuration_description configuration;
    configuration.revision = revision;
    configuration.bucket_name = bucket_name;
    configuration.bucket_uuid = std::string(32, 'e');
    wire::cluster_node node;
    node.hostname = host;
    for (const wire::service each : wire::list_services(wire::is_used_service)) {
        node.ports.set(
            each, wire::transport::plain, wire::default_port(each, wire::transport::plain));
        node.ports.set(each, wire::transport::tls, wire::default_port(each, wire::transport::tls));
    }
    configuration.nodes = {node};
    configuration.kv_node_count = 1;
    configuration.vbucket_map.assign(16, {0});
    return wire::encode_cluster_configuration(configuration);
}

}  // namespace

hostile_peer::hostile_peer(random_stream random, std::string host)
    : random_(random),
      host_(std::move(host)),
      pushes_at_(static_cast<push_stage>(random_.below(push_stage_count))),
      ends_with_(static_cast<login_end>(random_.below(login_end_count))),
      reader_(request_limits()) {}

void hostile_peer::on_bytes(base::byte_view bytes, std::vector<std::byte>& out) {
    reader_.feed(bytes);
    while (!is_closing_) {
        const auto next = reader_.next();
        if (!next || !*next) {
            is_closing_ = is_closing_ || !next;
            return;
        }
        answer(**next, out);
    }
}

void hostile_peer::push_configuration(std::vector<std::byte>& out) {
    // Higher than any revision of a healthy cluster.
    const wire::configuration_revision revision{
        static_cast<std::int64_t>(random_.between(1, 9)),
        (std::uint64_t{1} << 62U) + random_.below(1000)};
    const std::string text = poisoned_text(host_, revision);
    wire::cluster_map_change_notification push;
    push.epoch = revision.epoch;
    push.rev = revision.rev;
    push.bucket = bucket_name;
    push.config = base::as_bytes(text);
    base::byte_writer writer(out);
    (void)push.encode(writer);
}

void hostile_peer::answer(const wire::frame_view& request, std::vector<std::byte>& out) {
    constexpr std::array<std::pair<opcode, push_stage>, 4> stages = {{
        {opcode::hello, push_stage::hello},
        {opcode::get_error_map, push_stage::error_map},
        {opcode::sasl_list_mechanisms, push_stage::mechanisms},
        {opcode::sasl_auth, push_stage::login},
    }};
    for (const auto& [op, stage] : stages) {
        if (op == request.op() && stage == pushes_at_) {
            push_configuration(out);
        }
    }
    switch (request.op()) {
        case opcode::hello: {
            const auto asked = wire::hello_request::decode(request);
            wire::hello_response granted;
            granted.features = asked ? asked->features : wire::hello_feature_set{};
            wire::response_header header;
            header.op = opcode::hello;
            header.opaque = request.opaque();
            base::byte_writer writer(out);
            (void)granted.encode(writer, header);
            return;
        }
        case opcode::get_error_map:
            return respond(request, status::success, lying_map, out);
        case opcode::sasl_list_mechanisms:
            return respond(
                request, status::success,
                ends_with_ == login_end::only_plain ? "PLAIN" : "SCRAM-SHA512 SCRAM-SHA256 PLAIN",
                out);
        case opcode::sasl_auth:
            ++login_count_;
            return answer_login(request, out);
        case opcode::sasl_step:
            return answer_proof(request, out);
        default:  // what a client asks for only after its login
            is_trusted_ = true;
            return respond(request, status::success, {}, out);
    }
}

std::string hostile_peer::challenge(std::string_view client_first) const {
    const std::size_t at = client_first.find("r=");
    std::string nonce(at == std::string_view::npos ? "" : client_first.substr(at + 2));
    if (ends_with_ == login_end::wrong_nonce) {
        nonce = "somebodyelses";
    }
    const std::string_view rounds = ends_with_ == login_end::too_few_rounds    ? "1"
                                    : ends_with_ == login_end::too_many_rounds ? "2000000000"
                                                                               : "4096";
    return "r=" + nonce + "hostile,s=c2FsdHNhbHQ=,i=" + std::string(rounds);
}

void hostile_peer::answer_login(const wire::frame_view& request, std::vector<std::byte>& out) {
    const std::string_view said = base::as_text(request.value());
    if (said.find(right_password) != std::string_view::npos) {
        has_seen_password_ = true;
    }
    switch (ends_with_) {
        case login_end::silence:
            return;
        case login_end::close:
            is_closing_ = true;
            return;
        case login_end::lying_length: {
            const std::size_t begin = out.size();
            respond(request, status::auth_continue, {}, out);
            for (std::size_t byte = 8; byte < 12; ++byte) {
                out[begin + byte] = std::byte{0xff};  // the length of the body
            }
            return;
        }
        case login_end::wrong_signature:
        case login_end::no_signature:
        case login_end::refusal:
        case login_end::wrong_nonce:
        case login_end::too_few_rounds:
        case login_end::too_many_rounds:
        case login_end::only_plain:
        case login_end::challenge_again:
            return respond(request, status::auth_continue, challenge(said), out);
    }
}

void hostile_peer::answer_proof(const wire::frame_view& request, std::vector<std::byte>& out) {
    switch (ends_with_) {
        case login_end::challenge_again:
            return respond(request, status::auth_continue, "r=again,s=c2FsdA==,i=4096", out);
        case login_end::no_signature:
            return respond(request, status::success, {}, out);
        case login_end::refusal:
            return respond(request, status::success, "e=invalid-proof", out);
        case login_end::wrong_signature:
        case login_end::wrong_nonce:
        case login_end::too_few_rounds:
        case login_end::too_many_rounds:
        case login_end::only_plain:
        case login_end::silence:
        case login_end::close:
        case login_end::lying_length:
            // As long as a correct one of SCRAM-SHA512: 64 bytes.
            return respond(request, status::success, "v=" + std::string(86, 'A') + "==", out);
    }
}

}  // namespace reprise::sim
