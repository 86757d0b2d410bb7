#pragma once

#include <cstdint>
#include <map>

#include <reprise/sandbox/audit_log.hpp>
#include <reprise/wire/status.hpp>

namespace reprise::sandbox::detail {

// Attempts that repeat an operation whose previous attempt failed in a way that clients retry.
struct retry_count {
    std::uint64_t total = 0;
    // By the status of the previous attempt. An attempt whose answer was lost counts as `success`
    // or with the status that the answer would have had.
    std::map<wire::status, std::uint64_t> after{};
};

// Counts the requests with a number above `since` that are retries, as far as the log shows it: the
// same client sent the same opcode for the same key before, and that attempt was not answered or
// got a status that clients retry. Looks back at most `lookback` requests before `since`.
retry_count count_retries(
    const audit_log& log, std::uint64_t since, std::uint64_t lookback = 10'000);

}  // namespace reprise::sandbox::detail
