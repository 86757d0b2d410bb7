#include <reprise/wire/subdoc_rules.hpp>

#include <array>

namespace reprise::wire {

namespace {

using path_bit = path_flags;
using doc_bit = doc_flags;

constexpr path_bit create_path_flags =
    path_bit::create_parents | path_bit::xattr | path_bit::expand_macros;
constexpr doc_bit lookup_doc_flags =
    doc_bit::access_deleted | doc_bit::revive | doc_bit::replica_read;
constexpr doc_bit upsert_doc_flags = doc_bit::create | doc_bit::add | doc_bit::access_deleted |
                                     doc_bit::create_as_deleted | doc_bit::revive;

constexpr auto subdoc_table = std::to_array<subdoc_facts>({
    // opcode, known, mutation, needs value, allows / needs empty path, path flags, doc flags
    {opcode::subdoc_get, true, false, false, false, false, path_bit::xattr | path_bit::binary_value,
     lookup_doc_flags},
    {opcode::subdoc_exists, true, false, false, false, false, path_bit::xattr, lookup_doc_flags},
    {opcode::subdoc_get_count, true, false, false, true, false, path_bit::xattr, lookup_doc_flags},
    {opcode::get, true, false, false, true, true, path_bit::none, lookup_doc_flags},
    {opcode::subdoc_dict_add, true, true, true, false, false,
     create_path_flags | path_bit::binary_value, upsert_doc_flags},
    {opcode::subdoc_dict_upsert, true, true, true, false, false,
     create_path_flags | path_bit::binary_value, upsert_doc_flags},
    {opcode::subdoc_remove, true, true, false, false, false, path_bit::xattr,
     doc_bit::access_deleted | doc_bit::revive},
    {opcode::subdoc_replace, true, true, true, false, false,
     path_bit::xattr | path_bit::expand_macros | path_bit::binary_value,
     doc_bit::add | doc_bit::access_deleted | doc_bit::revive},
    {opcode::subdoc_array_push_last, true, true, true, true, false, create_path_flags,
     upsert_doc_flags},
    {opcode::subdoc_array_push_first, true, true, true, true, false, create_path_flags,
     upsert_doc_flags},
    {opcode::subdoc_array_insert, true, true, true, false, false,
     path_bit::xattr | path_bit::expand_macros,
     doc_bit::add | doc_bit::access_deleted | doc_bit::create_as_deleted | doc_bit::revive},
    {opcode::subdoc_array_add_unique, true, true, true, true, false,
     path_bit::create_parents | path_bit::xattr, upsert_doc_flags},
    {opcode::subdoc_counter, true, true, true, false, false,
     path_bit::create_parents | path_bit::xattr, upsert_doc_flags},
    {opcode::subdoc_replace_body_with_xattr, true, true, false, false, false,
     path_bit::xattr | path_bit::binary_value, doc_bit::access_deleted | doc_bit::revive},
    {opcode::set, true, true, true, true, true, path_bit::none, doc_bit::create | doc_bit::add},
    {opcode::remove, true, true, false, true, true, path_bit::none,
     doc_bit::access_deleted | doc_bit::revive},
});

constexpr subdoc_facts no_subdoc_operation{};

bool is_subset(path_flags value, path_flags allowed) noexcept {
    return has(allowed, value);
}

bool is_subset(doc_flags value, doc_flags allowed) noexcept {
    return has(allowed, value);
}

// Whether the flags of the whole command are consistent, whatever the operation.
bool is_consistent(doc_flags flags, std::uint64_t cas) noexcept {
    const bool creates = has(flags, doc_bit::create);
    const bool adds = has(flags, doc_bit::add);
    if (creates && adds) {
        return false;
    }
    if (adds && cas != 0) {
        return false;
    }
    const bool revives = has(flags, doc_bit::revive);
    if (revives && !has(flags, doc_bit::access_deleted)) {
        return false;
    }
    return !(revives && has(flags, doc_bit::create_as_deleted));
}

// One path of a single or multi command, with its flags and value.
struct subdoc_path_use {
    opcode op{};
    path_flags flags = path_flags::none;
    std::string_view path;
    bool has_value = false;
};

status check_path(const subdoc_path_use& use, doc_flags doc) noexcept {
    const subdoc_facts& facts = subdoc_info(use.op);
    if (!facts.is_known) {
        return status::subdoc_invalid_combo;
    }
    if (!is_subset(use.flags, facts.path_flags_allowed) ||
        !is_subset(doc, facts.doc_flags_allowed)) {
        return status::einval;
    }
    if (use.has_value != facts.needs_value) {
        return status::einval;
    }
    if (use.path.empty() ? !facts.allows_empty_path : facts.needs_empty_path) {
        return status::einval;
    }
    const bool is_xattr = has(use.flags, path_bit::xattr);
    const bool expands = has(use.flags, path_bit::expand_macros);
    const bool is_binary = has(use.flags, path_bit::binary_value);
    if ((expands && !is_xattr) || (is_binary && !is_xattr) || (expands && is_binary)) {
        return status::subdoc_xattr_invalid_flag_combo;
    }
    // Its path is the attribute that becomes the body.
    if (use.op == opcode::subdoc_replace_body_with_xattr && !is_xattr) {
        return status::einval;
    }
    return status::success;
}

// The rules between the paths of one command: attributes come first, and a whole-document operation
// is the only one on the body.
class subdoc_order_check {
public:
    status next(const subdoc_path_use& use) noexcept {
        if (has(use.flags, path_bit::xattr)) {
            return body_count_ > 0 ? status::subdoc_invalid_xattr_order : status::success;
        }
        ++body_count_;
        const bool is_whole = subdoc_info(use.op).needs_empty_path;
        const bool is_whole_mutation = is_whole && subdoc_info(use.op).is_mutation;
        if ((is_whole_mutation && body_count_ > 1) || has_whole_mutation_) {
            return status::subdoc_invalid_combo;
        }
        has_whole_mutation_ = is_whole_mutation;
        return status::success;
    }

private:
    std::size_t body_count_ = 0;
    bool has_whole_mutation_ = false;
};

template <class Request>
status check_specs(const Request& request, std::uint64_t cas) noexcept {
    const doc_flags flags = request.doc_flags.value_or(doc_flags::none);
    if (!is_consistent(flags, cas)) {
        return status::einval;
    }
    subdoc_order_check order;
    for (const auto& spec : request.specs) {
        subdoc_path_use use{spec.op, spec.flags, spec.path, false};
        if constexpr (requires { spec.value; }) {
            use.has_value = !spec.value.empty();
        }
        status result = check_path(use, flags);
        if (result == status::success) {
            result = order.next(use);
        }
        if (result != status::success) {
            return result;
        }
    }
    return status::success;
}

}  // namespace

const subdoc_facts& subdoc_info(opcode op) noexcept {
    for (const subdoc_facts& facts : subdoc_table) {
        if (facts.op == op) {
            return facts;
        }
    }
    return no_subdoc_operation;
}

status check_subdoc(const subdoc_request& request, std::uint64_t cas) noexcept {
    const doc_flags flags = request.doc_flags.value_or(doc_flags::none);
    // Only commands with one path have this rule: transactions change tombstones by multi-path
    // commands that have the flag and a CAS.
    const bool is_created_deleted = has(flags, doc_bit::create_as_deleted);
    if (is_created_deleted && !has(flags, doc_bit::create) && !has(flags, doc_bit::add)) {
        return status::einval;
    }
    if (!is_consistent(flags, cas)) {
        return status::einval;
    }
    return check_path({request.op, request.flags, request.path, !request.value.empty()}, flags);
}

status check_subdoc(const subdoc_lookup_request& request) noexcept {
    return check_specs(request, 0);
}

status check_subdoc(const subdoc_mutation_request& request, std::uint64_t cas) noexcept {
    return check_specs(request, cas);
}

}  // namespace reprise::wire
