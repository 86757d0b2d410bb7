#include "operations/request_encoding.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <reprise/engine/subdoc_words.hpp>
#include <reprise/wire/cluster_configuration.hpp>
#include <reprise/wire/document_messages.hpp>
#include <reprise/wire/expiry.hpp>
#include <reprise/wire/framing_extras.hpp>
#include <reprise/wire/range_scan_messages.hpp>

#include "operations/scan_progress.hpp"

namespace reprise::engine {
namespace {

using encoded = std::expected<void, wire::wire_errc>;

// Adds durability and preserve-expiry, if the connection supports them.
encoding_error add_frame_infos(
    const operation_request& request, const encoding_context& context,
    wire::request_frame_infos& infos) {
    if (request.durability != durability_level::none) {
        if (!context.features.contains_all(
                {wire::hello_feature::alt_request_support,
                 wire::hello_feature::sync_replication})) {
            return {"durability is not available on this connection", errc::feature_not_available};
        }
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(context.time_left);
        infos.durability = {
            static_cast<wire::durability_level>(request.durability),
            wire::durability_wire_timeout(left)};
    }
    if (request.preserve_expiry) {
        if (!context.features.contains_all(
                {wire::hello_feature::alt_request_support, wire::hello_feature::preserve_ttl})) {
            return {
                "preserving the expiry is not available on this connection",
                errc::feature_not_available};
        }
        infos.preserve_ttl = true;
    }
    return {};
}

// The arguments of an encoder.
struct encoder_input {
    // Written out: GCC would otherwise clear the header first, with its frame infos.
    encoder_input(
        base::byte_writer& to, const operation_request& asked, const encoding_context& given)
        : out(to),
          request(asked),
          context(given),
          key{given.collection, asked.key.text(), given.form} {}

    base::byte_writer& out;
    const operation_request& request;
    const encoding_context& context;
    wire::document_key key;
    wire::request_header header;
    bool is_value_apart = false;
};

std::optional<wire::doc_flags> outgoing_doc_flags(const operation_request& request) {
    // Without the flag a node refuses to read a replica.
    const wire::doc_flags asked = doc_flags_of(request);
    const wire::doc_flags flags =
        request.replica == 0 ? asked : asked | wire::doc_flags::replica_read;
    return flags == wire::doc_flags::none ? std::nullopt : std::optional(flags);
}

// Encodes a request of one shape. An operation whose shape has no encoder here does not compile.
template <wire::request_shape Shape>
encoded encode_shape(wire::opcode op, encoder_input& in) = delete;

template <>
encoded encode_shape<wire::request_shape::empty>(wire::opcode op, encoder_input& in) {
    return wire::empty_request{op}.encode(in.out, in.header);
}

// Reads and stores are the most frequent ones: their encoders become one function for each opcode.
template <>
[[gnu::always_inline]] inline encoded encode_shape<wire::request_shape::key>(
    wire::opcode op, encoder_input& in) {
    return wire::document_request{op, in.key}.encode(in.out, in.header);
}

template <>
encoded encode_shape<wire::request_shape::touch>(wire::opcode op, encoder_input& in) {
    return wire::touch_request{op, in.key, in.request.expiry}.encode(in.out, in.header);
}

template <>
encoded encode_shape<wire::request_shape::lock>(wire::opcode, encoder_input& in) {
    return wire::get_locked_request{in.key, in.request.lock_seconds}.encode(in.out, in.header);
}

template <>
encoded encode_shape<wire::request_shape::meta>(wire::opcode, encoder_input& in) {
    return wire::get_meta_request{in.key, 2}.encode(in.out, in.header);
}

bool may_compress(const encoder_input& in) noexcept {
    const wire::compression_options* const options = in.context.compression;
    return options != nullptr && in.context.features.contains(wire::hello_feature::snappy) &&
           in.request.value.size() >= options->size_min_bytes;
}

// Encodes a message whose value is that of the request.
template <class Message>
[[gnu::always_inline]] inline encoded encode_as_it_is(Message&& message, encoder_input& in) {
    message.value = in.request.value.view();
    in.is_value_apart = message.value.size() >= in.context.large_value_size_min;
    return in.is_value_apart ? message.encode_head(in.out, in.header)
                             : message.encode(in.out, in.header);
}

// The same, but compresses the value if that makes it smaller.
template <class Message>
[[gnu::noinline]] encoded encode_compressed(Message message, encoder_input& in) {
    const auto smaller =
        wire::compress_if_smaller(in.request.value.view(), *in.context.compression);
    if (!smaller) {
        return encode_as_it_is(message, in);
    }
    message.value = *smaller;
    in.header.datatype = in.header.datatype | wire::datatype::snappy;
    return message.encode(in.out, in.header);
}

template <class Message>
[[gnu::always_inline]] inline encoded encode_with_value(Message message, encoder_input& in) {
    if (in.request.is_json && in.context.features.contains(wire::hello_feature::json)) {
        in.header.datatype = wire::datatype::json;
    }
    return may_compress(in) ? encode_compressed(message, in) : encode_as_it_is(message, in);
}

template <>
[[gnu::always_inline]] inline encoded encode_shape<wire::request_shape::store>(
    wire::opcode op, encoder_input& in) {
    return encode_with_value(
        wire::store_request{op, in.key, in.request.flags, in.request.expiry, {}}, in);
}

template <>
encoded encode_shape<wire::request_shape::concat>(wire::opcode op, encoder_input& in) {
    return encode_with_value(wire::concat_request{op, in.key, {}}, in);
}

template <>
encoded encode_shape<wire::request_shape::counter>(wire::opcode op, encoder_input& in) {
    const operation_request& request = in.request;
    const std::uint32_t expiry = request.creates ? request.expiry : wire::expiry_do_not_create;
    return wire::counter_request{op, in.key, request.delta, request.initial, expiry}.encode(
        in.out, in.header);
}

template <>
encoded encode_shape<wire::request_shape::subdoc_lookup>(wire::opcode, encoder_input& in) {
    wire::subdoc_lookup_request message{
        .key = in.key, .doc_flags = outgoing_doc_flags(in.request), .specs = {}};
    for (const path_spec& spec : in.request.specs()) {
        if (!message.specs.push_back({opcode_of(spec.verb), flags_of(spec), spec.path})) {
            return std::unexpected(wire::wire_errc::spec_count_invalid);
        }
    }
    return message.encode(in.out, in.header);
}

template <>
encoded encode_shape<wire::request_shape::subdoc_mutation>(wire::opcode, encoder_input& in) {
    wire::subdoc_mutation_request message{
        .key = in.key,
        .doc_flags = outgoing_doc_flags(in.request),
        .expiry = {},
        .user_flags = {},
        .specs = {}};
    if (in.request.expiry != 0) {
        message.expiry = in.request.expiry;
    }
    for (const path_spec& spec : in.request.specs()) {
        if (!message.specs.push_back(
                {opcode_of(spec.verb), flags_of(spec), spec.path, base::as_bytes(spec.value)})) {
            return std::unexpected(wire::wire_errc::spec_count_invalid);
        }
    }
    return message.encode(in.out, in.header);
}

// How long a server may work on one request of a scan. Less than any sensible timeout, so that its
// answer arrives.
std::uint32_t scan_time_ms(const encoding_context& context) noexcept {
    constexpr duration longest = std::chrono::seconds{1};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::min(longest, context.time_left));
    return static_cast<std::uint32_t>(std::max<std::int64_t>(left.count(), 1));
}

template <>
encoded encode_shape<wire::request_shape::scan>(wire::opcode, encoder_input& in) {
    const scan_progress& scan = *in.context.scan;
    return scan.id() ? scan.make_continue(scan_time_ms(in.context)).encode(in.out, in.header)
                     : scan.make_create(in.context.collection, scan_time_ms(in.context))
                           .encode(in.out, in.header);
}

template <>
encoded encode_shape<wire::request_shape::scan_cancel>(wire::opcode, encoder_input& in) {
    return wire::range_scan_cancel_request{in.request.scan->canceled}.encode(in.out, in.header);
}

encoding_error failed_with(wire::wire_errc error) {
    const bool is_missing = error == wire::wire_errc::collection_not_expressible;
    return {
        wire::to_string(error).data(),
        is_missing ? errc::feature_not_available : errc::invalid_argument};
}

template <std::size_t Kind>
[[gnu::always_inline]] inline encoding_result encode_kind(
    base::byte_writer& out, const operation_request& request, const encoding_context& context,
    const std::optional<wire::request_frame_infos>& infos) {
    constexpr const wire::opcode_facts& facts = wire::opcode_info(operation_table[Kind].op);
    encoder_input in(out, request, context);
    in.header.opaque = context.opaque;
    in.header.vbucket = context.vbucket;
    in.header.frame_infos = infos;
    // A read sends no CAS, even where a server would compare it.
    if constexpr (facts.cas != wire::cas_rule::must_be_zero && !facts.is_idempotent) {
        in.header.cas = request.cas;
    }
    const auto result = encode_shape<facts.request>(facts.op, in);
    if (!result) [[unlikely]] {
        return encoding_result(failed_with(result.error()));
    }
    return encoding_result(in.is_value_apart);
}

using encoder =
    encoding_result (*)(base::byte_writer&, const operation_request&, const encoding_context&);

template <std::size_t Kind>
encoding_result encode_plain(
    base::byte_writer& out, const operation_request& request, const encoding_context& context) {
    return encode_kind<Kind>(out, request, context, std::nullopt);
}

// Apart, because frame infos take more room than all the rest of a header.
template <std::size_t Kind>
encoding_result encode_with_infos(
    base::byte_writer& out, const operation_request& request, const encoding_context& context) {
    wire::request_frame_infos infos;
    const encoding_error failed = add_frame_infos(request, context, infos);
    return failed ? encoding_result(failed) : encode_kind<Kind>(out, request, context, infos);
}

// The encoders of one kind, generated from its row.
struct kind_encoders {
    encoder plain;
    encoder with_infos;
};

constexpr auto encoders = []<std::size_t... Kind>(std::index_sequence<Kind...>) {
    return std::array{kind_encoders{&encode_plain<Kind>, &encode_with_infos<Kind>}...};
}(std::make_index_sequence<operation_kind_count>{});

}  // namespace

encoding_result encode_operation(
    base::byte_writer& out, const operation_request& request, const encoding_context& context) {
    const auto index = static_cast<std::size_t>(request.kind);
    if (index >= encoders.size()) [[unlikely]] {
        return encoding_result(failed_with(wire::wire_errc::opcode_mismatch));
    }
    const bool has_infos = request.durability != durability_level::none || request.preserve_expiry;
    return (has_infos ? encoders[index].with_infos : encoders[index].plain)(out, request, context);
}

encoding_error check_further(const operation_request& request) {
    const auto refuse = [](const char* why) { return encoding_error{why, errc::invalid_argument}; };
    const wire::opcode_facts& facts = wire::opcode_info(opcode_of(request.kind));
    if (reads_replica(request.kind)
            ? request.replica < 1 || request.replica > wire::replica_count_max
            : request.replica != 0) {
        return refuse("the replica must be 1 to 3, or 0 for the active copy");
    }
    if (facts.request == wire::request_shape::scan_cancel) {
        return request.scan ? encoding_error{} : refuse("no scan to cancel");
    }
    if (facts.request == wire::request_shape::scan) {
        if (!request.scan || request.scan->asked == nullptr) {
            return refuse("the scan has no range");
        }
        const char* why = why_invalid(*request.scan->asked);
        return why == nullptr ? encoding_error{} : refuse(why);
    }
    if (facts.cas == wire::cas_rule::must_not_be_zero && request.cas == 0) {
        return refuse("unlock needs the cas of the lock");
    }
    if (facts.request == wire::request_shape::subdoc_lookup ||
        facts.request == wire::request_shape::subdoc_mutation) {
        if (request.specs().empty() || request.specs().size() > wire::subdoc_spec_count_max) {
            return refuse("the number of paths must be 1 to 16");
        }
    }
    return {};
}

}  // namespace reprise::engine
