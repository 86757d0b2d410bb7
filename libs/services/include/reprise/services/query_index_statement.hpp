#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/services/query_request.hpp>
#include <reprise/services/service_outcome.hpp>

// Query indexes are managed by statements: these make them. Names are quoted, so any text is safe;
// expressions and conditions are the user's own and go in as they are. Names must not be empty; the
// service says so if they are.

namespace reprise::services {

// What an index is on. Without scope and collection: the bucket's default collection.
struct index_keyspace {
    std::string bucket{};
    std::string scope{};
    std::string collection{};
};

// "`bucket`" or "`bucket`.`scope`.`collection`".
std::string quote_keyspace(const index_keyspace& keyspace);

struct query_index_definition {
    index_keyspace on{};
    // Empty: the primary index under its usual name `#primary`, if it is one.
    std::string name{};
    bool is_primary = false;
    std::vector<std::string> keys{};  // expressions; not for a primary index
    std::string condition{};          // WHERE; empty: all documents
    bool is_deferred = false;         // built later, by BUILD INDEX
    std::optional<std::uint32_t> replica_count{};
    // An index that is there already is no error; needs a server that knows IF NOT EXISTS (7.1).
    bool is_tolerant = false;
};

// CREATE [PRIMARY] INDEX ...
std::string make_create_index_statement(const query_index_definition& index);
// DROP INDEX ... of `name`, or DROP PRIMARY INDEX if it is empty.
std::string make_drop_index_statement(const index_keyspace& on, std::string_view name);
// BUILD INDEX ON ... of the named, deferred ones.
std::string make_build_index_statement(
    const index_keyspace& on, const std::vector<std::string>& names);
// A readonly request whose rows parse_query_index_row() reads: primary first, then by name. With a
// bucket alone: its default collection.
query_request make_list_indexes_request(const index_keyspace& on);

struct query_index_row {
    std::string name{};
    std::string state{};  // "online", "deferred", "building", ...
    bool is_primary = false;
    std::vector<std::string> keys{};
    std::string condition{};
    index_keyspace on{};
};
std::expected<query_index_row, outcome_error> parse_query_index_row(std::string_view row);

}  // namespace reprise::services
