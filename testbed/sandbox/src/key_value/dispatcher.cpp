#include "key_value/dispatcher.hpp"

#include <algorithm>
#include <array>
#include <expected>
#include <iterator>

#include <reprise/wire/opcode.hpp>

#include "key_value/handlers.hpp"

namespace reprise::sandbox::detail {

namespace {

using wire::datatype;
using wire::hello_feature;
using wire::opcode;
using wire::status;

constexpr std::size_t slot(opcode op) noexcept {
    return static_cast<std::size_t>(op);
}

constexpr privilege any_user = privilege::none;
constexpr privilege reads = privilege::read;
constexpr privilege writes = privilege::upsert;
constexpr privilege reads_and_writes = privilege::read | privilege::upsert;

template <class Message>
std::expected<Message, wire::wire_errc> decode(const request& current) {
    if constexpr (requires { Message::decode(current.frame, current.conv.key_form()); }) {
        return Message::decode(current.frame, current.conv.key_form());
    } else {
        return Message::decode(current.frame);
    }
}

template <class Message>
Message message_of(void (*)(request&, const Message&));

// Decodes the message for its handler; rejects a malformed one.
template <auto Handle>
void decoded(request& current) {
    const auto message = decode<decltype(message_of(Handle))>(current);
    message ? Handle(current, *message) : current.reject(message.error());
}

constexpr command_facts listed_commands[] = {
    {opcode::get, decoded<handle_get>, reads},
    {opcode::set, decoded<handle_store>, writes},
    {opcode::add, decoded<handle_store>, privilege::insert},
    {opcode::replace, decoded<handle_store>, writes},
    {opcode::remove, decoded<handle_remove>, privilege::remove},
    {opcode::increment, decoded<handle_counter>, reads_and_writes},
    {opcode::decrement, decoded<handle_counter>, reads_and_writes},
    {opcode::quit, decoded<handle_quit>, any_user},
    {opcode::noop, decoded<handle_noop>, any_user},
    {opcode::version, decoded<handle_version>, any_user},
    {opcode::append, decoded<handle_concat>, writes},
    {opcode::prepend, decoded<handle_concat>, writes},
    {opcode::stat, decoded<handle_stat>, any_user},
    {opcode::verbosity, decoded<handle_verbosity>, any_user},
    {opcode::touch, decoded<handle_touch>, writes},
    {opcode::get_and_touch, decoded<handle_touch>, reads_and_writes},
    {opcode::hello, handle_hello, any_user},
    {opcode::sasl_list_mechanisms, decoded<handle_sasl_list>, any_user},
    {opcode::sasl_auth, decoded<handle_sasl_auth>, any_user},
    {opcode::sasl_step, decoded<handle_sasl_step>, any_user},
    {opcode::get_replica, decoded<handle_get_replica>, reads},
    {opcode::select_bucket, decoded<handle_select_bucket>, any_user},
    {opcode::observe_seqno, decoded<handle_observe_seqno>, reads},
    {opcode::observe, decoded<handle_observe>, reads},
    {opcode::get_locked, decoded<handle_get_locked>, reads},
    {opcode::unlock, decoded<handle_unlock>, reads},
    {opcode::get_meta, decoded<handle_get_meta>, reads},
    {opcode::get_cluster_config, decoded<handle_cluster_config>, any_user},
    {opcode::get_collections_manifest, decoded<handle_manifest>, any_user},
    {opcode::get_collection_id, decoded<handle_collection_id>, any_user},
    {opcode::get_scope_id, decoded<handle_scope_id>, any_user},
    {opcode::get_error_map, decoded<handle_error_map>, any_user},
    {opcode::subdoc_get, decoded<handle_subdoc_single>, reads},
    {opcode::subdoc_exists, decoded<handle_subdoc_single>, reads},
    {opcode::subdoc_get_count, decoded<handle_subdoc_single>, reads},
    {opcode::subdoc_dict_add, decoded<handle_subdoc_single>, writes},
    {opcode::subdoc_dict_upsert, decoded<handle_subdoc_single>, writes},
    {opcode::subdoc_remove, decoded<handle_subdoc_single>, writes},
    {opcode::subdoc_replace, decoded<handle_subdoc_single>, writes},
    {opcode::subdoc_array_push_last, decoded<handle_subdoc_single>, writes},
    {opcode::subdoc_array_push_first, decoded<handle_subdoc_single>, writes},
    {opcode::subdoc_array_insert, decoded<handle_subdoc_single>, writes},
    {opcode::subdoc_array_add_unique, decoded<handle_subdoc_single>, writes},
    {opcode::subdoc_counter, decoded<handle_subdoc_single>, reads_and_writes},
    {opcode::subdoc_replace_body_with_xattr, decoded<handle_subdoc_single>, writes},
    {opcode::subdoc_multi_lookup, decoded<handle_subdoc_lookup>, reads},
    {opcode::subdoc_multi_mutation, decoded<handle_subdoc_mutation>, reads_and_writes},
    {opcode::range_scan_create, decoded<handle_scan_create>, reads},
    {opcode::range_scan_continue, decoded<handle_scan_continue>, reads},
    {opcode::range_scan_cancel, decoded<handle_scan_cancel>, reads},
};

// Commands that are known, but answered with status::not_supported.
constexpr opcode unserved_commands[] = {
    opcode::get_quiet,          opcode::get_with_key,    opcode::get_with_key_quiet,
    opcode::set_quiet,          opcode::add_quiet,       opcode::replace_quiet,
    opcode::remove_quiet,       opcode::increment_quiet, opcode::decrement_quiet,
    opcode::quit_quiet,         opcode::append_quiet,    opcode::prepend_quiet,
    opcode::get_and_touch_quiet};

constexpr std::array<command_facts, 256> make_table() noexcept {
    std::array<command_facts, 256> table{};
    for (const command_facts& each : listed_commands) {
        table[slot(each.op)] = each;
    }
    return table;
}

constexpr std::array<command_facts, 256> table = make_table();

// Every opcode is either served or listed as unserved.
static_assert(std::ranges::all_of(wire::detail::opcode_rows, [](const auto& row) {
    return (table[slot(row.op)].handle != nullptr) !=
           (std::ranges::find(unserved_commands, row.op) != std::end(unserved_commands));
}));

// Roles may have changed since the login.
void refresh_rights(request& current) {
    conversation& conv = current.conv;
    if (!conv.user || conv.user->rights_generation == current.cluster.accounts.generation()) {
        return;
    }
    if (const user_options* found = current.cluster.accounts.find_user(conv.user->name)) {
        conv.user = current.cluster.identity_of(*found);
    }
    conv.user->rights_generation = current.cluster.accounts.generation();
    conv.note_rights();
}

// A datatype bit may be used only if its feature was negotiated.
bool is_datatype_agreed(const conversation& conv, datatype given) noexcept {
    const bool has_snappy =
        conv.has(hello_feature::snappy) || conv.has(hello_feature::snappy_everywhere);
    constexpr datatype known = datatype::json | datatype::snappy | datatype::xattr;
    return (given & known) == given &&
           (!wire::has(given, datatype::json) || conv.has(hello_feature::json)) &&
           (!wire::has(given, datatype::snappy) || has_snappy) &&
           (!wire::has(given, datatype::xattr) || conv.has(hello_feature::xattr));
}

// Reads the framing extras of a request. Returns false if it rejected the request.
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
        current.reject(status::not_supported, "Preserving the TTL requires HELLO PreserveTtl");
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

std::span<const command_facts> known_commands() noexcept {
    return listed_commands;
}

void dispatch(request& current) {
    refresh_rights(current);
    const wire::opcode_facts& facts = wire::opcode_info(current.op());
    if (!current.conv.user && !facts.is_allowed_before_auth) {
        return current.reject(status::eaccess, "Not authenticated");
    }
    const command_facts& chosen = table[slot(current.op())];
    if (chosen.handle == nullptr) {
        return current.reject(facts.is_known ? status::not_supported : status::unknown_command);
    }
    if (current.conv.local != nullptr &&
        current.conv.local->presence == bucket_presence::config_only &&
        !facts.is_allowed_before_auth && current.op() != opcode::get_cluster_config &&
        current.op() != opcode::select_bucket) {
        return current.fail(
            status::econfig_only, "The node has only the configuration of the bucket");
    }
    if (!is_datatype_agreed(current.conv, current.frame.datatype())) {
        return current.reject(status::einval, "Datatype not negotiated by HELLO");
    }
    current.needs = chosen.needs;
    // Commands on documents check again once the collection is known.
    if (chosen.needs != any_user && !facts.has_document_key && current.conv.bucket != nullptr &&
        !has_all(
            current.conv.user->rights.somewhere_in(current.conv.bucket->options.name),
            chosen.needs)) {
        return current.reject(status::eaccess, "No role of the user permits this");
    }
    if (take_frame_infos(current)) {
        chosen.handle(current);
    }
}

}  // namespace reprise::sandbox::detail
