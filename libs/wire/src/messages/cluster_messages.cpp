#include <reprise/wire/cluster_messages.hpp>

#include <utility>

#include <reprise/base/byte_reader.hpp>

#include "frames/message_frame.hpp"

namespace reprise::wire {

namespace {

bool is_legal_known_revision(const configuration_revision& known) noexcept {
    return known.rev >= 1 && std::in_range<std::int64_t>(known.rev) &&
           (known.epoch >= 1 || known.epoch == -1);
}

// Encodes a request whose body is one text in the value.
std::expected<void, wire_errc> encode_text_request(
    base::byte_writer& out, const request_header& header, opcode op, std::string_view text) {
    return detail::begin_request(out, header, op, {.value = text.size()}).then([&] {
        out.write_text(text);
    });
}

// Returns the text. Servers also accept it as the key, but not in both places.
std::expected<std::string_view, wire_errc> decode_text_request(
    const frame_view& frame, opcode op) noexcept {
    if (const auto error = detail::check_request(frame, {op}, {.key = true, .value = true})) {
        return std::unexpected(*error);
    }
    if (frame.key().empty()) {
        return base::as_text(frame.value());
    }
    if (!frame.value().empty()) {
        return std::unexpected(wire_errc::key_unexpected);
    }
    return base::as_text(frame.key());
}

struct id_answer {
    std::uint64_t manifest_uid = 0;
    std::uint32_t id = 0;
};

std::expected<void, wire_errc> encode_id_answer(
    base::byte_writer& out, const response_header& header, const id_answer& answer) {
    return detail::begin_response(out, header, {.extras = 12}).then([&](std::byte* start) {
        base::store_big_endian(base::store_big_endian(start, answer.manifest_uid), answer.id);
    });
}

std::expected<id_answer, wire_errc> decode_id_answer(const frame_view& frame, opcode op) noexcept {
    if (const auto error = detail::check_response(frame, {op})) {
        return std::unexpected(*error);
    }
    if (frame.extras().size() < 12) {
        return std::unexpected(wire_errc::extras_size_invalid);
    }
    base::byte_reader extras(frame.extras());
    id_answer answer;
    answer.manifest_uid = extras.read_u64();
    answer.id = extras.read_u32();
    return answer;
}

}  // namespace

std::expected<void, wire_errc> get_cluster_config_request::encode(
    base::byte_writer& out, const request_header& header) const {
    if (known && !is_legal_known_revision(*known)) {
        return std::unexpected(wire_errc::revision_invalid);
    }
    const detail::body_sizes sizes{.extras = known ? 16u : 0u};
    return detail::begin_request(out, header, opcode::get_cluster_config, sizes)
        .then([&](std::byte* start) {
            if (known) {
                base::store_big_endian(base::store_big_endian(start, known->epoch), known->rev);
            }
        });
}

std::expected<get_cluster_config_request, wire_errc> get_cluster_config_request::decode(
    const frame_view& frame) {
    if (const auto error =
            detail::check_request(frame, {opcode::get_cluster_config}, {.extras = true})) {
        return std::unexpected(*error);
    }
    get_cluster_config_request request;
    if (frame.extras().empty()) {
        return request;
    }
    if (frame.extras().size() != 16) {
        return std::unexpected(wire_errc::extras_size_invalid);
    }
    base::byte_reader extras(frame.extras());
    configuration_revision& known = request.known.emplace();
    known.epoch = extras.read_i64();
    known.rev = extras.read_u64();
    if (!is_legal_known_revision(known)) {
        return std::unexpected(wire_errc::revision_invalid);
    }
    return request;
}

std::expected<void, wire_errc> cluster_map_change_notification::encode(
    base::byte_writer& out) const {
    frame_header header;
    header.magic = magic::server_request;
    header.op = static_cast<opcode>(server_opcode::cluster_map_change_notification);
    header.datatype = datatype;
    if (!epoch && rev > 0xffff'ffff) {
        return std::unexpected(wire_errc::revision_invalid);
    }
    const detail::body_sizes sizes{epoch ? 16u : 4u, bucket.size(), config.size()};
    return detail::begin_frame(out, header, {}, sizes).then([&](std::byte* start) {
        std::byte* at = start;
        if (epoch) {
            at = base::store_big_endian(base::store_big_endian(at, *epoch), rev);
        } else {
            at = base::store_big_endian(at, static_cast<std::uint32_t>(rev));
        }
        detail::store(at, base::as_bytes(bucket));
        out.write_bytes(config);
    });
}

std::expected<cluster_map_change_notification, wire_errc> cluster_map_change_notification::decode(
    const frame_view& frame) {
    if (!frame.is_server_push()) {
        return std::unexpected(wire_errc::not_a_request);
    }
    if (frame.server_op() != server_opcode::cluster_map_change_notification) {
        return std::unexpected(wire_errc::opcode_mismatch);
    }
    const std::size_t extras_size = frame.extras().size();
    if (extras_size < 16 && extras_size != 4) {
        return std::unexpected(wire_errc::extras_size_invalid);
    }
    base::byte_reader extras(frame.extras());
    cluster_map_change_notification message;
    if (extras_size >= 16) {
        message.epoch = extras.read_i64();
        message.rev = extras.read_u64();
    } else {
        message.rev = extras.read_u32();
    }
    message.bucket = base::as_text(frame.key());
    message.config = frame.value();
    message.datatype = frame.datatype();
    return message;
}

std::expected<void, wire_errc> get_collection_id_request::encode(
    base::byte_writer& out, const request_header& header) const {
    return encode_text_request(out, header, opcode::get_collection_id, path);
}

std::expected<get_collection_id_request, wire_errc> get_collection_id_request::decode(
    const frame_view& frame) {
    const auto text = decode_text_request(frame, opcode::get_collection_id);
    if (!text) {
        return std::unexpected(text.error());
    }
    return get_collection_id_request{*text};
}

std::expected<void, wire_errc> collection_id_response::encode(
    base::byte_writer& out, const response_header& header) const {
    return encode_id_answer(out, header, {manifest_uid, collection.value});
}

std::expected<collection_id_response, wire_errc> collection_id_response::decode(
    const frame_view& frame) {
    const auto answer = decode_id_answer(frame, opcode::get_collection_id);
    if (!answer) {
        return std::unexpected(answer.error());
    }
    return collection_id_response{answer->manifest_uid, collection_id{answer->id}};
}

std::expected<void, wire_errc> get_scope_id_request::encode(
    base::byte_writer& out, const request_header& header) const {
    return encode_text_request(out, header, opcode::get_scope_id, scope);
}

std::expected<get_scope_id_request, wire_errc> get_scope_id_request::decode(
    const frame_view& frame) {
    const auto text = decode_text_request(frame, opcode::get_scope_id);
    if (!text) {
        return std::unexpected(text.error());
    }
    return get_scope_id_request{*text};
}

}  // namespace reprise::wire
