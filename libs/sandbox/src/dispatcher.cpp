#include "dispatcher.hpp"

#include <array>

#include <reprise/wire/opcode.hpp>

#include "handlers.hpp"

namespace reprise::sandbox::detail {

namespace {

using wire::datatype;
using wire::hello_feature;
using wire::opcode;
using wire::status;

using handler = void (*)(request&);

constexpr std::size_t slot(opcode op) noexcept {
    return static_cast<std::size_t>(op);
}

constexpr std::array<handler, 256> make_handlers() noexcept {
    std::array<handler, 256> table{};
    table[slot(opcode::get)] = handle_get;
    table[slot(opcode::set)] = handle_store;
    table[slot(opcode::add)] = handle_store;
    table[slot(opcode::replace)] = handle_store;
    table[slot(opcode::remove)] = handle_remove;
    table[slot(opcode::increment)] = handle_counter;
    table[slot(opcode::decrement)] = handle_counter;
    table[slot(opcode::quit)] = handle_quit;
    table[slot(opcode::noop)] = handle_noop;
    table[slot(opcode::version)] = handle_version;
    table[slot(opcode::append)] = handle_concat;
    table[slot(opcode::prepend)] = handle_concat;
    table[slot(opcode::stat)] = handle_stat;
    table[slot(opcode::verbosity)] = handle_verbosity;
    table[slot(opcode::touch)] = handle_touch;
    table[slot(opcode::get_and_touch)] = handle_touch;
    table[slot(opcode::hello)] = handle_hello;
    table[slot(opcode::sasl_list_mechanisms)] = handle_sasl_list;
    table[slot(opcode::sasl_auth)] = handle_sasl_auth;
    table[slot(opcode::sasl_step)] = handle_sasl_step;
    table[slot(opcode::get_replica)] = handle_get_replica;
    table[slot(opcode::select_bucket)] = handle_select_bucket;
    table[slot(opcode::observe_seqno)] = handle_observe_seqno;
    table[slot(opcode::observe)] = handle_observe;
    table[slot(opcode::get_locked)] = handle_get_locked;
    table[slot(opcode::unlock)] = handle_unlock;
    table[slot(opcode::get_meta)] = handle_get_meta;
    table[slot(opcode::get_cluster_config)] = handle_cluster_config;
    table[slot(opcode::get_collections_manifest)] = handle_manifest;
    table[slot(opcode::get_collection_id)] = handle_collection_id;
    table[slot(opcode::get_scope_id)] = handle_scope_id;
    table[slot(opcode::get_error_map)] = handle_error_map;
    for (std::size_t byte = 0; byte < table.size(); ++byte) {
        if (wire::is_subdoc_single(static_cast<opcode>(byte))) {
            table[byte] = handle_subdoc_single;
        }
    }
    table[slot(opcode::subdoc_multi_lookup)] = handle_subdoc_lookup;
    table[slot(opcode::subdoc_multi_mutation)] = handle_subdoc_mutation;
    return table;
}

constexpr std::array<handler, 256> handlers = make_handlers();

// A datatype bit may be used only if its feature was agreed on.
bool is_datatype_agreed(const conversation& conv, datatype given) noexcept {
    const bool has_snappy =
        conv.has(hello_feature::snappy) || conv.has(hello_feature::snappy_everywhere);
    constexpr datatype known = datatype::json | datatype::snappy | datatype::xattr;
    return (given & known) == given &&
           (!wire::has(given, datatype::json) || conv.has(hello_feature::json)) &&
           (!wire::has(given, datatype::snappy) || has_snappy) &&
           (!wire::has(given, datatype::xattr) || conv.has(hello_feature::xattr));
}

// Framing extras of a request: false if it was rejected.
bool take_frame_infos(request& current) {
    if (current.frame.framing_extras().empty()) {
        return true;
    }
    const auto infos = wire::decode_request_frame_infos(current.frame.framing_extras());
    if (!infos) {
        current.reject(infos.error());
        return false;
    }
    if (const auto allowed = wire::check_frame_infos(current.op(), *infos); !allowed) {
        current.reject(allowed.error());
        return false;
    }
    if (infos->preserve_ttl && !current.conv.has(hello_feature::preserve_ttl)) {
        current.reject(status::not_supported, "Preserving the TTL needs HELLO PreserveTtl");
        return false;
    }
    if (infos->dcp_stream_id) {
        current.reject(status::einval, "DCP stream id outside of DCP");
        return false;
    }
    if (!infos->extra_privilege.empty()) {
        current.reject(status::einval, "Unknown privilege");
        return false;
    }
    if (!infos->run_as_user.empty() || infos->run_as_token) {
        current.reject(status::eaccess, "Running as another user is not permitted");
        return false;
    }
    current.infos = *infos;
    return true;
}

}  // namespace

void dispatch(request& current) {
    const wire::opcode_facts& facts = wire::opcode_info(current.op());
    if (!current.conv.user && !facts.is_allowed_before_auth) {
        current.reject(status::eaccess, "Not authenticated");
        return;
    }
    const handler chosen = handlers[slot(current.op())];
    if (chosen == nullptr) {
        current.reject(facts.is_known ? status::not_supported : status::unknown_command);
        return;
    }
    if (current.conv.local != nullptr &&
        current.conv.local->presence == bucket_presence::config_only &&
        !facts.is_allowed_before_auth && current.op() != opcode::get_cluster_config &&
        current.op() != opcode::select_bucket) {
        current.fail(status::econfig_only, "The bucket is here as a configuration only");
        return;
    }
    if (!is_datatype_agreed(current.conv, current.frame.datatype())) {
        current.reject(status::einval, "Datatype not agreed on in HELLO");
        return;
    }
    if (take_frame_infos(current)) {
        chosen(current);
    }
}

}  // namespace reprise::sandbox::detail
