#include "key_value/request.hpp"

#include <reprise/base/assert.hpp>
#include <reprise/base/byte_writer.hpp>
#include <reprise/wire/error_context.hpp>

namespace reprise::sandbox::detail {

namespace {

using wire::datatype;
using wire::hello_feature;
using wire::opcode;
using wire::status;

// Before Xerror, stores of locked documents got "exists" and all other commands got "temporary
// failure".
bool is_store_path(opcode op) noexcept {
    switch (op) {
        case opcode::get_locked:
        case opcode::remove:
        case opcode::unlock:
            return false;
        default:  // the store path answers all others
            return true;
    }
}

}  // namespace

std::optional<status> status_without_xerror(opcode op, status code, bool has_collections) noexcept {
    switch (code) {
        case status::locked:
        case status::cas_value_invalid:
            return is_store_path(op) ? status::key_eexists : status::etmpfail;
        case status::not_locked:
        case status::sync_write_in_progress:
        case status::sync_write_re_commit_in_progress:
            return status::etmpfail;
        case status::rate_limited_max_connections:
            return status::e2big;
        case status::econfig_only:
            return status::not_supported;
        case status::unknown_collection:
        case status::unknown_scope:
            return has_collections ? code : status::einval;
        case status::eaccess:
        case status::no_bucket:
        case status::auth_stale:
        case status::durability_invalid_level:
        case status::durability_impossible:
        case status::sync_write_ambiguous:
        case status::cancelled:
        case status::checksum_mismatch:
        case status::expiry_overflow:
        case status::lock_expiry_overflow:
        case status::range_scan_cancelled:
        case status::range_scan_more:
        case status::range_scan_complete:
        case status::vb_uuid_not_equal:
            return std::nullopt;
        default:  // known to every client
            return code;
    }
}

void request::answer(const answer_parts& parts) {
    wire::frame_parts whole;
    whole.magic = wire::magic::response;
    whole.op = op();
    whole.vbucket_or_status = static_cast<std::uint16_t>(parts.status);
    whole.opaque = frame.opaque();
    whole.cas = parts.cas;
    whole.datatype = parts.datatype;
    if (!conv.has(hello_feature::json)) {
        whole.datatype = whole.datatype & (datatype::snappy | datatype::xattr);
    }
    whole.extras = parts.extras;
    whole.key = parts.key;
    whole.value = parts.value;
    if (conv.has(hello_feature::tracing)) {
        whole.magic = wire::magic::alt_response;
        whole.framing_extras = cluster.server_duration_field;
    }
    base::byte_writer writer(out_);
    // Every part is smaller than the limits of a frame, so this cannot fail.
    REPRISE_ASSERT(wire::encode_frame(writer, whole).has_value());
    audit.status = parts.status;
    audit.cas = parts.cas;
}

void request::error(status code, const wire::error_context& context) {
    const std::string body = wire::encode_error_context(context);
    answer({
        .status = code,
        .datatype = body.empty() ? datatype::raw : datatype::json,
        .value = base::as_bytes(body),
    });
}

void request::reject(status code, std::string_view text) {
    wire::error_context context;
    if (!text.empty()) {
        context.context = text;
        context.ref = cluster.random_reference();
    }
    error(code, context);
}

void request::reject(wire::wire_errc wrong) {
    reject(wire::rejection_status(wrong), wire::make_error_code(wrong).message());
}

void request::fail(status code, std::string_view text) {
    if (!conv.has(hello_feature::xerror)) {
        const auto older = status_without_xerror(op(), code, conv.has(hello_feature::collections));
        if (!older) {
            audit.status = code;
            audit.fate = answer_fate::closed;
            return close();
        }
        code = *older;
    }
    reject(code, text);
}

void request::configuration_body(
    const known_configuration& configuration, answer_parts& parts) const {
    if (node.disturbance.is_configuration_corrupt) {
        parts.datatype = datatype::json;
        parts.value = base::as_bytes(corrupted(configuration.text()));
    } else if (conv.has(hello_feature::snappy_everywhere)) {
        parts.datatype = datatype::json | datatype::snappy;
        parts.value = configuration.compressed();
    } else {
        parts.datatype = datatype::json;
        parts.value = base::as_bytes(configuration.text());
    }
}

void request::not_my_vbucket() {
    answer_parts parts{.status = status::not_my_vbucket};
    if (conv.local != nullptr && conv.local->configuration.is_known()) {
        const known_configuration& configuration = conv.local->configuration;
        const bool is_repeated = conv.has(hello_feature::dedupe_not_my_vbucket_clustermap) &&
                                 conv.bucket_progress.sent == configuration.revision();
        if (!is_repeated) {
            configuration_body(configuration, parts);
            conv.bucket_progress.on_sent(configuration.revision());
        }
    }
    answer(parts);
}

void request::unknown_name(status code) {
    wire::error_context context;
    context.context = "Unknown scope or collection in operation";
    context.manifest_uid = conv.local->manifest(*conv.bucket).uid;
    if (!conv.has(hello_feature::xerror)) {
        code = status_without_xerror(op(), code, conv.has(hello_feature::collections))
                   .value_or(status::einval);
    }
    error(code, context);
}

void request::answer_configuration(
    const known_configuration& configuration, configuration_progress& progress,
    const std::optional<wire::configuration_revision>& known) {
    if (!configuration.is_known()) {
        return fail(status::key_enoent);
    }
    answer_parts parts;
    if (!known || *known < configuration.revision()) {
        configuration_body(configuration, parts);
        progress.on_sent(configuration.revision());
    }
    answer(parts);
}

void request::answer_fault(const fault_status& fault) {
    if (fault.status == status::not_my_vbucket) {
        not_my_vbucket();
    } else {
        error(fault.status, fault.context);
    }
}

}  // namespace reprise::sandbox::detail
