#include <algorithm>
#include <utility>

#include "http_services/query/run.hpp"

// Query indexes: the statements that create and drop them, and their catalogue.

namespace reprise::sandbox::detail {

namespace {

bool is_on(const query_index& index, const keyspace& on) {
    return index.on.bucket == on.bucket && index.on.collection_id == on.collection_id;
}

statement_result create_index(
    const statement_setting& in, const statement& what, const keyspace& on) {
    auto& indexes = in.with.services.indexes;
    const index_clause& wanted = what.index;
    const bool exists = std::ranges::any_of(indexes, [&](const query_index& each) {
        return is_on(each, on) && each.name == wanted.name;
    });
    if (exists && !wanted.is_tolerant) {
        return refuse_statement({4300, "The index " + wanted.name + " already exists.", 0, {}});
    }
    if (exists) {
        return {};
    }
    if (indexes.size() >= definition_count_max) {
        return refuse_statement(
            {5000,
             "Limit for number of indexes that can be created per scope has been reached.",
             0,
             {}});
    }
    if (wanted.replica_count >= in.with.cluster.topology().nodes().size()) {
        return refuse_statement(
            {5000,
             "Fails to create index. There are not enough indexer nodes to create index with "
             "replica count of " +
                 std::to_string(wanted.replica_count),
             0,
             {}});
    }
    query_index made;
    made.name = wanted.name;
    made.on = on;
    made.id = in.with.services.random_hex(16);
    made.keys = wanted.keys;
    made.condition = wanted.condition;
    made.is_primary = wanted.is_primary;
    made.is_online = !wanted.is_deferred;
    made.replica_count = wanted.replica_count;
    indexes.push_back(std::move(made));
    in.with.audit.is_applied = true;
    return {};
}

statement_result drop_index(
    const statement_setting& in, const statement& what, const keyspace& on) {
    auto& indexes = in.with.services.indexes;
    const index_clause& wanted = what.index;
    const auto found = std::ranges::find_if(indexes, [&](const query_index& each) {
        // DROP PRIMARY INDEX drops the primary index whatever its name.
        return is_on(each, on) && (wanted.is_primary ? each.is_primary : each.name == wanted.name);
    });
    if (found != indexes.end()) {
        indexes.erase(found);
        in.with.audit.is_applied = true;
        return {};
    }
    if (wanted.is_tolerant) {
        return {};
    }
    if (wanted.is_primary) {
        return refuse_statement(
            {12004,
             "No primary index on keyspace " + on.path() +
                 ". Use CREATE PRIMARY INDEX to create one.",
             0,
             {}});
    }
    return refuse_statement(
        {12016, "Index Not Found - cause: GSI index " + wanted.name + " not found.", 0, {}});
}

statement_result build_indexes(
    const statement_setting& in, const statement& what, const keyspace& on) {
    for (const std::string& name : what.index.built) {
        const auto found = std::ranges::find_if(
            in.with.services.indexes,
            [&](const query_index& each) { return is_on(each, on) && each.name == name; });
        if (found == in.with.services.indexes.end()) {
            return refuse_statement(
                {5411, "BUILD INDEX - cause: index " + name + " not found.", 0, {}, false, true});
        }
        found->is_online = true;
        in.with.audit.is_applied = true;
    }
    return {};
}

}  // namespace

std::vector<json::value> index_rows(const statement_setting& in) {
    std::vector<json::value> rows;
    for (const query_index& each : in.with.services.indexes) {
        if (!in.with.can_see(each.on.bucket)) {
            continue;
        }
        json::object row{
            {"datastore_id", "http://127.0.0.1:8091"},
            {"id", each.id},
            {"index_key", json::array(each.keys.begin(), each.keys.end())}};
        if (!each.on.is_default()) {
            row.set("bucket_id", each.on.bucket);
            row.set("scope_id", each.on.scope);
        }
        row.set("keyspace_id", each.on.is_default() ? each.on.bucket : each.on.collection);
        if (!each.condition.empty()) {
            row.set("condition", each.condition);
        }
        row.set("metadata", json::object{{"num_replica", each.replica_count}});
        row.set("name", each.name);
        row.set("namespace_id", "default");
        row.set("state", each.is_online ? "online" : "deferred");
        row.set("using", "gsi");
        if (each.is_primary) {
            row.set("is_primary", true);
        }
        rows.emplace_back(std::move(row));
    }
    return rows;
}

statement_result run_index_statement(const statement_setting& in, const statement& what) {
    const auto on = resolve_keyspace(in, what);
    if (!on) {
        return refuse_statement(on.error());
    }
    statement_result result =
        what.what == statement_kind::create_index ? create_index(in, what, *on)
        : what.what == statement_kind::drop_index ? drop_index(in, what, *on)
                                                  : build_indexes(in, what, *on);
    result.signature = nullptr;
    return result;
}

}  // namespace reprise::sandbox::detail
