#include <reprise/engine/subdoc_words.hpp>

namespace reprise::engine {

wire::opcode opcode_of(path_verb verb) noexcept {
    using wire::opcode;
    switch (verb) {
        case path_verb::exists:
            return opcode::subdoc_exists;
        case path_verb::count:
            return opcode::subdoc_get_count;
        case path_verb::get_document:
            return opcode::get;
        case path_verb::insert:
            return opcode::subdoc_dict_add;
        case path_verb::upsert:
            return opcode::subdoc_dict_upsert;
        case path_verb::replace:
            return opcode::subdoc_replace;
        case path_verb::remove:
            return opcode::subdoc_remove;
        case path_verb::array_append:
            return opcode::subdoc_array_push_last;
        case path_verb::array_prepend:
            return opcode::subdoc_array_push_first;
        case path_verb::array_insert:
            return opcode::subdoc_array_insert;
        case path_verb::array_add_unique:
            return opcode::subdoc_array_add_unique;
        case path_verb::counter:
            return opcode::subdoc_counter;
        case path_verb::get:
            break;
    }
    return opcode::subdoc_get;
}

wire::path_flags flags_of(const path_spec& spec) noexcept {
    using wire::path_flags;
    path_flags flags = path_flags::none;
    if (spec.create_path) {
        flags = flags | path_flags::create_parents;
    }
    if (spec.is_xattr) {
        flags = flags | path_flags::xattr;
    }
    if (spec.is_macro) {
        flags = flags | path_flags::expand_macros;
    }
    return flags;
}

wire::doc_flags doc_flags_of(const couchbase::detail::request_numbers& of) noexcept {
    using wire::doc_flags;
    doc_flags flags = doc_flags::none;
    if (of.kind == operation_kind::mutate_in && of.store == store_semantics::upsert) {
        flags = doc_flags::create;
    } else if (of.kind == operation_kind::mutate_in && of.store == store_semantics::insert) {
        flags = doc_flags::add;
    }
    return of.access_deleted ? flags | doc_flags::access_deleted : flags;
}

}  // namespace reprise::engine
