#include "subdocument_call.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <reprise/wire/subdoc_messages.hpp>
#include <reprise/wire/subdoc_rules.hpp>

#include "session.hpp"

namespace reprise::couchbase::detail {
namespace {

using wire::doc_flags;
using wire::path_flags;

wire::opcode subdoc_opcode(path_verb verb) noexcept {
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

path_flags flags_of_spec(const path_spec& spec) noexcept {
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

doc_flags flags_of_call(const document_call& call) noexcept {
    doc_flags flags = doc_flags::none;
    if (call.kind == call_kind::mutate_in && call.store == store_semantics::upsert) {
        flags = doc_flags::create;
    } else if (call.kind == call_kind::mutate_in && call.store == store_semantics::insert) {
        flags = doc_flags::add;
    }
    return call.access_deleted ? flags | doc_flags::access_deleted : flags;
}

error refuse_path(errc code, std::size_t place, const std::string& path, std::string_view why) {
    std::string text = "path " + std::to_string(place) + " '" + path + "': ";
    return {code, text.append(why)};
}

// Refuses what a server would refuse without naming the path.
std::expected<void, error> check_spec(
    const path_spec& spec, std::size_t place, doc_flags for_document) {
    const auto refuse = [&](errc code, std::string_view why) {
        return std::unexpected(refuse_path(code, place, spec.path, why));
    };
    if (!spec.problem.empty()) {
        return refuse(spec.problem_code, spec.problem);
    }
    const wire::subdoc_facts& facts = wire::subdoc_info(subdoc_opcode(spec.verb));
    if (spec.path.empty() && !facts.allows_empty_path && !facts.needs_empty_path) {
        return refuse(errc::invalid_argument, "the path is empty");
    }
    if (spec.path.size() > wire::subdoc_path_size_max) {
        return refuse(errc::path_too_big, "longer than 1024 bytes");
    }
    if (!wire::has(facts.path_flags_allowed, flags_of_spec(spec))) {
        return refuse(errc::invalid_argument, "macros are not allowed here");
    }
    if (!wire::has(facts.doc_flags_allowed, for_document)) {
        return refuse(errc::invalid_argument, "not allowed if the same call creates the document");
    }
    return {};
}

std::expected<void, error> check_call(const document_call& call) {
    if (call.specs.empty() || call.specs.size() > wire::subdoc_spec_count_max) {
        return std::unexpected(error(
            errc::invalid_argument, std::to_string(call.specs.size()) +
                                        " paths are given, but the number must be 1 to 16"));
    }
    if (call.kind == call_kind::mutate_in && call.store == store_semantics::insert &&
        call.cas != 0) {
        return std::unexpected(
            error(errc::invalid_argument, "cas: an inserted document has no cas"));
    }
    for (std::size_t place = 0; place < call.specs.size(); ++place) {
        if (auto checked = check_spec(call.specs[place], place, flags_of_call(call)); !checked) {
            return checked;
        }
    }
    return {};
}

// For `exists`, a missing path is a valid answer with a boolean content.
void settle_exists(path_result& outcome) {
    const bool is_missing = outcome.code == errc::path_not_found;
    if (!outcome.code || is_missing) {
        outcome.code = {};
        outcome.value = document_bytes_access::copy_of(is_missing ? "false" : "true");
    }
}

}  // namespace

std::expected<std::shared_ptr<const path_note>, error> add_specs(
    engine::operation_request& request, const document_call& call) {
    if (auto checked = check_call(call); !checked) {
        return std::unexpected(std::move(checked.error()));
    }
    request.doc_flags = flags_of_call(call);
    auto note = std::make_shared<path_note>();
    for (const path_spec& spec : call.specs) {
        note->entries.push_back({spec.verb, spec.path, 0});
    }
    for (const bool is_xattr : {true, false}) {
        for (std::size_t place = 0; place < call.specs.size(); ++place) {
            const path_spec& spec = call.specs[place];
            if (spec.is_xattr != is_xattr) {
                continue;
            }
            note->entries[place].sent_at = static_cast<std::uint8_t>(request.specs.size());
            request.specs.push_back(
                {subdoc_opcode(spec.verb), flags_of_spec(spec), spec.path,
                 base::slice::copy_of(std::as_bytes(std::span{spec.value}))});
        }
    }
    return note;
}

std::vector<path_result> to_path_results(
    std::vector<engine::subdoc_result>&& paths, const path_note& note) {
    std::vector<path_result> outcomes;
    for (const path_note::entry& entry : note.entries) {
        path_result& outcome = outcomes.emplace_back();
        outcome.path = entry.path;
        if (entry.sent_at >= paths.size()) {
            outcome.code = errc::decoding_failure;  // the server returned fewer results
            continue;
        }
        engine::subdoc_result& from = paths[entry.sent_at];
        outcome.code = from.ec;
        outcome.status = from.status;
        outcome.value = document_bytes_access::make(std::move(from.value));
        if (entry.verb == path_verb::exists) {
            settle_exists(outcome);
        }
    }
    return outcomes;
}

std::shared_ptr<const error_info> in_callers_order(
    std::shared_ptr<const error_info> failed, const path_note& note) {
    if (!failed->failed_path) {
        return failed;
    }
    const auto found =
        std::ranges::find(note.entries, *failed->failed_path, &path_note::entry::sent_at);
    if (found == note.entries.end()) {
        return failed;
    }
    auto copy = std::make_shared<error_info>(*failed);
    copy->failed_path = static_cast<std::uint8_t>(found - note.entries.begin());
    copy->detail = "path " + std::to_string(*copy->failed_path) + " '" + found->path + "' failed";
    return copy;
}

std::expected<document_view, error> content_at(
    const std::vector<path_result>& paths, std::size_t index) {
    if (index >= paths.size()) {
        return std::unexpected(error(
            errc::invalid_argument, "there is no path " + std::to_string(index) +
                                        ": the call had " + std::to_string(paths.size())));
    }
    const path_result& at = paths[index];
    if (at.code) {
        char status[16];
        std::snprintf(status, sizeof(status), "status 0x%02x", unsigned{at.status});
        return std::unexpected(
            error(at.code, "path " + std::to_string(index) + " '" + at.path + "', " + status));
    }
    return document_view{at.value.view(), couchbase::flags_of(document_format::json)};
}

}  // namespace reprise::couchbase::detail
