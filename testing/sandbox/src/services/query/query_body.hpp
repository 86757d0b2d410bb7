#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <reprise/sandbox/services.hpp>

#include "services/query/evaluate.hpp"
#include "services/query/value.hpp"

namespace reprise::sandbox::detail {

// What a request to the query or analytics port says; absent members keep their defaults.
struct query_body {
    std::string statement;
    std::string prepared;
    std::string encoded_plan;
    std::string context_id;
    std::string query_context;
    std::string profile = "off";
    statement_parameters parameters;
    bool is_readonly = false;
    bool is_auto_executed = false;
    bool keeps_expiry = false;  // UPDATE and UPSERT leave the expiry of documents alone
    bool has_metrics = true;
    bool has_signature = true;
    // Why it cannot be run; the other members are as far as they were read.
    std::optional<statement_error> problem;
};

// Members that a request may have beside named parameters, and what they may be where the sandbox
// would have to ignore other values.
struct request_member {
    std::string_view name;
    std::string_view accepted;  // values separated by blanks
    bool is_limited = false;
};
std::span<const request_member> request_members() noexcept;

// Reads JSON bodies, form bodies, and for GET the target's query; the latter is always read-only.
query_body read_query_body(const service_request& request);

}  // namespace reprise::sandbox::detail
