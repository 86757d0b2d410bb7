#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/json/value.hpp>

#include "services/query/evaluate.hpp"
#include "services/query/statement.hpp"
#include "services/service_state.hpp"

namespace reprise::sandbox::detail {

// Rows that are made one by one. Independent of the cluster.
class row_stream {
public:
    virtual ~row_stream() = default;
    // Appends one row's text; false if there is none left, or an error came up.
    virtual bool append_next(std::string& out) = 0;
    virtual const std::optional<statement_error>& error() const noexcept = 0;
};

// Under which circumstances a statement runs.
struct statement_setting {
    service_exchange& with;
    statement_parameters parameters{};
    std::string query_context{};
    bool is_readonly = false;
    bool is_analytics = false;      // scans need no index, nothing can be changed
    bool is_auto_executed = false;  // PREPARE runs what it prepares
    bool keeps_expiry = false;      // changed documents keep theirs

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

// Runs one statement; what goes wrong is in `errors`.
statement_result run_statement(const statement_setting& in, std::string_view text);
// By name; `encoded_plan` brings a statement back that the node has forgotten. Empty: none came.
statement_result run_prepared(
    const statement_setting& in, const std::string& name, std::string_view encoded_plan);

// For the parts of the above.
statement_result run_parsed(const statement_setting& in, statement what);
statement_result run_select(const statement_setting& in, statement what);
statement_result run_change(const statement_setting& in, const statement& what);
statement_result run_index_statement(const statement_setting& in, const statement& what);
statement_result run_prepare(const statement_setting& in, const statement& what);
statement_result refuse_statement(statement_error error);
// Rows of system:indexes.
std::vector<json::value> index_rows(const statement_setting& in);
// The keyspace that a statement is about, if the user may run it there.
std::expected<keyspace, statement_error> resolve_keyspace(
    const statement_setting& in, const statement& what);

// A document as a row of a statement.
struct document_row {
    std::string id;
    json::value content;
    json::value meta;
};
// Those USE KEYS names, or all of them, that fit WHERE; LIMIT and OFFSET are not applied.
std::expected<std::vector<document_row>, statement_error> find_rows(
    const statement_setting& in, const statement& what, const keyspace& on);

}  // namespace reprise::sandbox::detail
