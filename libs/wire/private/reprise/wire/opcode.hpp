#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace reprise::wire {

/// Byte 1 of a frame. Any byte may arrive, so a value may be outside the list; `opcode_info`
/// reports whether it is known. Each opcode has a row in `detail::opcode_rows` below, which holds
/// its properties for client and server.
enum class opcode : std::uint8_t {
    get = 0x00,
    set = 0x01,
    add = 0x02,
    replace = 0x03,
    remove = 0x04,  ///< "delete" in the protocol, which is a keyword in C++
    increment = 0x05,
    decrement = 0x06,
    quit = 0x07,
    get_quiet = 0x09,
    noop = 0x0a,
    version = 0x0b,
    get_with_key = 0x0c,
    get_with_key_quiet = 0x0d,
    append = 0x0e,
    prepend = 0x0f,
    stat = 0x10,
    set_quiet = 0x11,
    add_quiet = 0x12,
    replace_quiet = 0x13,
    remove_quiet = 0x14,
    increment_quiet = 0x15,
    decrement_quiet = 0x16,
    quit_quiet = 0x17,
    append_quiet = 0x19,
    prepend_quiet = 0x1a,
    verbosity = 0x1b,
    touch = 0x1c,
    get_and_touch = 0x1d,
    get_and_touch_quiet = 0x1e,
    hello = 0x1f,
    sasl_list_mechanisms = 0x20,
    sasl_auth = 0x21,
    sasl_step = 0x22,
    get_replica = 0x83,
    select_bucket = 0x89,
    observe_seqno = 0x91,
    observe = 0x92,
    get_locked = 0x94,
    unlock = 0x95,
    get_meta = 0xa0,
    get_cluster_config = 0xb5,
    get_collections_manifest = 0xba,
    get_collection_id = 0xbb,
    get_scope_id = 0xbc,
    subdoc_get = 0xc5,
    subdoc_exists = 0xc6,
    subdoc_dict_add = 0xc7,
    subdoc_dict_upsert = 0xc8,
    subdoc_remove = 0xc9,
    subdoc_replace = 0xca,
    subdoc_array_push_last = 0xcb,
    subdoc_array_push_first = 0xcc,
    subdoc_array_insert = 0xcd,
    subdoc_array_add_unique = 0xce,
    subdoc_counter = 0xcf,
    subdoc_multi_lookup = 0xd0,
    subdoc_multi_mutation = 0xd1,
    subdoc_get_count = 0xd2,
    subdoc_replace_body_with_xattr = 0xd3,
    range_scan_create = 0xda,
    range_scan_continue = 0xdb,
    range_scan_cancel = 0xdc,
    get_error_map = 0xfe,
};

/// Opcodes of magic 0x82, which have their own number space.
enum class server_opcode : std::uint8_t {
    cluster_map_change_notification = 0x01,
    authenticate = 0x02,           ///< never sent to ordinary clients
    active_external_users = 0x03,  ///< never sent to ordinary clients
};

/// Values that the CAS field of a request may have.
enum class cas_rule : std::uint8_t { must_be_zero, any, must_not_be_zero };

/// The message that carries a request. Opcodes of one shape differ only in the opcode byte.
enum class request_shape : std::uint8_t {
    other,            ///< has its own message, or none
    empty,            ///< empty_request
    key,              ///< document_request
    touch,            ///< touch_request
    lock,             ///< get_locked_request
    meta,             ///< get_meta_request
    store,            ///< store_request
    concat,           ///< concat_request
    counter,          ///< counter_request
    subdoc_path,      ///< subdoc_request
    subdoc_lookup,    ///< subdoc_lookup_request
    subdoc_mutation,  ///< subdoc_mutation_request
    scan,             ///< range_scan_create_request and range_scan_continue_request
    scan_cancel,      ///< range_scan_cancel_request
};

/// The message that carries a successful answer.
enum class response_shape : std::uint8_t {
    other,            ///< has its own message, or none
    empty,            ///< empty_response
    document,         ///< document_response
    meta,             ///< get_meta_response
    mutation,         ///< mutation_response
    counter,          ///< counter_response
    subdoc_path,      ///< of a command with one path
    subdoc_lookup,    ///< subdoc_lookup_response
    subdoc_mutation,  ///< subdoc_mutation_response
    scan,             ///< range_scan_create_response and range_scan_continue_response
};

/// Facts about one opcode, the same for client and server.

struct opcode_facts {
    opcode op{};
    std::string_view name = "unknown";
    bool is_known = false;
    /// The key field is a document key. It has a collection id as prefix if collections are
    /// enabled.
    bool has_document_key = false;
    /// Accepts frame info 1 (durability). Quiet forms never accept it.
    bool accepts_durability = false;
    /// Accepts frame info 5 (preserve TTL).
    bool accepts_preserve_ttl = false;
    /// The server may answer out of order once HELLO 0x0e is enabled. Other opcodes act as
    /// barriers.
    bool is_reorderable = false;
    /// Repeating it changes nothing, so it may be sent again even if its bytes may have reached a
    /// server.
    bool is_idempotent = false;
    /// The server answers it before authentication. It rejects all others with 0x24.
    bool is_allowed_before_auth = false;
    /// The vbucket field must be 0.
    bool needs_vbucket_zero = false;
    cas_rule cas = cas_rule::must_be_zero;
    request_shape request = request_shape::other;
    response_shape response = response_shape::other;
};

namespace detail {

// One opcode. Letters encode its rules, which keeps the table readable: k document key, d
// durability, t preserve TTL, r reorderable, i idempotent, a before authentication, c any CAS, l a
// CAS that identifies a lock, z vbucket 0.
struct opcode_row {
    opcode op;
    std::string_view name;
    std::string_view rules;
    request_shape request = request_shape::other;
    response_shape response = response_shape::other;
};

using asks = request_shape;
using answers = response_shape;

inline constexpr auto opcode_rows = std::to_array<opcode_row>({
    {opcode::get, "get", "kri", asks::key, answers::document},
    {opcode::set, "set", "kdtrc", asks::store, answers::mutation},
    {opcode::add, "add", "kdr", asks::store, answers::mutation},
    {opcode::replace, "replace", "kdtrc", asks::store, answers::mutation},
    {opcode::remove, "remove", "kdrc", asks::key, answers::mutation},
    {opcode::increment, "increment", "kdtr", asks::counter, answers::counter},
    {opcode::decrement, "decrement", "kdtr", asks::counter, answers::counter},
    {opcode::quit, "quit", "", asks::empty, answers::empty},
    {opcode::get_quiet, "get_quiet", "k"},
    {opcode::noop, "noop", "i", asks::empty, answers::empty},
    {opcode::version, "version", "", asks::empty},
    {opcode::get_with_key, "get_with_key", "k"},
    {opcode::get_with_key_quiet, "get_with_key_quiet", "k"},
    {opcode::append, "append", "kdtrc", asks::concat, answers::mutation},
    {opcode::prepend, "prepend", "kdtrc", asks::concat, answers::mutation},
    {opcode::stat, "stat", ""},
    {opcode::set_quiet, "set_quiet", "kt"},
    {opcode::add_quiet, "add_quiet", "k"},
    {opcode::replace_quiet, "replace_quiet", "kt"},
    {opcode::remove_quiet, "remove_quiet", "k"},
    {opcode::increment_quiet, "increment_quiet", "kt"},
    {opcode::decrement_quiet, "decrement_quiet", "kt"},
    {opcode::quit_quiet, "quit_quiet", ""},
    {opcode::append_quiet, "append_quiet", "kt"},
    {opcode::prepend_quiet, "prepend_quiet", "kt"},
    {opcode::verbosity, "verbosity", "", asks::other, answers::empty},
    {opcode::touch, "touch", "kdr", asks::touch, answers::empty},
    {opcode::get_and_touch, "get_and_touch", "kdr", asks::touch, answers::document},
    {opcode::get_and_touch_quiet, "get_and_touch_quiet", "k"},
    {opcode::hello, "hello", "a"},
    {opcode::sasl_list_mechanisms, "sasl_list_mechanisms", "a", asks::empty},
    {opcode::sasl_auth, "sasl_auth", "a"},
    {opcode::sasl_step, "sasl_step", "a"},
    {opcode::get_replica, "get_replica", "kri", asks::key, answers::document},
    {opcode::select_bucket, "select_bucket", "c", asks::other, answers::empty},
    {opcode::observe_seqno, "observe_seqno", "ic"},
    {opcode::observe, "observe", "i"},
    {opcode::get_locked, "get_locked", "kr", asks::lock, answers::document},
    {opcode::unlock, "unlock", "krl", asks::key, answers::empty},
    {opcode::get_meta, "get_meta", "ki", asks::meta, answers::meta},
    {opcode::get_cluster_config, "get_cluster_config", "ri"},
    {opcode::get_collections_manifest, "get_collections_manifest", "iz", asks::empty},
    {opcode::get_collection_id, "get_collection_id", "iz"},
    {opcode::get_scope_id, "get_scope_id", "z"},
    {opcode::subdoc_get, "subdoc_get", "kric", asks::subdoc_path, answers::subdoc_path},
    {opcode::subdoc_exists, "subdoc_exists", "kric", asks::subdoc_path, answers::subdoc_path},
    {opcode::subdoc_dict_add, "subdoc_dict_add", "kdtrc", asks::subdoc_path, answers::subdoc_path},
    {opcode::subdoc_dict_upsert, "subdoc_dict_upsert", "kdtrc", asks::subdoc_path,
     answers::subdoc_path},
    {opcode::subdoc_remove, "subdoc_remove", "kdtrc", asks::subdoc_path, answers::subdoc_path},
    {opcode::subdoc_replace, "subdoc_replace", "kdtrc", asks::subdoc_path, answers::subdoc_path},
    {opcode::subdoc_array_push_last, "subdoc_array_push_last", "kdtrc", asks::subdoc_path,
     answers::subdoc_path},
    {opcode::subdoc_array_push_first, "subdoc_array_push_first", "kdtrc", asks::subdoc_path,
     answers::subdoc_path},
    {opcode::subdoc_array_insert, "subdoc_array_insert", "kdtrc", asks::subdoc_path,
     answers::subdoc_path},
    {opcode::subdoc_array_add_unique, "subdoc_array_add_unique", "kdtrc", asks::subdoc_path,
     answers::subdoc_path},
    {opcode::subdoc_counter, "subdoc_counter", "kdtrc", asks::subdoc_path, answers::subdoc_path},
    {opcode::subdoc_multi_lookup, "subdoc_multi_lookup", "kric", asks::subdoc_lookup,
     answers::subdoc_lookup},
    {opcode::subdoc_multi_mutation, "subdoc_multi_mutation", "kdtrc", asks::subdoc_mutation,
     answers::subdoc_mutation},
    {opcode::subdoc_get_count, "subdoc_get_count", "kric", asks::subdoc_path, answers::subdoc_path},
    {opcode::subdoc_replace_body_with_xattr, "subdoc_replace_body_with_xattr", "kdtrc",
     asks::subdoc_path, answers::subdoc_path},
    {opcode::range_scan_create, "range_scan_create", "i", asks::scan, answers::scan},
    {opcode::range_scan_continue, "range_scan_continue", "i", asks::scan, answers::scan},
    {opcode::range_scan_cancel, "range_scan_cancel", "i", asks::scan_cancel, answers::empty},
    {opcode::get_error_map, "get_error_map", "az"},
});

consteval std::array<opcode_facts, 256> make_opcode_table() {
    std::array<opcode_facts, 256> table{};
    for (std::size_t byte = 0; byte < table.size(); ++byte) {
        table[byte].op = static_cast<opcode>(byte);
    }
    for (const opcode_row& row : opcode_rows) {
        const auto has = [&row](char letter) {
            return row.rules.find(letter) != std::string_view::npos;
        };
        opcode_facts& facts = table[static_cast<std::size_t>(row.op)];
        facts.name = row.name;
        facts.is_known = true;
        facts.has_document_key = has('k');
        facts.accepts_durability = has('d');
        facts.accepts_preserve_ttl = has('t');
        facts.is_reorderable = has('r');
        facts.is_idempotent = has('i');
        facts.is_allowed_before_auth = has('a');
        facts.needs_vbucket_zero = has('z');
        facts.cas = has('l')   ? cas_rule::must_not_be_zero
                    : has('c') ? cas_rule::any
                               : cas_rule::must_be_zero;
        facts.request = row.request;
        facts.response = row.response;
    }
    return table;
}

inline constexpr std::array<opcode_facts, 256> opcode_table = make_opcode_table();

}  // namespace detail

/// Never fails. For an unknown byte `is_known` and every permission are false.
constexpr const opcode_facts& opcode_info(opcode op) noexcept {
    return detail::opcode_table[static_cast<std::uint8_t>(op)];
}

/// Whether it is a sub-document opcode that has its own frame (0xc5..0xcf, 0xd2, 0xd3).
constexpr bool is_subdoc_single(opcode op) noexcept {
    return opcode_info(op).request == request_shape::subdoc_path;
}

/// Whether it is a sub-document opcode that only reads.
constexpr bool is_subdoc_lookup(opcode op) noexcept {
    const opcode_facts& facts = opcode_info(op);
    return facts.request == request_shape::subdoc_lookup ||
           (facts.request == request_shape::subdoc_path && facts.is_idempotent);
}

/// Returns the name in the table, or "unknown" for other bytes.
constexpr std::string_view to_string(opcode op) noexcept {
    return opcode_info(op).name;
}

}  // namespace reprise::wire
