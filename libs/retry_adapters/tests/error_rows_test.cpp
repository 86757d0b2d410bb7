#include <gtest/gtest.h>

#include <set>
#include <span>
#include <string>

#include <reprise/retry/adapters/curl_codes.hpp>
#include <reprise/retry/adapters/grpc_details.hpp>
#include <reprise/retry/adapters/redis_reply.hpp>
#include <reprise/retry/adapters/sqlstate.hpp>

namespace {

using reprise::retry_safety;
using reprise::detail::error_row;

struct named_table {
    const char* source;
    std::span<const error_row> rows;
    std::set<std::string_view> safe;  ///< All rows that may be `yes`.
};

const named_table tables[]{
    {"libcurl",
     reprise::adapters::detail::curl_rows,
     {"CURLE_COULDNT_RESOLVE_PROXY", "CURLE_COULDNT_RESOLVE_HOST", "CURLE_COULDNT_CONNECT",
      "CURLE_SSL_CONNECT_ERROR", "CURLE_OPERATION_TIMEDOUT"}},
    {"gRPC", reprise::adapters::detail::grpc_rows, {}},
    {"hiredis", reprise::adapters::detail::hiredis_rows, {}},
    {"Redis",
     reprise::adapters::detail::redis_rows,
     {"ERR max number of clients", "LOADING", "BUSY", "MASTERDOWN", "TRYAGAIN", "CLUSTERDOWN",
      "MOVED", "ASK", "READONLY", "NOREPLICAS", "MISCONF", "OOM"}},
    {"SQLSTATE",
     reprise::adapters::detail::sqlstate_rows,
     {"40000", "40001", "40P01", "53300", "53", "55P03", "57P03"}},
};

TEST(error_rows, every_yes_has_a_reason_and_no_error_is_listed_twice) {
    for (const named_table& table : tables) {
        std::set<std::string_view> safe;
        std::set<std::string> keys;
        for (const error_row& row : table.rows) {
            EXPECT_EQ(row.safety == retry_safety::yes, !row.reason.empty())
                << table.source << ' ' << row.name;
            EXPECT_TRUE(keys.insert(std::to_string(row.code) + std::string(row.name)).second)
                << table.source << ' ' << row.name;
            if (row.safety == retry_safety::yes) {
                safe.insert(row.name);
            }
        }
        EXPECT_EQ(safe, table.safe) << table.source;
    }
}

// Which errors are the caller's own was listed in another place, which new rows did not reach.
TEST(error_rows, every_row_with_facts_states_whose_fault_it_is) {
    for (const named_table& table : tables) {
        for (const error_row& row : table.rows) {
            EXPECT_EQ(row.fault.has_value(), row.safety.has_value())
                << table.source << ' ' << row.name;
        }
    }
}

TEST(error_rows, codes_of_grpc_are_the_seventeen_of_its_protocol) {
    const auto& rows = reprise::adapters::detail::grpc_rows;
    ASSERT_EQ(rows.size(), 17U);
    for (std::size_t code = 0; code < rows.size(); ++code) {
        EXPECT_EQ(rows[code].code, static_cast<int>(code));
    }
}

}  // namespace
