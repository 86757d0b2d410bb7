#include "subdoc/run.hpp"

#include <utility>

#include "subdoc/edit.hpp"
#include "subdoc/json_text.hpp"
#include "subdoc/path.hpp"

namespace reprise::sandbox::detail {

namespace {

using wire::opcode;
using wire::path_flags;
using wire::status;
using answer = std::expected<std::string, status>;

// Checks whether a path can lead into the body.
status check_body(const subdoc_subject& subject) noexcept {
    const auto depth = json_depth(subject.body);
    if (!depth) {
        return status::subdoc_doc_not_json;
    }
    return *depth > wire::subdoc_depth_max ? status::subdoc_doc_e2deep : status::success;
}

std::string_view xattr_text(const subdoc_subject& subject) noexcept {
    return subject.xattrs.empty() ? std::string_view("{}") : std::string_view(subject.xattrs);
}

answer lookup_xattr(
    const subdoc_subject& subject, const subdoc_spec& spec, const subdoc_context& around) {
    const auto key = xattr_key(spec.path);
    if (!key) {
        return std::unexpected(key.error());
    }
    if (is_system_xattr(*key) && !around.can_access_system_xattrs) {
        return std::unexpected(status::eaccess);
    }
    answer found;
    if (is_virtual_xattr(*key)) {
        const auto made = virtual_xattrs(*key, around.macros.virtuals);
        if (!made) {
            return std::unexpected(status::subdoc_xattr_unknown_vattr);
        }
        found = lookup_path(*made, spec.op, spec.path);
    } else {
        found = lookup_path(xattr_text(subject), spec.op, spec.path);
    }
    if (found && wire::has(spec.flags, path_flags::binary_value)) {
        auto bytes = decode_binary_xattr(*found);
        if (!bytes) {
            return std::unexpected(status::subdoc_field_not_binary_value);
        }
        return std::move(*bytes);
    }
    return found;
}

// The value to store at an xattr path: as given, the expansion of a macro, or encoded bytes.
answer xattr_value(const subdoc_spec& spec, const subdoc_context& around) {
    if (wire::has(spec.flags, path_flags::expand_macros)) {
        return expand_macro(spec.value, around.macros);
    }
    if (wire::has(spec.flags, path_flags::binary_value)) {
        return encode_binary_xattr(spec.value);
    }
    return std::string(spec.value);
}

answer replace_body(subdoc_subject& subject, const subdoc_spec& spec) {
    auto found = lookup_path(xattr_text(subject), opcode::subdoc_get, spec.path);
    if (!found) {
        return found;
    }
    if (wire::has(spec.flags, path_flags::binary_value)) {
        auto bytes = decode_binary_xattr(*found);
        if (!bytes) {
            return std::unexpected(status::subdoc_field_not_binary_value);
        }
        found = std::move(*bytes);
    }
    if (!subject.has_body) {
        return std::unexpected(status::subdoc_deleted_document_cant_have_value);
    }
    subject.body = std::move(*found);
    return std::string();
}

answer mutate_xattr(
    subdoc_subject& subject, const subdoc_spec& spec, const subdoc_context& around) {
    const auto key = xattr_key(spec.path);
    if (!key) {
        return std::unexpected(key.error());
    }
    if (is_virtual_xattr(*key)) {
        return std::unexpected(status::subdoc_xattr_cant_modify_vattr);
    }
    if (is_system_xattr(*key) && !around.can_access_system_xattrs) {
        return std::unexpected(status::eaccess);
    }
    if (spec.op == opcode::subdoc_replace_body_with_xattr) {
        return replace_body(subject, spec);
    }
    const answer value = xattr_value(spec, around);
    if (!value) {
        return value;
    }
    auto result = edit_path(
        xattr_text(subject),
        {spec.op, spec.path, *value,
         around.creates_parents || wire::has(spec.flags, path_flags::create_parents)});
    if (!result) {
        return std::unexpected(result.error());
    }
    subject.xattrs = normalized_xattrs(std::move(result->document));
    return std::move(result->answer);
}

}  // namespace

answer run_lookup(
    const subdoc_subject& subject, const subdoc_spec& spec, const subdoc_context& around) {
    if (spec.is_xattr()) {
        return lookup_xattr(subject, spec, around);
    }
    if (!subject.has_body) {
        return std::unexpected(status::subdoc_path_enoent);
    }
    if (spec.op == opcode::get) {
        return subject.body;
    }
    if (const status bad = check_body(subject); bad != status::success) {
        return std::unexpected(bad);
    }
    return lookup_path(subject.body, spec.op, spec.path);
}

answer run_mutation(
    subdoc_subject& subject, const subdoc_spec& spec, const subdoc_context& around) {
    if (spec.is_xattr()) {
        return mutate_xattr(subject, spec, around);
    }
    if (!subject.has_body) {
        return std::unexpected(status::subdoc_deleted_document_cant_have_value);
    }
    if (spec.op == opcode::set) {
        subject.body.assign(spec.value);
        return std::string();
    }
    if (spec.op == opcode::remove) {
        subject.is_removed = true;
        return std::string();
    }
    if (const status bad = check_body(subject); bad != status::success) {
        return std::unexpected(bad);
    }
    auto result = edit_path(
        subject.body,
        {spec.op, spec.path, spec.value,
         around.creates_parents || wire::has(spec.flags, path_flags::create_parents)});
    if (!result) {
        return std::unexpected(result.error());
    }
    subject.body = std::move(result->document);
    return std::move(result->answer);
}

}  // namespace reprise::sandbox::detail
