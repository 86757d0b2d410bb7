#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <reprise/couchbase_types/errc.hpp>

// What reading the answers of the HTTP services has in common.

namespace reprise::services {

using couchbase::errc;

// Why an answer, or one row of it, cannot be understood.
enum class outcome_errc : std::uint8_t {
    not_json = 1,    // the detail says where
    missing_member,  // a member that must be there
    wrong_type       // a member of another JSON type, or a number that does not fit
};

std::string_view to_string(outcome_errc code) noexcept;

struct outcome_error {
    outcome_errc code = outcome_errc::not_json;
    std::string path;    // "errors[0].code"; empty for the whole answer
    std::string detail;  // for people
};

// "wrong_type at errors[0].code: not a number"
std::string to_string(const outcome_error& error);

// Of an answer that has no JSON to look at.
enum class body_state : std::uint8_t { empty, unreadable };

// What an answer means of which nothing but the HTTP status is known. 401 and 403 are
// authentication_failure, 503 service_not_available; else an empty body is internal_server_failure
// and one that cannot be read parsing_failure.
errc classify_bare_status(int http_status, body_state body) noexcept;

}  // namespace reprise::services
