#include "subdocument_call.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <reprise/engine/subdoc_words.hpp>
#include <reprise/wire/subdoc_messages.hpp>
#include <reprise/wire/subdoc_rules.hpp>

#include "session.hpp"

namespace reprise::couchbase::detail {
namespace {

using wire::doc_flags;

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
    const wire::subdoc_facts& facts = wire::subdoc_info(engine::opcode_of(spec.verb));
    if (spec.path.empty() && !facts.allows_empty_path && !facts.needs_empty_path) {
        return refuse(errc::invalid_argument, "the path is empty");
    }
    if (spec.path.size() > wire::subdoc_path_size_max) {
        return refuse(errc::path_too_big, "longer than 1024 bytes");
    }
    if (!wire::has(facts.path_flags_allowed, engine::flags_of(spec))) {
        return refuse(errc::invalid_argument, "macros are not allowed here");
    }
    if (!wire::has(facts.doc_flags_allowed, for_document)) {
        return refuse(errc::invalid_argument, "not allowed if the same call creates the document");
    }
    return {};
}

std::expected<void, error> check_call(const document_call& call) {
    if (call.specs().empty() || call.specs().size() > wire::subdoc_spec_count_max) {
        return std::unexpected(error(
            errc::invalid_argument, std::to_string(call.specs().size()) +
                                        " paths are given, but the number must be 1 to 16"));
    }
    if (call.kind == operation_kind::mutate_in && call.store == store_semantics::insert &&
        call.cas != 0) {
        return std::unexpected(
            error(errc::invalid_argument, "cas: an inserted document has no cas"));
    }
    for (std::size_t place = 0; place < call.specs().size(); ++place) {
        if (auto checked = check_spec(call.specs()[place], place, engine::doc_flags_of(call));
            !checked) {
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

std::expected<path_note_ptr, error> arrange_specs(document_call& call) {
    if (auto checked = check_call(call); !checked) {
        return std::unexpected(std::move(checked.error()));
    }
    auto note = std::make_unique<path_note>();
    for (const path_spec& spec : call.specs()) {
        note->entries.push_back({spec.verb, spec.path, 0});
    }
    std::uint8_t sent_at = 0;
    for (const bool is_xattr : {true, false}) {
        for (std::size_t place = 0; place < call.specs().size(); ++place) {
            if (call.specs()[place].is_xattr == is_xattr) {
                note->entries[place].sent_at = sent_at++;
            }
        }
    }
    // No stable_partition, which Clang refuses here.
    std::vector<path_spec>& specs = call.terms().specs;
    auto xattrs_end = specs.begin();
    for (auto each = specs.begin(); each != specs.end(); ++each) {
        if (each->is_xattr) {
            std::rotate(xattrs_end, each, each + 1);
            ++xattrs_end;
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
