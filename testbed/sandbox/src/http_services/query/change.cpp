#include <algorithm>
#include <utility>

#include <reprise/json/write.hpp>

#include "http_services/query/run.hpp"

// The statements that change documents: INSERT, UPSERT, UPDATE, DELETE.

namespace reprise::sandbox::detail {

namespace {

statement_error dml_error(std::string_view verb, const std::string& id, write_result why) {
    statement_error error{
        12009,
        "DML Error, possible causes include concurrent modification. Failed to perform " +
            std::string(verb) + " on key " + id,
        0,
        {}};
    switch (why) {
        case write_result::exists:
            error.reason_code = 17012;
            error.reason = "Duplicate Key: " + id;
            break;
        case write_result::missing:
            error.reason_code = 17014;
            error.reason = "Key not found: " + id;
            break;
        case write_result::locked:
            error.reason = "LOCKED: the document is locked";
            break;
        case write_result::too_large:
            error.reason = "The key or the value is too large";
            break;
        case write_result::unavailable:
        case write_result::bucket_gone:
        case write_result::done:
            error.reason = "No node is responsible for the key";
            break;
    }
    error.message += " - cause: " + error.reason;
    error.is_in_execution = true;
    return error;
}

// The changes of one statement so far.
struct change_run {
    const statement_setting& in;
    const statement& what;
    keyspace on;
    evaluator evaluate;
    statement_result result;

    bool note(std::string_view verb, const std::string& id, write_result outcome) {
        if (outcome != write_result::done) {
            result.errors.push_back(dml_error(verb, id, outcome));
            return false;
        }
        ++result.mutation_count;
        return true;
    }
    void return_row(const json::value& content, const json::value& meta) {
        if (what.has_returning) {
            std::string text;
            evaluate.append_row(text, what.result, {what.from.alias, &content, &meta});
            result.add_row(text);
        }
    }
    void return_stored(const std::string& id, const json::value& content) {
        if (!what.has_returning) {
            return;
        }
        const auto stored = read_document(in.cluster(), on, id, in.with.now);
        return_row(
            content, json::object{
                         {"id", id},
                         {"cas", stored ? stored->cas : 0},
                         {"flags", stored ? stored->flags : 0},
                         {"expiration", stored ? stored->expiry : 0},
                         {"type", "json"}});
    }
    bool has_failed() {
        if (evaluate.error()) {
            result.errors.push_back(*evaluate.error());
        }
        return evaluate.error().has_value();
    }
};

void insert_rows(change_run& run) {
    const bool is_insert = run.what.what == statement_kind::insert;
    const std::string_view verb = is_insert ? "INSERT" : "UPSERT";
    for (const inserted_row& row : run.what.rows) {
        const maybe_value key = run.evaluate.value_of(row.key, {});
        const maybe_value value = run.evaluate.value_of(row.value, {});
        const maybe_value options =
            row.options ? run.evaluate.value_of(*row.options, {}) : maybe_value{};
        if (run.has_failed()) {
            return;
        }
        const auto id = key ? key->as_string() : std::nullopt;
        if (!id || !value) {
            run.result.errors.push_back(
                {5070,
                 "Cannot " + std::string(verb) + " non-string key or missing value.",
                 0,
                 {},
                 false,
                 true});
            return;
        }
        const json::value* expiration = options ? options->find("expiration") : nullptr;
        const auto expiry = expiration != nullptr ? expiration->as_uint64() : std::nullopt;
        const std::string text = json::serialize(*value);
        document_write change;
        change.id = *id;
        change.value = text;
        change.rule = is_insert ? write_rule::insert : write_rule::upsert;
        change.keeps_expiry = run.in.keeps_expiry;
        if (expiry) {
            change.expiry =
                static_cast<std::uint32_t>(std::min<std::uint64_t>(*expiry, UINT32_MAX));
        }
        const std::string name(*id);
        if (run.note(
                verb, name, write_document(run.in.cluster(), run.on, change, run.in.with.now))) {
            run.return_stored(name, *value);
        }
    }
}

// Sets the field, or removes it if there is no content. Changes nothing if an object on the way is
// missing.
void change_field(json::value& in, const std::vector<std::string>& path, maybe_value content) {
    json::value* at = &in;
    for (std::size_t i = 0; i + 1 < path.size() && at != nullptr; ++i) {
        at = at->find(path[i]);
    }
    json::object* members = at != nullptr ? at->as_object() : nullptr;
    if (members != nullptr && content) {
        members->set(path.back(), *std::move(content));
    } else if (members != nullptr) {
        members->erase(path.back());
    }
}

void update_row(change_run& run, document_row& row) {
    json::value changed = row.content;
    for (const changed_field& field : run.what.fields) {
        const row_view view{run.what.from.alias, &row.content, &row.meta};
        change_field(
            changed, field.path,
            field.value ? run.evaluate.value_of(*field.value, view) : maybe_value{});
    }
    if (run.evaluate.error()) {
        return;
    }
    const std::string text = json::serialize(changed);
    document_write change;
    change.id = row.id;
    change.value = text;
    change.rule = write_rule::replace;
    change.keeps_expiry = run.in.keeps_expiry;
    if (run.note(
            "UPDATE", row.id, write_document(run.in.cluster(), run.on, change, run.in.with.now))) {
        run.return_stored(row.id, changed);
    }
}

void change_rows(change_run& run) {
    auto rows = find_rows(run.in, run.what, run.on);
    if (!rows) {
        run.result.errors.push_back(std::move(rows.error()));
        return;
    }
    std::uint64_t left =
        run.what.limit ? run.evaluate.count_of(*run.what.limit, "LIMIT") : rows->size();
    for (document_row& row : *rows) {
        if (left-- == 0 || run.evaluate.error()) {
            break;
        }
        if (run.what.what == statement_kind::update) {
            update_row(run, row);
        } else if (run.note(
                       "DELETE", row.id,
                       remove_document(run.in.cluster(), run.on, row.id, run.in.with.now))) {
            run.return_row(row.content, row.meta);
        }
    }
    run.has_failed();
}

}  // namespace

statement_result run_change(const statement_setting& in, const statement& what) {
    auto on = resolve_keyspace(in, what);
    if (!on) {
        return refuse_statement(std::move(on.error()));
    }
    change_run run{in, what, *std::move(on), evaluator(in.parameters), {}};
    if (what.has_returning) {
        run.result.signature = signature_of(what.result);
    } else {
        run.result.signature = nullptr;
    }
    if (what.what == statement_kind::insert || what.what == statement_kind::upsert) {
        insert_rows(run);
    } else {
        change_rows(run);
    }
    return std::move(run.result);
}

}  // namespace reprise::sandbox::detail
