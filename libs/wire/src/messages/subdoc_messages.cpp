#include <reprise/wire/subdoc_messages.hpp>

#include <array>

#include <reprise/base/byte_reader.hpp>

#include "frames/message_frame.hpp"

namespace reprise::wire {

namespace {

using base::store_big_endian;

constexpr std::size_t lookup_spec_head_size = 4;      // opcode, flags, path length
constexpr std::size_t mutation_spec_head_size = 8;    // opcode, flags, path and value length
constexpr std::size_t lookup_result_head_size = 6;    // status, length
constexpr std::size_t mutation_result_head_size = 7;  // index, status, length
constexpr std::size_t mutation_failure_size = 3;      // index, status

// Expiry, user flags and doc flags. Their total size alone determines which of them are present.
struct subdoc_options {
    std::optional<std::uint32_t> expiry;
    std::optional<std::uint32_t> user_flags;
    std::optional<wire::doc_flags> flags;

    std::size_t size() const noexcept {
        return (expiry ? 4u : 0u) + (user_flags ? 4u : 0u) + (flags ? 1u : 0u);
    }
};

// User flags without an expiry would be read as an expiry.
bool is_expressible(const subdoc_options& options) noexcept {
    return options.expiry || !options.user_flags;
}

std::byte* store_options(std::byte* at, const subdoc_options& options) noexcept {
    if (options.expiry) {
        at = store_big_endian(at, *options.expiry);
    }
    if (options.user_flags) {
        at = store_big_endian(at, *options.user_flags);
    }
    if (options.flags) {
        *at++ = static_cast<std::byte>(*options.flags);
    }
    return at;
}

std::expected<subdoc_options, wire_errc> read_options(
    base::byte_reader& reader, bool is_mutation) noexcept {
    const std::size_t size = reader.remaining();
    const bool is_legal =
        size <= 1 || (is_mutation && (size == 4 || size == 5 || size == 8 || size == 9));
    if (!reader.ok() || !is_legal) {
        return std::unexpected(wire_errc::extras_size_invalid);
    }
    subdoc_options options;
    if (size >= 4) {
        options.expiry = reader.read_u32();
    }
    if (size >= 8) {
        options.user_flags = reader.read_u32();
    }
    if (size % 4 == 1) {
        options.flags = static_cast<doc_flags>(reader.read_u8());
    }
    return options;
}

template <class Request>
void take_options(Request& request, const subdoc_options& options) noexcept {
    request.expiry = options.expiry;
    request.user_flags = options.user_flags;
    request.doc_flags = options.flags;
}

bool is_spec_opcode(opcode op, bool is_mutation) noexcept {
    const bool is_of_document =
        is_mutation ? op == opcode::set || op == opcode::remove : op == opcode::get;
    return is_of_document || (is_subdoc_single(op) && is_subdoc_lookup(op) != is_mutation);
}

// Reads one spec of a multi command. Mutations have a value length and a value; lookups do not.
std::expected<mutation_spec, wire_errc> read_spec(
    base::byte_reader& reader, bool is_mutation) noexcept {
    mutation_spec spec;
    spec.op = static_cast<opcode>(reader.read_u8());
    spec.flags = static_cast<path_flags>(reader.read_u8());
    const std::uint16_t path_size = reader.read_u16();
    const std::uint32_t value_size = is_mutation ? reader.read_u32() : 0;
    spec.path = base::as_text(reader.read_bytes(path_size));
    spec.value = reader.read_bytes(value_size);
    if (!reader.ok()) {
        return std::unexpected(wire_errc::spec_truncated);
    }
    if (path_size > subdoc_path_size_max) {
        return std::unexpected(wire_errc::path_too_long);
    }
    if (!is_spec_opcode(spec.op, is_mutation)) {
        return std::unexpected(wire_errc::spec_opcode_invalid);
    }
    return spec;
}

// The fields of the two multi commands before their specs.
struct multi_head {
    document_key key;
    subdoc_options options;
};

std::expected<multi_head, wire_errc> read_head(
    const frame_view& frame, request_shape shape, key_form form) {
    if (const auto error =
            detail::check_request(frame, shape, {.extras = true, .key = true, .value = true})) {
        return std::unexpected(*error);
    }
    base::byte_reader extras(frame.extras());
    const auto options = read_options(extras, shape == request_shape::subdoc_mutation);
    if (!options) {
        return std::unexpected(options.error());
    }
    const auto key = decode_document_key(frame.key(), form);
    if (!key) {
        return std::unexpected(key.error());
    }
    return multi_head{*key, *options};
}

// Gives each spec to `take`, which returns whether it had room for it. There is at least one.
template <class Take>
std::expected<void, wire_errc> read_specs(
    const frame_view& frame, bool is_mutation, const Take& take) {
    base::byte_reader reader(frame.value());
    std::size_t count = 0;
    for (; reader.remaining() > 0; ++count) {
        const auto spec = read_spec(reader, is_mutation);
        if (!spec) {
            return std::unexpected(spec.error());
        }
        if (!take(*spec)) {
            return std::unexpected(wire_errc::spec_count_invalid);
        }
    }
    if (count == 0) {
        return std::unexpected(wire_errc::spec_count_invalid);
    }
    return {};
}

// The size of the specs of a multi command, of which there is at least one.
template <class Specs>
std::expected<std::size_t, wire_errc> specs_size(const Specs& specs) noexcept {
    std::size_t size = 0;
    for (const auto& spec : specs) {
        constexpr bool is_mutation = requires { spec.value; };
        if (spec.path.size() > subdoc_path_size_max) {
            return std::unexpected(wire_errc::path_too_long);
        }
        if (!is_spec_opcode(spec.op, is_mutation)) {
            return std::unexpected(wire_errc::spec_opcode_invalid);
        }
        size += spec.path.size();
        if constexpr (is_mutation) {
            if (spec.value.size() > 0xffff'ffffu) {
                return std::unexpected(wire_errc::value_size_invalid);
            }
            size += mutation_spec_head_size + spec.value.size();
        } else {
            size += lookup_spec_head_size;
        }
    }
    if (size == 0) {
        return std::unexpected(wire_errc::spec_count_invalid);
    }
    return size;
}

bool is_path_failure(status code) noexcept {
    return code == status::subdoc_multi_path_failure ||
           code == status::subdoc_multi_path_failure_deleted;
}

}  // namespace

std::expected<void, wire_errc> subdoc_request::encode(
    base::byte_writer& out, const request_header& header) const {
    const subdoc_options options{expiry, user_flags, doc_flags};
    if (!is_subdoc_single(op)) {
        return std::unexpected(wire_errc::opcode_mismatch);
    }
    if (!is_expressible(options) || (is_subdoc_lookup(op) && expiry)) {
        return std::unexpected(wire_errc::extras_size_invalid);
    }
    if (path.size() > subdoc_path_size_max) {
        return std::unexpected(wire_errc::path_too_long);
    }
    std::array<std::byte, 12> extras;
    std::byte* at = store_big_endian(extras.data(), static_cast<std::uint16_t>(path.size()));
    *at++ = static_cast<std::byte>(flags);
    store_options(at, options);
    const base::byte_view sent = base::byte_view(extras).first(3 + options.size());
    const auto begun =
        detail::begin_document_request(out, header, op, sent, key, path.size() + value.size());
    if (begun) {
        out.write_text(path);
        out.write_bytes(value);
    }
    return begun;
}

std::expected<subdoc_request, wire_errc> subdoc_request::decode(
    const frame_view& frame, key_form form) {
    if (const auto error = detail::check_request(
            frame, request_shape::subdoc_path, {.extras = true, .key = true, .value = true})) {
        return std::unexpected(*error);
    }
    base::byte_reader extras(frame.extras());
    subdoc_request request;
    request.op = frame.op();
    const std::uint16_t path_size = extras.read_u16();
    request.flags = static_cast<path_flags>(extras.read_u8());
    const auto options = read_options(extras, !is_subdoc_lookup(request.op));
    if (!options) {
        return std::unexpected(options.error());
    }
    take_options(request, *options);
    const auto key = decode_document_key(frame.key(), form);
    if (!key) {
        return std::unexpected(key.error());
    }
    request.key = *key;
    if (path_size > frame.value().size()) {
        return std::unexpected(wire_errc::path_size_invalid);
    }
    if (path_size > subdoc_path_size_max) {
        return std::unexpected(wire_errc::path_too_long);
    }
    request.path = base::as_text(frame.value().first(path_size));
    request.value = frame.value().subspan(path_size);
    return request;
}

std::expected<void, wire_errc> subdoc_lookup_request::encode(
    base::byte_writer& out, const request_header& header) const {
    const auto size = specs_size(specs);
    if (!size) {
        return std::unexpected(size.error());
    }
    const std::array<std::byte, 1> extras{
        static_cast<std::byte>(doc_flags.value_or(wire::doc_flags::none))};
    const base::byte_view sent = base::byte_view(extras).first(doc_flags ? 1 : 0);
    const auto begun =
        detail::begin_document_request(out, header, opcode::subdoc_multi_lookup, sent, key, *size);
    if (!begun) {
        return begun;
    }
    std::byte* at = out.extend(*size);
    for (const lookup_spec& spec : specs) {
        *at++ = static_cast<std::byte>(spec.op);
        *at++ = static_cast<std::byte>(spec.flags);
        at = store_big_endian(at, static_cast<std::uint16_t>(spec.path.size()));
        at = detail::store(at, base::as_bytes(spec.path));
    }
    return {};
}

std::expected<subdoc_lookup_request, wire_errc> subdoc_lookup_request::decode(
    const frame_view& frame, key_form form) {
    const auto head = read_head(frame, request_shape::subdoc_lookup, form);
    if (!head) {
        return std::unexpected(head.error());
    }
    subdoc_lookup_request request;
    request.key = head->key;
    request.doc_flags = head->options.flags;
    const auto read = read_specs(frame, false, [&](const mutation_spec& spec) {
        return request.specs.push_back({spec.op, spec.flags, spec.path});
    });
    if (!read) {
        return std::unexpected(read.error());
    }
    return request;
}

std::expected<void, wire_errc> subdoc_lookup_response::encode(
    base::byte_writer& out, const response_header& header) const {
    std::size_t size = 0;
    for (const lookup_result& result : results) {
        size += lookup_result_head_size + result.value.size();
    }
    return detail::begin_response(out, header, {.value = size}).then([&] {
        for (const lookup_result& result : results) {
            out.write_u16(static_cast<std::uint16_t>(result.status));
            out.write_u32(static_cast<std::uint32_t>(result.value.size()));
            out.write_bytes(result.value);
        }
    });
}

std::expected<subdoc_lookup_response, wire_errc> subdoc_lookup_response::decode(
    const frame_view& frame) {
    if (const auto error = detail::check_response(frame, response_shape::subdoc_lookup)) {
        return std::unexpected(*error);
    }
    subdoc_lookup_response response;
    base::byte_reader reader(frame.value());
    while (reader.remaining() > 0) {
        lookup_result result;
        result.status = static_cast<status>(reader.read_u16());
        const std::uint32_t size = reader.read_u32();
        result.value = reader.read_bytes(size);
        if (!reader.ok()) {
            return std::unexpected(wire_errc::spec_truncated);
        }
        if (!response.results.push_back(result)) {
            return std::unexpected(wire_errc::spec_count_invalid);
        }
    }
    return response;
}

std::expected<void, wire_errc> subdoc_mutation_request::encode(
    base::byte_writer& out, const request_header& header) const {
    const subdoc_options options{expiry, user_flags, doc_flags};
    if (!is_expressible(options)) {
        return std::unexpected(wire_errc::extras_size_invalid);
    }
    const auto size = specs_size(specs);
    if (!size) {
        return std::unexpected(size.error());
    }
    std::array<std::byte, 9> extras;
    store_options(extras.data(), options);
    const base::byte_view sent = base::byte_view(extras).first(options.size());
    const auto begun = detail::begin_document_request(
        out, header, opcode::subdoc_multi_mutation, sent, key, *size);
    if (!begun) {
        return begun;
    }
    for (const mutation_spec& spec : specs) {
        out.write_u8(static_cast<std::uint8_t>(spec.op));
        out.write_u8(static_cast<std::uint8_t>(spec.flags));
        out.write_u16(static_cast<std::uint16_t>(spec.path.size()));
        out.write_u32(static_cast<std::uint32_t>(spec.value.size()));
        out.write_text(spec.path);
        out.write_bytes(spec.value);
    }
    return {};
}

std::expected<subdoc_mutation_request, wire_errc> subdoc_mutation_request::decode(
    const frame_view& frame, key_form form) {
    const auto head = read_head(frame, request_shape::subdoc_mutation, form);
    if (!head) {
        return std::unexpected(head.error());
    }
    subdoc_mutation_request request;
    request.key = head->key;
    take_options(request, head->options);
    const auto read = read_specs(
        frame, true, [&](const mutation_spec& spec) { return request.specs.push_back(spec); });
    if (!read) {
        return std::unexpected(read.error());
    }
    return request;
}

std::expected<void, wire_errc> subdoc_mutation_response::encode(
    base::byte_writer& out, const response_header& header) const {
    const bool is_failure = is_path_failure(header.status);
    if (is_failure && (results.size() != 1 || token)) {
        return std::unexpected(wire_errc::spec_count_invalid);
    }
    std::size_t size = is_failure ? mutation_failure_size : 0;
    if (!is_failure) {
        for (const mutation_result& result : results) {
            size += mutation_result_head_size + result.value.size();
        }
    }
    const detail::body_sizes sizes{.extras = detail::token_size(token), .value = size};
    return detail::begin_response(out, header, sizes).then([&](std::byte* start) {
        detail::store_token(start, token);
        for (const mutation_result& result : results) {
            out.write_u8(result.index);
            out.write_u16(static_cast<std::uint16_t>(result.status));
            if (!is_failure) {
                out.write_u32(static_cast<std::uint32_t>(result.value.size()));
                out.write_bytes(result.value);
            }
        }
    });
}

std::expected<subdoc_mutation_response, wire_errc> subdoc_mutation_response::decode(
    const frame_view& frame) {
    if (const auto error = detail::check_response(frame, response_shape::subdoc_mutation)) {
        return std::unexpected(*error);
    }
    subdoc_mutation_response response;
    response.token = detail::read_token(frame.extras());
    const bool is_failure = is_path_failure(frame.status());
    if (is_failure && frame.value().size() < mutation_failure_size) {
        return std::unexpected(wire_errc::value_size_invalid);
    }
    // A failure has an index and a status. What follows them is undefined, so it is ignored.
    base::byte_reader reader(
        is_failure ? frame.value().first(mutation_failure_size) : frame.value());
    while (reader.remaining() > 0) {
        mutation_result result;
        result.index = reader.read_u8();
        result.status = static_cast<status>(reader.read_u16());
        const std::uint32_t size = is_failure ? 0 : reader.read_u32();
        result.value = reader.read_bytes(size);
        if (!reader.ok()) {
            return std::unexpected(wire_errc::spec_truncated);
        }
        if (!response.results.push_back(result)) {
            return std::unexpected(wire_errc::spec_count_invalid);
        }
    }
    return response;
}

}  // namespace reprise::wire
