#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/services/query_request.hpp>
#include <reprise/services/service_outcome.hpp>

// Statements manage query indexes; these functions create the statements. They quote names, so any
// name is safe. Expressions and conditions are the user's and are inserted unchanged. Names must
// not be empty; the service rejects empty ones.

namespace reprise::services {

/// The keyspace of an index. Without scope and collection it is the bucket's default collection.
struct index_keyspace {
    std::string bucket{};
    std::string scope{};
    std::string collection{};
};

/// Returns "`bucket`" or "`bucket`.`scope`.`collection`".
std::string quote_keyspace(const index_keyspace& keyspace);

struct query_index_definition {
    index_keyspace on{};
    /// If empty, a primary index gets its usual name `#primary`.
    std::string name{};
    bool is_primary = false;
    std::vector<std::string> keys{};  ///< expressions; not for a primary index
    std::string condition{};          ///< WHERE; empty means all documents
    bool is_deferred = false;         ///< built later by BUILD INDEX
    std::optional<std::uint32_t> replica_count{};
    /// An existing index is not an error. Needs a server that supports IF NOT EXISTS (7.1).
    bool is_tolerant = false;
};

/// CREATE [PRIMARY] INDEX ...
std::string make_create_index_statement(const query_index_definition& index);
/// DROP INDEX with `name`, or DROP PRIMARY INDEX if it is empty.
std::string make_drop_index_statement(const index_keyspace& on, std::string_view name);
/// BUILD INDEX ON ... for the named, deferred indexes.
std::string make_build_index_statement(
    const index_keyspace& on, const std::vector<std::string>& names);
/// Returns a readonly request. parse_query_index_row() parses its rows, which list primary indexes
/// first and are then sorted by name. A bucket alone means its default collection.
query_request make_list_indexes_request(const index_keyspace& on);

struct query_index_row {
    std::string name{};
    std::string state{};  ///< "online", "deferred", "building", ...
    bool is_primary = false;
    std::vector<std::string> keys{};
    std::string condition{};
    index_keyspace on{};
};
std::expected<query_index_row, outcome_error> parse_query_index_row(std::string_view row);

}  // namespace reprise::services
