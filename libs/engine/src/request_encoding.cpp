#include "request_encoding.hpp"

#include <optional>
#include <vector>

#include <reprise/wire/cluster_configuration.hpp>
#include <reprise/wire/document_messages.hpp>

namespace reprise::engine {
namespace {

using encoded = std::expected<void, wire::wire_errc>;

std::unexpected<encoding_error> not_available(std::string_view what) {
    return std::unexpected(encoding_error{
        errc::feature_not_available, std::string(what) + " is not available on this connection"});
}

// Durability and preserve-expiry, if the connection has them.
std::expected<void, encoding_error> add_frame_infos(
    const operation_request& request, const encoding_context& context,
    wire::request_frame_infos& infos) {
    if (request.durability) {
        if (!context.features.contains_all(
                {wire::hello_feature::alt_request_support,
                 wire::hello_feature::sync_replication})) {
            return not_available("durability");
        }
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(context.time_left);
        infos.durability = {*request.durability, wire::durability_wire_timeout(left)};
    }
    if (request.preserve_expiry) {
        if (!context.features.contains_all(
                {wire::hello_feature::alt_request_support, wire::hello_feature::preserve_ttl})) {
            return not_available("preserving the expiry");
        }
        infos.preserve_ttl = true;
    }
    return {};
}

encoded encode_specs(
    base::byte_writer& out, const operation_request& request, const wire::document_key& key,
    const wire::request_header& header) {
    const auto doc_flags = request.doc_flags == wire::doc_flags::none
                               ? std::nullopt
                               : std::optional(request.doc_flags);
    if (request.kind == operation_kind::lookup_in) {
        wire::subdoc_lookup_request message{.key = key, .doc_flags = doc_flags, .specs = {}};
        for (const subdoc_spec& spec : request.specs) {
            if (!message.specs.push_back({spec.op, spec.flags, spec.path})) {
                return std::unexpected(wire::wire_errc::spec_count_invalid);
            }
        }
        return message.encode(out, header);
    }
    wire::subdoc_mutation_request message{
        .key = key, .doc_flags = doc_flags, .expiry = {}, .user_flags = {}, .specs = {}};
    if (request.expiry != 0) {
        message.expiry = request.expiry;
    }
    for (const subdoc_spec& spec : request.specs) {
        if (!message.specs.push_back({spec.op, spec.flags, spec.path, spec.value.view()})) {
            return std::unexpected(wire::wire_errc::spec_count_invalid);
        }
    }
    return message.encode(out, header);
}

// The value of a store, compressed if that pays; sets the datatype.
base::byte_view outgoing_value(
    const operation_request& request, const encoding_context& context,
    std::vector<std::byte>& storage, wire::request_header& header) {
    if (context.features.contains(wire::hello_feature::json)) {
        header.datatype = request.datatype & wire::datatype::json;
    }
    const bool can_compress =
        context.compression != nullptr && context.features.contains(wire::hello_feature::snappy);
    if (can_compress) {
        if (auto smaller = wire::compress_if_smaller(request.value.view(), *context.compression)) {
            storage = std::move(*smaller);
            header.datatype = header.datatype | wire::datatype::snappy;
            return storage;
        }
    }
    return request.value.view();
}

encoded encode_message(
    base::byte_writer& out, const operation_request& request, const encoding_context& context,
    wire::request_header& header) {
    const wire::document_key key{context.collection, request.key.text(), context.form};
    const wire::opcode op = opcode_of(request.kind);
    std::vector<std::byte> storage;
    switch (request.kind) {
        case operation_kind::get:
        case operation_kind::get_replica:
            return wire::document_request{op, key}.encode(out, header);
        case operation_kind::remove:
        case operation_kind::unlock:
            header.cas = request.cas;
            return wire::document_request{op, key}.encode(out, header);
        case operation_kind::get_and_touch:
        case operation_kind::touch:
            return wire::touch_request{op, key, request.expiry}.encode(out, header);
        case operation_kind::get_and_lock:
            return wire::get_locked_request{key, request.lock_seconds}.encode(out, header);
        case operation_kind::exists:
            return wire::get_meta_request{key, 2}.encode(out, header);
        case operation_kind::upsert:
        case operation_kind::insert:
        case operation_kind::replace: {
            header.cas = request.kind == operation_kind::insert ? 0 : request.cas;
            const base::byte_view value = outgoing_value(request, context, storage, header);
            return wire::store_request{op, key, request.flags, request.expiry, value}.encode(
                out, header);
        }
        case operation_kind::append:
        case operation_kind::prepend: {
            header.cas = request.cas;
            const base::byte_view value = outgoing_value(request, context, storage, header);
            return wire::concat_request{op, key, value}.encode(out, header);
        }
        case operation_kind::increment:
        case operation_kind::decrement:
            return wire::counter_request{op, key, request.delta, request.initial, request.expiry}
                .encode(out, header);
        case operation_kind::lookup_in:
        case operation_kind::mutate_in:
            header.cas = request.kind == operation_kind::mutate_in ? request.cas : 0;
            return encode_specs(out, request, key, header);
        case operation_kind::noop:
            return wire::empty_request{wire::opcode::noop}.encode(out, header);
    }
    return std::unexpected(wire::wire_errc::opcode_mismatch);
}

}  // namespace

std::expected<void, encoding_error> encode_operation(
    base::byte_writer& out, const operation_request& request, const encoding_context& context) {
    wire::request_header header;
    header.opaque = context.opaque;
    header.vbucket = context.vbucket;
    if (auto added = add_frame_infos(request, context, header.frame_infos); !added) {
        return added;
    }
    if (const auto result = encode_message(out, request, context, header); !result) {
        const bool is_missing = result.error() == wire::wire_errc::collection_not_expressible;
        return std::unexpected(encoding_error{
            is_missing ? errc::feature_not_available : errc::invalid_argument,
            std::string(wire::to_string(result.error()))});
    }
    return {};
}

std::expected<void, encoding_error> check_request(
    const operation_request& request, bool is_named_collection) {
    const auto refuse = [](std::string_view why) {
        return std::unexpected(encoding_error{errc::invalid_argument, std::string(why)});
    };
    if (request.kind == operation_kind::noop) {
        return {};
    }
    const std::size_t key_size_max = is_named_collection ? wire::key_size_max_named_collection
                                                         : wire::key_size_max_default_collection;
    if (request.key.empty()) {
        return refuse("the key is empty");
    }
    if (request.key.size() > key_size_max) {
        return refuse("the key is too long");
    }
    if (request.kind == operation_kind::unlock && request.cas == 0) {
        return refuse("unlock needs the cas of the lock");
    }
    if (request.kind == operation_kind::get_replica &&
        (request.replica < 1 || request.replica > wire::replica_count_max)) {
        return refuse("replicas are numbered from 1 to 3");
    }
    if (request.kind == operation_kind::lookup_in || request.kind == operation_kind::mutate_in) {
        if (request.specs.empty() || request.specs.size() > wire::subdoc_spec_count_max) {
            return refuse("1 to 16 paths are possible");
        }
    }
    return {};
}

}  // namespace reprise::engine
