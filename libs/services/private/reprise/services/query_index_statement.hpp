#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/couchbase_types/services.hpp>
#include <reprise/services/service_outcome.hpp>

// Statements manage query indexes; these functions create the statements. They quote names, so any
// name is safe. Expressions and conditions are the user's and are inserted unchanged. Names must
// not be empty; the service rejects empty ones.

namespace reprise::services {

using couchbase::index_target;
using couchbase::query_index;

/// Returns "`bucket`" or "`bucket`.`scope`.`collection`".
std::string quote_keyspace(const index_target& keyspace);

/// CREATE [PRIMARY] INDEX ... on `on`; `index.on` is ignored.
std::string make_create_index_statement(const index_target& on, const query_index& index);
/// DROP INDEX with `name`, or DROP PRIMARY INDEX if it is empty.
std::string make_drop_index_statement(const index_target& on, std::string_view name);
/// BUILD INDEX ON ... for the named, deferred indexes.
std::string make_build_index_statement(
    const index_target& on, const std::vector<std::string>& names);
/// Lists the indexes, primary ones first, then by name. A bucket alone means its default
/// collection. The statement needs the options of make_list_indexes_options(), and
/// parse_query_index() parses its rows.
std::string make_list_indexes_statement(const index_target& on);
/// Returns the user's options, made readonly, with the parameters of the statement.
couchbase::query_options make_list_indexes_options(
    const index_target& on, couchbase::query_options options);

std::expected<query_index, outcome_error> parse_query_index(std::string_view row);

}  // namespace reprise::services
