#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <reprise/sandbox/services.hpp>

#include "http_services/query/evaluate.hpp"
#include "http_services/query/value.hpp"

namespace reprise::sandbox::detail {

// A request to the query or analytics port. Missing members keep their defaults.
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
    bool keeps_expiry = false;  // UPDATE and UPSERT do not change the expiry of documents
    bool has_metrics = true;
    bool has_signature = true;
    // The service ends the request after this time. Empty: no limit.
    std::optional<std::chrono::nanoseconds> timeout;
    std::string timeout_text;  // as the request wrote it
    // Why the request cannot run. The other members are as far as they were read.
    std::optional<statement_error> problem;
};

// A member that a request may have in addition to named parameters, and the values that are
// accepted where the sandbox would have to ignore others.
enum class member_type : std::uint8_t {
    free,    // checked where it is used
    flag,    // a boolean, or its text
    number,  // an integer, or its text
    list,
    limited  // one of `accepted`, or empty
};
struct request_member {
    std::string_view name;
    member_type type = member_type::free;
    std::string_view accepted{};  // values separated by spaces
};
std::span<const request_member> request_members() noexcept;

// Reads JSON bodies, form bodies and, for GET, the query of the target, which is always read-only.
query_body read_query_body(const service_request& request);

}  // namespace reprise::sandbox::detail
