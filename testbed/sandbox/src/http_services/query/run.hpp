#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/json/value.hpp>

#include "http_services/query/evaluate.hpp"
#include "http_services/query/statement.hpp"
#include "http_services/service_state.hpp"

namespace reprise::sandbox::detail {

// Rows that are produced one at a time, independent of the cluster.
class row_stream {
public:
    virtual ~row_stream() = default;
    // Appends one row's text. Returns false at the end or after an error.
    virtual bool append_next(std::string& out) = 0;
    virtual const std::optional<statement_error>& error() const noexcept = 0;
};

// The context in which a statement runs.
struct statement_setting {
    service_exchange& with;
    statement_parameters parameters{};
    std::string query_context{};
    bool is_readonly = false;
    bool is_analytics = false;      // scans need no index; changes are refused
    bool is_auto_executed = false;  // PREPARE also runs the statement
    bool keeps_expiry = false;      // changed documents keep their expiry

    cluster_state& cluster() const noexcept { return with.services.cluster; }
};

struct statement_result {
    json::value signature{json::object{}};
    std::string rows{};  // separated by commas
    std::uint64_t row_count = 0;
    std::uint64_t row_size = 0;
    std::uint64_t mutation_count = 0;
    std::vector<statement_error> errors{};
    std::string prepared{};              // the name, for an automatically executed PREPARE
    std::unique_ptr<row_stream> more{};  // further rows, after `rows`

    void add_row(std::string_view text);
};

// Runs one statement. Failures are reported in `errors`.
statement_result run_statement(const statement_setting& in, std::string_view text);
// Runs a prepared statement by name. `encoded_plan` restores a statement that the node has
// forgotten; empty: the request had none.
statement_result run_prepared(
    const statement_setting& in, const std::string& name, std::string_view encoded_plan);

// Internal steps of the functions above.
statement_result run_parsed(const statement_setting& in, statement what);
statement_result run_select(const statement_setting& in, statement what);
statement_result run_change(const statement_setting& in, const statement& what);
statement_result run_index_statement(const statement_setting& in, const statement& what);
statement_result run_prepare(const statement_setting& in, const statement& what);
statement_result refuse_statement(statement_error error);
// The rows of system:indexes.
std::vector<json::value> index_rows(const statement_setting& in);
// Returns the keyspace of a statement if the user may run the statement there.
std::expected<keyspace, statement_error> resolve_keyspace(
    const statement_setting& in, const statement& what);

// A document as a row of a statement.
struct document_row {
    std::string id;
    json::value content;
    json::value meta;
};
// Returns the documents of USE KEYS, or all of them, that match WHERE. Does not apply LIMIT and
// OFFSET.
std::expected<std::vector<document_row>, statement_error> find_rows(
    const statement_setting& in, const statement& what, const keyspace& on);

}  // namespace reprise::sandbox::detail
