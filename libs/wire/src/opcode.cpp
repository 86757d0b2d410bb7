#include <reprise/wire/opcode.hpp>

#include <array>
#include <cstddef>

namespace reprise::wire {

namespace {

// Permissions of one row, as letters so that the table stays readable:
// k document key, d durability, t preserve TTL, r reorderable, i idempotent, a before
// authentication.
struct opcode_row {
    opcode op;
    std::string_view name;
    std::string_view permissions;
};

constexpr auto opcode_rows = std::to_array<opcode_row>({
    {opcode::get, "get", "kri"},
    {opcode::set, "set", "kdtr"},
    {opcode::add, "add", "kdr"},
    {opcode::replace, "replace", "kdtr"},
    {opcode::remove, "remove", "kdr"},
    {opcode::increment, "increment", "kdtr"},
    {opcode::decrement, "decrement", "kdtr"},
    {opcode::quit, "quit", ""},
    {opcode::get_quiet, "get_quiet", "k"},
    {opcode::noop, "noop", "i"},
    {opcode::version, "version", ""},
    {opcode::get_with_key, "get_with_key", "k"},
    {opcode::get_with_key_quiet, "get_with_key_quiet", "k"},
    {opcode::append, "append", "kdtr"},
    {opcode::prepend, "prepend", "kdtr"},
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
    {opcode::verbosity, "verbosity", ""},
    {opcode::touch, "touch", "kdr"},
    {opcode::get_and_touch, "get_and_touch", "kdr"},
    {opcode::get_and_touch_quiet, "get_and_touch_quiet", "k"},
    {opcode::hello, "hello", "a"},
    {opcode::sasl_list_mechanisms, "sasl_list_mechanisms", "a"},
    {opcode::sasl_auth, "sasl_auth", "a"},
    {opcode::sasl_step, "sasl_step", "a"},
    {opcode::get_replica, "get_replica", "kri"},
    {opcode::select_bucket, "select_bucket", ""},
    {opcode::observe_seqno, "observe_seqno", "i"},
    {opcode::observe, "observe", "i"},
    {opcode::get_locked, "get_locked", "kr"},
    {opcode::unlock, "unlock", "kr"},
    {opcode::get_meta, "get_meta", "ki"},
    {opcode::get_cluster_config, "get_cluster_config", "ri"},
    {opcode::get_collections_manifest, "get_collections_manifest", "i"},
    {opcode::get_collection_id, "get_collection_id", "i"},
    {opcode::get_scope_id, "get_scope_id", ""},
    {opcode::subdoc_get, "subdoc_get", "kri"},
    {opcode::subdoc_exists, "subdoc_exists", "kri"},
    {opcode::subdoc_dict_add, "subdoc_dict_add", "kdtr"},
    {opcode::subdoc_dict_upsert, "subdoc_dict_upsert", "kdtr"},
    {opcode::subdoc_remove, "subdoc_remove", "kdtr"},
    {opcode::subdoc_replace, "subdoc_replace", "kdtr"},
    {opcode::subdoc_array_push_last, "subdoc_array_push_last", "kdtr"},
    {opcode::subdoc_array_push_first, "subdoc_array_push_first", "kdtr"},
    {opcode::subdoc_array_insert, "subdoc_array_insert", "kdtr"},
    {opcode::subdoc_array_add_unique, "subdoc_array_add_unique", "kdtr"},
    {opcode::subdoc_counter, "subdoc_counter", "kdtr"},
    {opcode::subdoc_multi_lookup, "subdoc_multi_lookup", "kri"},
    {opcode::subdoc_multi_mutation, "subdoc_multi_mutation", "kdtr"},
    {opcode::subdoc_get_count, "subdoc_get_count", "kri"},
    {opcode::subdoc_replace_body_with_xattr, "subdoc_replace_body_with_xattr", "kdtr"},
    {opcode::get_error_map, "get_error_map", "a"},
});

constexpr auto make_opcode_table() {
    std::array<opcode_facts, 256> table{};
    for (std::size_t byte = 0; byte < table.size(); ++byte) {
        table[byte].op = static_cast<opcode>(byte);
    }
    for (const opcode_row& row : opcode_rows) {
        const auto may = [&row](char letter) {
            return row.permissions.find(letter) != std::string_view::npos;
        };
        opcode_facts& facts = table[static_cast<std::size_t>(row.op)];
        facts.name = row.name;
        facts.is_known = true;
        facts.has_document_key = may('k');
        facts.accepts_durability = may('d');
        facts.accepts_preserve_ttl = may('t');
        facts.is_reorderable = may('r');
        facts.is_idempotent = may('i');
        facts.is_allowed_before_auth = may('a');
    }
    return table;
}

constexpr std::array<opcode_facts, 256> opcode_table = make_opcode_table();

}  // namespace

const opcode_facts& opcode_info(opcode op) noexcept {
    return opcode_table[static_cast<std::uint8_t>(op)];
}

std::string_view to_string(opcode op) noexcept {
    return opcode_info(op).name;
}

}  // namespace reprise::wire
