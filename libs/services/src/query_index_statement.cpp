#include <reprise/services/query_index_statement.hpp>

#include <reprise/json/write.hpp>

#include "outcome_reader.hpp"

namespace reprise::services {

namespace {

// Returns WITH {...}, or an empty text if there are no options.
std::string make_index_options(const query_index& index) {
    if (!index.is_deferred && !index.replica_count) {
        return {};
    }
    std::string out = " WITH ";
    json::writer writer(out);
    writer.begin_object();
    if (index.is_deferred) {
        writer.member("defer_build", true);
    }
    if (index.replica_count) {
        writer.member("num_replica", *index.replica_count);
    }
    writer.end_object();
    return out;
}

// The name of a scope or collection; empty means the default.
std::string_view name_or_default(std::string_view name) {
    return name.empty() ? "_default" : name;
}

}  // namespace

std::string quote_keyspace(const index_target& keyspace) {
    std::string out = quote_identifier(keyspace.bucket);
    if (!keyspace.scope.empty() || !keyspace.collection.empty()) {
        out += '.' + quote_identifier(name_or_default(keyspace.scope)) + '.' +
               quote_identifier(name_or_default(keyspace.collection));
    }
    return out;
}

std::string make_create_index_statement(const index_target& on, const query_index& index) {
    std::string out = index.is_primary ? "CREATE PRIMARY INDEX" : "CREATE INDEX";
    if (!index.name.empty()) {
        out += ' ' + quote_identifier(index.name);
    }
    out += " ON " + quote_keyspace(on);
    if (!index.is_primary) {
        out += '(';
        for (std::size_t i = 0; i < index.keys.size(); ++i) {
            out += (i == 0 ? "" : ", ") + index.keys[i];
        }
        out += ')';
    }
    if (!index.condition.empty()) {
        out += " WHERE " + index.condition;
    }
    return out + " USING GSI" + make_index_options(index);
}

// Servers before 7.0 accept only `bucket`.`name`; collections need the other form.
std::string make_drop_index_statement(const index_target& on, std::string_view name) {
    if (name.empty()) {
        return "DROP PRIMARY INDEX ON " + quote_keyspace(on) + " USING GSI";
    }
    if (on.scope.empty() && on.collection.empty()) {
        return "DROP INDEX " + quote_identifier(on.bucket) + '.' + quote_identifier(name) +
               " USING GSI";
    }
    return "DROP INDEX " + quote_identifier(name) + " ON " + quote_keyspace(on) + " USING GSI";
}

std::string make_build_index_statement(
    const index_target& on, const std::vector<std::string>& names) {
    std::string out = "BUILD INDEX ON " + quote_keyspace(on) + '(';
    for (std::size_t i = 0; i < names.size(); ++i) {
        out += (i == 0 ? "" : ", ") + quote_identifier(names[i]);
    }
    return out + ") USING GSI";
}

// An index on a default collection is listed by its bucket alone, the old way, unless it was
// created through the collection's full name.
std::string make_list_indexes_statement(const index_target& on) {
    std::string where =
        "(idx.bucket_id = $bucket AND idx.scope_id = $scope AND idx.keyspace_id = $collection)";
    if (name_or_default(on.scope) == "_default" && name_or_default(on.collection) == "_default") {
        where += " OR (idx.bucket_id IS MISSING AND idx.keyspace_id = $bucket)";
    }
    return "SELECT idx.* FROM system:indexes AS idx WHERE (" + where +
           ") AND idx.`using` = \"gsi\" ORDER BY idx.is_primary DESC, idx.name ASC";
}

couchbase::query_options make_list_indexes_options(
    const index_target& on, couchbase::query_options options) {
    options.readonly = true;
    options.named.emplace_back("bucket", on.bucket);
    options.named.emplace_back("scope", name_or_default(on.scope));
    options.named.emplace_back("collection", name_or_default(on.collection));
    return options;
}

std::expected<query_index, outcome_error> parse_query_index(std::string_view row) {
    const auto answer = detail::parse_answer(row);
    if (!answer) {
        return std::unexpected(answer.error());
    }
    query_index index;
    index.name = detail::text_or_empty(*answer, "name");
    if (index.name.empty()) {
        return detail::outcome_failure(outcome_errc::missing_member, "name", "missing");
    }
    index.state = detail::text_or_empty(*answer, "state");
    index.is_deferred = index.state == "deferred";
    const json::value* const primary = answer->find("is_primary");
    index.is_primary = primary != nullptr && primary->as_bool().value_or(false);
    const auto keys = detail::array_or_null(*answer, "index_key");
    if (!keys) {
        return std::unexpected(keys.error());
    }
    if (*keys != nullptr) {
        for (const json::value& key : **keys) {
            index.keys.emplace_back(key.as_string().value_or(""));
        }
    }
    index.condition = detail::text_or_empty(*answer, "condition");
    const std::string bucket = detail::text_or_empty(*answer, "bucket_id");
    const std::string keyspace = detail::text_or_empty(*answer, "keyspace_id");
    index.on.bucket = bucket.empty() ? keyspace : bucket;
    if (!bucket.empty()) {
        index.on.scope = detail::text_or_empty(*answer, "scope_id");
        index.on.collection = keyspace;
    }
    return index;
}

}  // namespace reprise::services
