#include <algorithm>
#include <utility>
#include <vector>

#include <reprise/wire/document_messages.hpp>
#include <reprise/wire/subdoc_messages.hpp>
#include <reprise/wire/subdoc_rules.hpp>

#include "key_value/data_access.hpp"
#include "key_value/handlers.hpp"
#include "subdoc/edit.hpp"
#include "subdoc/run.hpp"

namespace reprise::sandbox::detail {

namespace {

using wire::doc_flags;
using wire::hello_feature;
using wire::opcode;
using wire::path_flags;
using wire::status;

// A common form for the three kinds of messages.
struct subdoc_command {
    wire::document_key key;
    doc_flags flags = doc_flags::none;
    std::optional<std::uint32_t> expiry;
    std::optional<std::uint32_t> user_flags;
    std::vector<subdoc_spec> specs;
    bool is_multi = true;

    bool has(doc_flags bits) const noexcept { return wire::has(flags, bits); }
    bool may_create() const noexcept { return has(doc_flags::create) || has(doc_flags::add); }
};

// Checks the features that the connection must have negotiated for this command.
status check_agreement(const conversation& conv, const subdoc_command& command) {
    std::string_view key_seen;
    for (const subdoc_spec& spec : command.specs) {
        if (!spec.is_xattr()) {
            continue;
        }
        if (!conv.has(hello_feature::xattr)) {
            return status::einval;
        }
        const auto key = xattr_key(spec.path);
        if (!key) {
            return key.error();
        }
        if (is_virtual_xattr(*key)) {
            continue;
        }
        const bool is_second = !key_seen.empty() && key_seen != *key;
        if (is_second && !conv.has(hello_feature::subdoc_allows_access_on_multiple_xattr_keys)) {
            return status::subdoc_xattr_invalid_key_combo;
        }
        key_seen = *key;
    }
    return status::success;
}

subdoc_context context_of(const request& current, const vbucket& in, const document* existing) {
    subdoc_context around;
    around.can_access_system_xattrs = current.conv.user->can_access_system_xattrs;
    around.macros.cas = in.cas_next(current.now);
    around.macros.seqno = in.seqno_high + 1;
    around.macros.virtuals = {
        existing, in.uuid(), around.can_access_system_xattrs, around.macros.cas};
    return around;
}

subdoc_subject subject_of(const document& from) {
    subdoc_subject subject;
    std::string scratch;
    subject.body = plain_value(from, scratch);
    subject.xattrs = from.xattrs.text();
    subject.has_body = !from.is_deleted;
    return subject;
}

// A lookup reads a living document or, on request, a tombstone.
void run_lookups(request& current, const subdoc_command& command) {
    const bool is_replica = command.has(doc_flags::replica_read);
    vbucket* in = open_vbucket(
        current, command.key, is_replica ? vbucket_state::replica : vbucket_state::active);
    if (in == nullptr) {
        return;
    }
    const document* found = find_alive(current, *in, command.key);
    if (found == nullptr && command.has(doc_flags::access_deleted)) {
        found = in->find(view_of(command.key));
    }
    if (found == nullptr) {
        return current.fail(status::key_enoent);
    }
    const subdoc_subject subject = subject_of(*found);
    const subdoc_context around = context_of(current, *in, found);
    const std::uint64_t cas = found->is_locked(current.now) ? wire::cas_locked : found->cas;
    const status done = found->is_deleted ? status::subdoc_success_deleted : status::success;
    if (!command.is_multi) {
        const subdoc_spec& spec = command.specs.front();
        const auto result = run_lookup(subject, spec, around);
        if (!result) {
            return current.fail(result.error());
        }
        const bool is_json = !result->empty() && !wire::has(spec.flags, path_flags::binary_value);
        current.answer(
            {.status = done,
             .cas = cas,
             .datatype = is_json ? wire::datatype::json : wire::datatype::raw,
             .value = base::as_bytes(*result)});
        return;
    }
    std::vector<std::byte> body;
    base::byte_writer writer(body);
    bool has_failure = false;
    for (const subdoc_spec& spec : command.specs) {
        const auto result = run_lookup(subject, spec, around);
        has_failure = has_failure || !result;
        writer.write_u16(static_cast<std::uint16_t>(result ? status::success : result.error()));
        writer.write_u32(result ? static_cast<std::uint32_t>(result->size()) : 0);
        writer.write_text(result ? std::string_view(*result) : std::string_view());
    }
    const status failed = found->is_deleted ? status::subdoc_multi_path_failure_deleted
                                            : status::subdoc_multi_path_failure;
    current.answer({.status = has_failure ? failed : done, .cas = cas, .value = body});
}

// The starting point of a mutation.
struct mutation_base {
    const document* existing = nullptr;  // null: a new document
    bool becomes_deleted = false;        // the result is a tombstone
};

// Returns the base, or the status that explains why there is none.
std::expected<mutation_base, status> find_base(
    const request& current, const subdoc_command& command, const document* alive,
    const document* tombstone) {
    const std::uint64_t cas = current.frame.cas();
    if (alive != nullptr) {
        if (command.has(doc_flags::add)) {
            return std::unexpected(status::key_eexists);
        }
        if (command.has(doc_flags::revive)) {
            return std::unexpected(status::subdoc_can_only_revive_deleted_documents);
        }
        const status bad = check_cas(*alive, cas, current.now);
        if (bad != status::success) {
            return std::unexpected(bad);
        }
        return mutation_base{alive, false};
    }
    const bool is_created_deleted = command.has(doc_flags::create_as_deleted);
    if (tombstone != nullptr && command.has(doc_flags::access_deleted)) {
        if (cas != 0 && cas != tombstone->cas) {
            return std::unexpected(status::key_eexists);
        }
        const bool comes_alive =
            command.has(doc_flags::revive) || (command.may_create() && !is_created_deleted);
        return mutation_base{tombstone, !comes_alive};
    }
    if (!command.may_create() || command.has(doc_flags::revive) || cas != 0) {
        return std::unexpected(status::key_enoent);
    }
    return mutation_base{nullptr, is_created_deleted};
}

std::string_view initial_body(const subdoc_command& command) noexcept {
    for (const subdoc_spec& spec : command.specs) {
        if (!spec.is_xattr()) {
            return empty_document_for(spec.path);
        }
    }
    return "{}";
}

subdoc_subject mutation_subject(const subdoc_command& command, const mutation_base& from) {
    subdoc_subject subject;
    if (from.existing != nullptr) {
        subject = subject_of(*from.existing);
    }
    const bool is_new_body = from.existing == nullptr || from.existing->is_deleted;
    if (is_new_body && !from.becomes_deleted) {
        subject.body = initial_body(command);
    }
    subject.has_body = !from.becomes_deleted;
    return subject;
}

// The index of the first path that failed.
struct path_failure {
    std::size_t index = 0;
    wire::status status{};
};

// Returns the answers of all paths in order; empty for a path without an answer.
std::expected<std::vector<std::string>, path_failure> run_paths(
    const subdoc_command& command, subdoc_subject& subject, const subdoc_context& around) {
    std::vector<std::string> answers;
    for (std::size_t i = 0; i < command.specs.size(); ++i) {
        auto result = run_mutation(subject, command.specs[i], around);
        if (!result) {
            return std::unexpected(path_failure{i, result.error()});
        }
        answers.push_back(std::move(*result));
    }
    return answers;
}

bool needs_crc32c(const subdoc_command& command) noexcept {
    return std::ranges::any_of(command.specs, [](const subdoc_spec& spec) {
        return wire::has(spec.flags, path_flags::expand_macros) && is_crc32c_macro(spec.value);
    });
}

document result_document(
    const request& current, const subdoc_command& command, const mutation_base& from,
    const subdoc_subject& subject) {
    document content;
    content.flags = from.existing != nullptr ? from.existing->flags : 0;
    content.flags = command.user_flags.value_or(content.flags);
    content.xattrs = base::slice::copy_of(base::as_bytes(subject.xattrs));
    if (subject.is_removed) {
        return make_tombstone(content, seconds_of(current.now));
    }
    if (from.becomes_deleted) {
        content.is_deleted = true;
        content.expiry = seconds_of(current.now);
        return content;
    }
    taken_value body = make_value(subject.body);
    content.value = std::move(body.stored);
    content.is_json = body.is_json;
    const bool keeps_expiry =
        current.infos.preserve_ttl && from.existing != nullptr && !from.existing->is_deleted;
    content.expiry =
        keeps_expiry ? from.existing->expiry
                     : absolute_expiry(current, command.expiry.value_or(0), command.key.collection);
    return content;
}

void answer_path_failure(
    request& current, const subdoc_command& command, const mutation_base& from,
    const path_failure& failure) {
    if (!command.is_multi) {
        return current.fail(failure.status);
    }
    std::vector<std::byte> body;
    base::byte_writer writer(body);
    writer.write_u8(static_cast<std::uint8_t>(failure.index));
    writer.write_u16(static_cast<std::uint16_t>(failure.status));
    current.answer(
        {.status = from.becomes_deleted ? status::subdoc_multi_path_failure_deleted
                                        : status::subdoc_multi_path_failure,
         .value = body});
}

void answer_paths(
    request& current, const subdoc_command& command, const vbucket& in, const document& stored,
    const mutation_base& from, const std::vector<std::string>& answers) {
    answer_parts parts;
    parts.status = from.becomes_deleted ? status::subdoc_success_deleted : status::success;
    std::vector<std::byte> body;
    base::byte_writer writer(body);
    if (!command.is_multi) {
        writer.write_text(answers.front());
        parts.datatype = body.empty() ? wire::datatype::raw : wire::datatype::json;
    } else {
        for (std::size_t i = 0; i < answers.size(); ++i) {
            if (!answers[i].empty()) {
                writer.write_u8(static_cast<std::uint8_t>(i));
                writer.write_u16(static_cast<std::uint16_t>(status::success));
                writer.write_u32(static_cast<std::uint32_t>(answers[i].size()));
                writer.write_text(answers[i]);
            }
        }
    }
    answer_mutation(current, in, stored, body, parts);
}

void run_mutations(request& current, const subdoc_command& command) {
    vbucket* in = open_vbucket(current, command.key, vbucket_state::active, access_kind::change);
    if (in == nullptr) {
        return;
    }
    const document* alive = find_alive(current, *in, command.key);
    const document* tombstone = alive == nullptr ? in->find(view_of(command.key)) : nullptr;
    const auto from = find_base(current, command, alive, tombstone);
    if (!from) {
        return current.fail(from.error());
    }
    subdoc_context around = context_of(current, *in, from->existing);
    around.creates_parents = command.has(doc_flags::create);
    subdoc_subject subject = mutation_subject(command, *from);
    auto answers = run_paths(command, subject, around);
    if (answers && needs_crc32c(command)) {
        // The macro needs the checksum of the final body, which is known only now: run the paths
        // again.
        around.macros.value_crc32c = crc32c(subject.body);
        subject = mutation_subject(command, *from);
        answers = run_paths(command, subject, around);
    }
    if (!answers) {
        return answer_path_failure(current, command, *from, answers.error());
    }
    if (subject.body.size() > current.cluster.options.value_size_max_bytes) {
        return current.fail(status::e2big);
    }
    if (!is_durability_possible(current)) {
        return;
    }
    document content = result_document(current, command, *from, subject);
    const document& stored = commit(current, *in, command.key, std::move(content));
    answer_paths(current, command, *in, stored, *from, *answers);
}

// A command without its specs.
template <class Message>
subdoc_command begin_command(const Message& message) {
    subdoc_command command;
    command.key = message.key;
    command.flags = message.doc_flags.value_or(doc_flags::none);
    if constexpr (requires { message.expiry; }) {
        command.expiry = message.expiry;
        command.user_flags = message.user_flags;
    }
    return command;
}

// Checks common to all three: rules of the protocol, then the features of the connection.
bool is_acceptable(request& current, const subdoc_command& command, status rules) {
    const status bad = rules != status::success ? rules : check_agreement(current.conv, command);
    if (bad != status::success) {
        current.reject(bad, "Sub-document command not allowed");
    }
    return bad == status::success;
}

}  // namespace

void handle_subdoc_single(request& current, const wire::subdoc_request& message) {
    subdoc_command command = begin_command(message);
    command.is_multi = false;
    command.specs.push_back(
        {message.op, message.flags, message.path, base::as_text(message.value)});
    if (!is_acceptable(current, command, wire::check_subdoc(message, current.frame.cas()))) {
        return;
    }
    wire::is_subdoc_lookup(message.op) ? run_lookups(current, command)
                                       : run_mutations(current, command);
}

void handle_subdoc_lookup(request& current, const wire::subdoc_lookup_request& message) {
    subdoc_command command = begin_command(message);
    for (const wire::lookup_spec& spec : message.specs) {
        command.specs.push_back({spec.op, spec.flags, spec.path, {}});
    }
    if (is_acceptable(current, command, wire::check_subdoc(message))) {
        run_lookups(current, command);
    }
}

void handle_subdoc_mutation(request& current, const wire::subdoc_mutation_request& message) {
    subdoc_command command = begin_command(message);
    for (const wire::mutation_spec& spec : message.specs) {
        command.specs.push_back({spec.op, spec.flags, spec.path, base::as_text(spec.value)});
    }
    if (is_acceptable(current, command, wire::check_subdoc(message, current.frame.cas()))) {
        run_mutations(current, command);
    }
}

}  // namespace reprise::sandbox::detail
