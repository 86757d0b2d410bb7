// Compares the documents with the writes that were applied: nothing is lost, and nothing
// duplicated. Invariants 1 and 3.

#include "checks/document_checks.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "world/world.hpp"

namespace reprise::sim {
namespace {

using engine::operation_kind;

// Maximum number of keys in one collection.
constexpr std::size_t document_key_count = 512;

bool has_collection(const wire::collections_manifest& manifest, std::uint32_t id) {
    return id != 0 && std::ranges::any_of(manifest.scopes, [id](const auto& scope) {
               return std::ranges::find(scope.collections, id, &wire::manifest_collection::id) !=
                      scope.collections.end();
           });
}

}  // namespace

document_checks::document_checks(world& owner)
    : world_(owner), documents_((1 + named_collection_count) * document_key_count) {}

void document_checks::on_applied(operation_record& record, const sandbox::audit_entry& entry) {
    ledger_.on_applied(record.number);
    apply(record, entry);
}

void document_checks::on_statement_applied(const operation_record& record) {
    ledger_.on_applied(record.number);
    const planned_call& plan = record.call->plan;
    if (is_statement(plan.kind)) {
        const bool is_gone = plan.kind == call_kind::remove;
        statement_documents_[plan.key] = is_gone ? std::nullopt : std::optional(record.number);
    }
}

// The effect of the write on the document; operation_records.hpp describes the values.
void document_checks::apply(operation_record& record, const sandbox::audit_entry& entry) {
    document_view& document =
        documents_[record.plan.collection * document_key_count + record.plan.key];
    if (document.collection != entry.collection.value) {
        document = {};  // the collection was recreated
        document.collection = entry.collection.value;
    }
    const std::string value = value_of(record.plan, record.number);
    const std::uint64_t delta = delta_of(record.number);
    std::uint64_t counter =
        document.text.empty() ? 0 : std::strtoull(document.text.c_str(), nullptr, 10);
    switch (record.plan.kind) {
        case operation_kind::upsert:
        case operation_kind::insert:
        case operation_kind::replace:
            document.text = value;
            break;
        case operation_kind::remove:
            document.exists = false;
            document.text.clear();
            return;
        case operation_kind::append:
            document.text += value;
            break;
        case operation_kind::prepend:
            document.text.insert(0, value);
            break;
        case operation_kind::increment:
        case operation_kind::decrement: {
            const bool is_up = record.plan.kind == operation_kind::increment;
            const std::uint64_t down = counter < delta ? 0 : counter - delta;
            counter = !document.exists ? counter_initial : (is_up ? counter + delta : down);
            if (!is_lossy_) {
                record.counter = counter;
            }
            document.text = std::to_string(counter);
            break;
        }
        case operation_kind::mutate_in:
            if (document.exists) {
                document.text.insert(document.text.find(']'), "," + value);
            } else {
                document.text = "{\"" + std::string(list_path) + "\":[" + value + "]}";
            }
            break;
        default:  // the others leave the text as it is; at the end it is compared with the server's
            return;
    }
    document.exists = true;
}

// Invariant 3. A success that a fault rule invented proves nothing about the client.
void document_checks::settle(
    const operation_record& record, const engine::operation_result& result) {
    if (record.is_idempotent) {
        return;
    }
    auto outcome = sandbox::write_outcome::not_applied;
    // The document to remove may not have existed.
    const bool may_be_nothing =
        record.call && record.call->plan.kind == call_kind::remove && !result.ec;
    if (record.was_lied_to || is_reported_ambiguous(result) || may_be_nothing) {
        outcome = sandbox::write_outcome::unknown;
    } else if (!result.ec) {
        outcome = sandbox::write_outcome::applied;
    }
    ledger_.settle(record.number, outcome);
}

void document_checks::forget_default_documents() {
    std::fill_n(documents_.begin(), document_key_count, document_view{});
}

void document_checks::at_end() {
    for (const sandbox::ledger_finding& found : ledger_.findings()) {
        world_.record.report(
            checker::ledger, static_cast<std::uint32_t>(found.write),
            std::string(sandbox::to_string(found.fault)));
    }
    if (!is_lossy_) {
        check_documents();
        check_statements();
    }
}

void document_checks::check_documents() {
    const wire::collections_manifest* manifest = world_.cluster.buckets().manifest(bucket_name);
    for (std::size_t index = 0; manifest != nullptr && index < documents_.size(); ++index) {
        const document_view& document = documents_[index];
        const bool is_default = index < document_key_count;
        if (!is_default && !has_collection(*manifest, document.collection)) {
            continue;  // never used, or dropped with its collection
        }
        planned_operation name;
        name.key = static_cast<std::uint16_t>(index % document_key_count);
        const std::string key = world_.key_text(name);
        const auto stored = world_.cluster.buckets().find_document(
            bucket_name, wire::collection_id{document.collection}, key, world_.server_now());
        const bool is_there = stored && !stored->is_deleted;
        if (is_there != document.exists || (is_there && stored->value != document.text)) {
            world_.record.report(
                checker::documents, std::nullopt,
                key + " of collection " + std::to_string(document.collection) + " is " +
                    (is_there ? "'" + stored->value + "'" : "missing") + " instead of " +
                    (document.exists ? "'" + document.text + "'" : "missing"));
        }
    }
}

// Compares the documents with the applied statements.
void document_checks::check_statements() {
    for (const auto& [key, writer] : statement_documents_) {
        const auto stored = world_.cluster.buckets().find_document(
            bucket_name, wire::collection_id{0}, "q" + std::to_string(key), world_.server_now());
        const bool is_there = stored && !stored->is_deleted;
        const std::string wanted = writer ? "{\"n\":" + std::to_string(*writer) + "}" : "";
        if (is_there != writer.has_value() || (is_there && stored->value != wanted)) {
            world_.record.report(
                checker::documents, writer,
                "q" + std::to_string(key) + " is " +
                    (is_there ? "'" + stored->value + "'" : "missing") + " instead of " +
                    (writer ? "'" + wanted + "'" : "missing"));
        }
    }
}

}  // namespace reprise::sim
