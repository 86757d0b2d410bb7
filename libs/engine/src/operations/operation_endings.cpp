// Completes operations, exactly once, through the queue of completions.

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "operations/operation_endings.hpp"
#include "operations/scan_operations.hpp"

namespace reprise::engine {
namespace {

error_map_note note_of(const wire::error_map_entry& entry) {
    error_map_note note{entry.name, entry.description, {}};
    for (std::size_t index = 0; index < wire::error_attribute_count; ++index) {
        const auto attribute = static_cast<wire::error_attribute>(index);
        if (entry.attributes.has(attribute)) {
            note.attributes.emplace_back(wire::to_string(attribute));
        }
    }
    note.attributes.insert(
        note.attributes.end(), entry.unknown_attributes.begin(), entry.unknown_attributes.end());
    return note;
}

// Statuses are written as the protocol's documents have them: "0x07".
[[nodiscard]] std::string status_text(std::uint32_t code) {
    std::array<char, 16> text{};
    std::snprintf(text.data(), text.size(), "0x%02x", unsigned{code});
    return text.data();
}

}  // namespace

std::shared_ptr<const retry_history> operation_endings::report_of(
    const operation_slot& slot, bool with_problems) const {
    const auto name_of = [&](std::uint32_t number) { return nodes_.endpoints()[number].name; };
    const auto problem_of = [&](std::uint32_t number) {
        const node_link* link =
            with_problems ? nodes_.find_link(routes_.bucket_of(slot), number) : nullptr;
        return link == nullptr ? std::string() : link->problem;
    };
    return std::make_shared<retry_history>(slot.history.report(name_of, problem_of, &status_text));
}

void operation_endings::complete(operation_slot& slot, operation_result&& result, time_point now) {
    if (slot.scan != nullptr) {
        scans_.on_end(slot, result, now);
    }
    operation_lifecycle::ended_operation& ended = life_.begin_end();
    ended.result = std::move(result);
    complete_begun(slot, ended, now);
}

void operation_endings::complete_error(
    operation_slot& slot, std::error_code code, failure_note&& note, time_point now) {
    const keyspace_entry& space = nodes_.buckets()[slot.request.keyspace];
    auto error = operation_lifecycle::make_error(slot, code);
    error->operation = to_string(slot.request.kind);
    error->bucket = space.bucket->name;
    error->scope = space.scope;
    error->collection = space.collection;
    error->key = slot.request.key.text();
    error->shows_key = context_.options.log_keys;
    error->is_ambiguous =
        note.is_ambiguous || (code == errc::durability_ambiguous && !slot.is_idempotent);
    error->status = note.status;
    if (note.entry != nullptr) {
        error->error_map = note_of(*note.entry);
    }
    error->server_context = std::move(note.context.context);
    error->server_ref = std::move(note.context.ref);
    error->failed_path = note.failed_path;
    error->connection = slot.sent.connection;
    error->opaque = slot.sent.opaque;
    if (slot.sent.endpoint >= 0) {
        error->last_dispatched_to = nodes_.endpoints()[slot.sent.endpoint].name;
    }
    error->detail = std::move(note.detail);
    error->history = history_of(slot, true);
    operation_result result;
    result.ec = code;
    result.history = error->history;
    result.error = std::move(error);
    complete(slot, std::move(result), now);
}

}  // namespace reprise::engine
