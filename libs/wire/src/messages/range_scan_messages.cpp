#include <reprise/wire/range_scan_messages.hpp>

#include <algorithm>
#include <charconv>

#include <reprise/base/base64.hpp>
#include <reprise/base/byte_reader.hpp>
#include <reprise/base/hex.hpp>
#include <reprise/json/parse.hpp>
#include <reprise/json/value.hpp>
#include <reprise/json/write.hpp>
#include <reprise/wire/document_key.hpp>
#include <reprise/wire/leb128.hpp>

#include "frames/message_frame.hpp"

namespace reprise::wire {

namespace {

constexpr std::size_t scan_id_size = 16;
constexpr std::size_t continue_extras_size = scan_id_size + 12;
constexpr std::size_t flags_size = 4;
// A byte longer than a key, so that a range can end behind all keys with a prefix.
constexpr std::size_t bound_size_max = key_size_max_default_collection + 1;
constexpr std::size_t item_metadata_size = 25;  // flags, expiry, seqno, CAS, datatype
// The largest document of a server is 20 MiB, with attributes 21.
constexpr std::size_t item_value_size_max_bytes = std::size_t{21} * 1024 * 1024;

std::unexpected<wire_errc> malformed_create() {
    return std::unexpected(wire_errc::scan_description_malformed);
}

scan_id read_scan_id(base::byte_view bytes) noexcept {
    scan_id id;
    std::ranges::copy(bytes.first(scan_id_size), id.bytes.begin());
    return id;
}

json::object to_json(const scan_range& range) {
    json::object body;
    body.set(
        range.start.is_exclusive ? "excl_start" : "start",
        json::value(base::encode_base64(range.start.key)));
    body.set(
        range.end.is_exclusive ? "excl_end" : "end",
        json::value(base::encode_base64(range.end.key)));
    return body;
}

std::string describe(const range_scan_create_request& request) {
    json::object body;
    if (request.collection != default_collection) {
        body.set("collection", json::value(base::to_shortest_hex(request.collection.value)));
    }
    if (request.is_key_only) {
        body.set("key_only", json::value(true));
    }
    if (const auto* range = std::get_if<scan_range>(&request.what)) {
        body.set("range", json::value(to_json(*range)));
    } else {
        const auto& sampling = std::get<scan_sampling>(request.what);
        json::object chosen;
        chosen.set("samples", json::value(sampling.samples));
        chosen.set("seed", json::value(sampling.seed));
        body.set("sampling", json::value(std::move(chosen)));
    }
    if (request.snapshot) {
        json::object needed;
        needed.set("vb_uuid", json::value(std::to_string(request.snapshot->vbucket_uuid)));
        needed.set("seqno", json::value(request.snapshot->seqno));
        if (request.snapshot->timeout_ms != 0) {
            needed.set("timeout_ms", json::value(request.snapshot->timeout_ms));
        }
        body.set("snapshot_requirements", json::value(std::move(needed)));
    }
    return json::serialize(json::value(std::move(body)));
}

// Exactly one of the two names must be there.
std::optional<scan_bound> read_bound(
    const json::value& range, std::string_view inclusive, std::string_view exclusive) {
    const json::value* with = range.find(inclusive);
    const json::value* without = range.find(exclusive);
    if ((with == nullptr) == (without == nullptr)) {
        return std::nullopt;
    }
    const auto text = (with != nullptr ? with : without)->as_string();
    auto key = text ? base::decode_base64(*text) : std::nullopt;
    if (!key || key->size() > bound_size_max) {
        return std::nullopt;
    }
    return scan_bound{std::move(*key), with == nullptr};
}

std::optional<std::uint32_t> as_uint32(const json::value* number) {
    const auto found = number == nullptr ? std::optional<std::uint64_t>(0) : number->as_uint64();
    if (!found || *found > UINT32_MAX) {
        return std::nullopt;
    }
    return static_cast<std::uint32_t>(*found);
}

std::optional<scan_range> read_range(const json::value& given) {
    auto start = read_bound(given, "start", "excl_start");
    auto end = read_bound(given, "end", "excl_end");
    if (!start || !end) {
        return std::nullopt;
    }
    return scan_range{std::move(*start), std::move(*end)};
}

std::optional<scan_sampling> read_sampling(const json::value& given) {
    const json::value* samples = given.find("samples");
    const auto count = samples == nullptr ? std::nullopt : samples->as_uint64();
    const json::value* number = given.find("seed");
    const auto seed = number == nullptr ? std::optional<std::uint64_t>(0) : number->as_uint64();
    if (!count || *count == 0 || !seed) {
        return std::nullopt;
    }
    // Other clients choose seeds of 64 bits. Servers keep the lower half.
    return scan_sampling{*count, static_cast<std::uint32_t>(*seed & UINT32_MAX)};
}

std::optional<scan_snapshot> read_snapshot(const json::value& given) {
    const json::value* uuid = given.find("vb_uuid");
    const json::value* seqno = given.find("seqno");
    const auto uuid_text = uuid == nullptr ? std::nullopt : uuid->as_string();
    const auto number = seqno == nullptr ? std::nullopt : seqno->as_uint64();
    const auto timeout = as_uint32(given.find("timeout_ms"));
    if (!uuid_text || !number || !timeout) {
        return std::nullopt;
    }
    scan_snapshot snapshot{.vbucket_uuid = 0, .seqno = *number, .timeout_ms = *timeout};
    const char* const end = uuid_text->data() + uuid_text->size();
    const auto parsed = std::from_chars(uuid_text->data(), end, snapshot.vbucket_uuid);
    if (parsed.ec != std::errc() || parsed.ptr != end) {
        return std::nullopt;
    }
    return snapshot;
}

std::expected<range_scan_create_request, wire_errc> parse_description(const json::value& root) {
    range_scan_create_request request;
    if (const json::value* collection = root.find("collection")) {
        const auto text = collection->as_string();
        const auto number = text ? base::parse_hex(*text) : std::nullopt;
        if (!number || *number > UINT32_MAX) {
            return malformed_create();
        }
        request.collection = collection_id{static_cast<std::uint32_t>(*number)};
    }
    if (const json::value* key_only = root.find("key_only")) {
        if (!key_only->as_bool()) {
            return malformed_create();
        }
        request.is_key_only = *key_only->as_bool();
    }
    const json::value* range = root.find("range");
    const json::value* sampling = root.find("sampling");
    if ((range == nullptr) == (sampling == nullptr)) {
        return malformed_create();
    }
    if (auto found = range != nullptr ? read_range(*range) : std::nullopt) {
        request.what = std::move(*found);
    } else if (auto chosen = sampling != nullptr ? read_sampling(*sampling) : std::nullopt) {
        request.what = *chosen;
    } else {
        return malformed_create();
    }
    if (const json::value* snapshot = root.find("snapshot_requirements")) {
        request.snapshot = read_snapshot(*snapshot);
        if (!request.snapshot) {
            return malformed_create();
        }
    }
    return request;
}

// Reads a size and as many bytes.
base::byte_view read_sized(base::byte_view& rest, std::size_t size_max, bool& is_sound) noexcept {
    const auto size = decode_leb128(rest);
    is_sound = size && size->value <= size_max && size->value <= rest.size() - size->size;
    if (!is_sound) {
        return {};
    }
    const base::byte_view found = rest.subspan(size->size, size->value);
    rest = rest.subspan(size->size + size->value);
    return found;
}

void append_sized(base::byte_writer& out, base::byte_view bytes) {
    std::array<std::byte, leb128_size_max> size{};
    const std::size_t used = encode_leb128(size.data(), static_cast<std::uint32_t>(bytes.size()));
    out.write_bytes(base::byte_view(size).first(used));
    out.write_bytes(bytes);
}

}  // namespace

std::expected<void, wire_errc> range_scan_create_request::encode(
    base::byte_writer& out, const request_header& header) const {
    if (const auto* range = std::get_if<scan_range>(&what)) {
        if (range->start.key.size() > bound_size_max || range->end.key.size() > bound_size_max) {
            return std::unexpected(wire_errc::key_too_long);
        }
    } else if (std::get<scan_sampling>(what).samples == 0) {
        return malformed_create();
    }
    const std::string body = describe(*this);
    request_header with_json = header;
    with_json.datatype = wire::datatype::json;
    return detail::begin_request(out, with_json, opcode::range_scan_create, {.value = body.size()})
        .then([&] { out.write_bytes(base::as_bytes(body)); });
}

std::expected<range_scan_create_request, wire_errc> range_scan_create_request::decode(
    const frame_view& frame) {
    if (const auto error =
            detail::check_request(frame, {opcode::range_scan_create}, {.value = true})) {
        return std::unexpected(*error);
    }
    if (frame.datatype() != wire::datatype::json) {
        return std::unexpected(wire_errc::datatype_invalid);
    }
    if (frame.value().size() > scan_create_size_max_bytes) {
        return malformed_create();
    }
    const auto document = json::parse(base::as_text(frame.value()));
    if (!document || document->root.as_object() == nullptr) {
        return malformed_create();
    }
    return parse_description(document->root);
}

std::expected<void, wire_errc> range_scan_create_response::encode(
    base::byte_writer& out, const response_header& header) const {
    return detail::begin_response(out, header, {.value = scan_id_size}).then([&] {
        out.write_bytes(id.bytes);
    });
}

std::expected<range_scan_create_response, wire_errc> range_scan_create_response::decode(
    const frame_view& frame) {
    if (const auto error = detail::check_response(frame, {opcode::range_scan_create})) {
        return std::unexpected(*error);
    }
    if (frame.value().size() != scan_id_size) {
        return std::unexpected(wire_errc::value_size_invalid);
    }
    return range_scan_create_response{read_scan_id(frame.value())};
}

std::expected<void, wire_errc> range_scan_continue_request::encode(
    base::byte_writer& out, const request_header& header) const {
    return detail::begin_request(
               out, header, opcode::range_scan_continue, {.extras = continue_extras_size})
        .then([&](std::byte* start) {
            std::byte* at = detail::store(start, id.bytes);
            at = base::store_big_endian(at, item_limit);
            at = base::store_big_endian(at, time_limit_ms);
            base::store_big_endian(at, byte_limit);
        });
}

std::expected<range_scan_continue_request, wire_errc> range_scan_continue_request::decode(
    const frame_view& frame) {
    if (const auto error = detail::check_request(
            frame, {opcode::range_scan_continue}, {.extras_size = continue_extras_size})) {
        return std::unexpected(*error);
    }
    base::byte_reader reader(frame.extras());
    range_scan_continue_request request;
    request.id = read_scan_id(reader.read_bytes(scan_id_size));
    request.item_limit = reader.read_u32();
    request.time_limit_ms = reader.read_u32();
    request.byte_limit = reader.read_u32();
    return request;
}

std::expected<void, wire_errc> range_scan_continue_response::encode(
    base::byte_writer& out, const response_header& header) const {
    return detail::begin_response(out, header, {.extras = flags_size, .value = items.size()})
        .then([&](std::byte* start) {
            base::store_big_endian(start, static_cast<std::uint32_t>(content));
            out.write_bytes(items);
        });
}

std::expected<range_scan_continue_response, wire_errc> range_scan_continue_response::decode(
    const frame_view& frame) {
    if (!frame.is_response()) {
        return std::unexpected(wire_errc::not_a_response);
    }
    if (frame.op() != opcode::range_scan_continue) {
        return std::unexpected(wire_errc::opcode_mismatch);
    }
    if (frame.status() != status::success && !is_scan_end(frame.status())) {
        return std::unexpected(wire_errc::status_unexpected);
    }
    range_scan_continue_response response;
    response.items = frame.value();
    if (frame.extras().size() < flags_size) {
        return response.items.empty()
                   ? std::expected<range_scan_continue_response, wire_errc>(response)
                   : std::unexpected(wire_errc::extras_size_invalid);
    }
    const std::uint32_t flags = base::byte_reader(frame.extras()).read_u32();
    if (flags > static_cast<std::uint32_t>(scan_content::documents)) {
        return std::unexpected(wire_errc::scan_item_malformed);
    }
    response.content = static_cast<scan_content>(flags);
    return response;
}

std::expected<void, wire_errc> range_scan_cancel_request::encode(
    base::byte_writer& out, const request_header& header) const {
    return detail::begin_request(out, header, opcode::range_scan_cancel, {.extras = scan_id_size})
        .then([&](std::byte* start) { detail::store(start, id.bytes); });
}

std::expected<range_scan_cancel_request, wire_errc> range_scan_cancel_request::decode(
    const frame_view& frame) {
    if (const auto error = detail::check_request(
            frame, {opcode::range_scan_cancel}, {.extras_size = scan_id_size})) {
        return std::unexpected(*error);
    }
    return range_scan_cancel_request{read_scan_id(frame.extras())};
}

std::expected<std::optional<scan_item>, wire_errc> scan_item_reader::next() noexcept {
    if (rest_.empty()) {
        return std::nullopt;
    }
    scan_item item;
    base::byte_view rest = rest_;
    if (content_ == scan_content::documents) {
        base::byte_reader reader(rest);
        item.flags = reader.read_u32();
        item.expiry = reader.read_u32();
        item.seqno = reader.read_u64();
        item.cas = reader.read_u64();
        item.datatype = static_cast<wire::datatype>(reader.read_u8());
        if (!reader.ok()) {
            return std::unexpected(wire_errc::scan_item_malformed);
        }
        rest = rest.subspan(item_metadata_size);
    }
    bool is_sound = true;
    item.key = base::as_text(read_sized(rest, key_size_max_default_collection, is_sound));
    if (is_sound && item.key.empty()) {
        return std::unexpected(wire_errc::key_missing);
    }
    if (is_sound && content_ == scan_content::documents) {
        item.value = read_sized(rest, item_value_size_max_bytes, is_sound);
    }
    if (!is_sound) {
        return std::unexpected(wire_errc::scan_item_malformed);
    }
    item.encoded = rest_.first(rest_.size() - rest.size());
    rest_ = rest;
    return item;
}

void append_scan_item(base::byte_writer& out, scan_content content, const scan_item& item) {
    if (content == scan_content::documents) {
        out.write_u32(item.flags);
        out.write_u32(item.expiry);
        out.write_u64(item.seqno);
        out.write_u64(item.cas);
        out.write_u8(static_cast<std::uint8_t>(item.datatype));
    }
    append_sized(out, base::as_bytes(item.key));
    if (content == scan_content::documents) {
        append_sized(out, item.value);
    }
}

}  // namespace reprise::wire
