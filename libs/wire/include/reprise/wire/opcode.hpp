#pragma once

#include <cstdint>
#include <string_view>

namespace reprise::wire {

// Byte 1 of a frame. Any byte may arrive, so a value outside the list is legal to hold; ask
// `opcode_info` whether it is known.
enum class opcode : std::uint8_t {
    get = 0x00,
    set = 0x01,
    add = 0x02,
    replace = 0x03,
    remove = 0x04,  // "delete" on the wire; the word is taken in C++
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
    get_error_map = 0xfe,
};

// Opcodes of magic 0x82, a number space of their own.
enum class server_opcode : std::uint8_t {
    cluster_map_change_notification = 0x01,
    authenticate = 0x02,           // never sent to ordinary clients
    active_external_users = 0x03,  // never sent to ordinary clients
};

// Facts about one opcode, the same for client and server.
struct opcode_facts {
    opcode op{};
    std::string_view name = "unknown";
    bool is_known = false;
    // The key field is a document key: prefixed by the collection id when collections are on.
    bool has_document_key = false;
    // Frame info 1 (durability) is accepted. Quiet forms never accept it.
    bool accepts_durability = false;
    // Frame info 5 (preserve TTL) is accepted.
    bool accepts_preserve_ttl = false;
    // May be answered out of order once HELLO 0x0e is on; others act as barriers.
    bool is_reorderable = false;
    // Repeating it changes nothing: may be sent again after its bytes may have reached a server.
    bool is_idempotent = false;
    // Answered before authentication; everything else then gets 0x24.
    bool is_allowed_before_auth = false;
};

// Never fails: an unknown byte gives `is_known == false` and every permission false.
const opcode_facts& opcode_info(opcode op) noexcept;

// A sub-document opcode that stands alone in a frame (0xc5..0xcf, 0xd2, 0xd3).
constexpr bool is_subdoc_single(opcode op) noexcept {
    const auto byte = static_cast<std::uint8_t>(op);
    return (byte >= 0xc5 && byte <= 0xcf) || byte == 0xd2 || byte == 0xd3;
}

// A sub-document opcode that reads only.
constexpr bool is_subdoc_lookup(opcode op) noexcept {
    return op == opcode::subdoc_get || op == opcode::subdoc_exists ||
           op == opcode::subdoc_get_count || op == opcode::subdoc_multi_lookup;
}

// The name in the table, "unknown" for bytes not in it.
std::string_view to_string(opcode op) noexcept;

}  // namespace reprise::wire
