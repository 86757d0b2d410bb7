#pragma once

/// What an error reply of Redis says about a retry. Needs no client library.

#include <algorithm>
#include <array>
#include <string_view>

#include <reprise/retry/decision.hpp>

namespace reprise::adapters {

/// The first word of an error reply: "MOVED 3999 127.0.0.1:6381" is "MOVED".
[[nodiscard]] constexpr std::string_view redis_error_code(std::string_view message) noexcept {
    return message.substr(0, message.find(' '));
}

/// The facts of an error reply. Redis executes nothing of a command that it refuses.
///
/// ```
/// LOADING, BUSY, MASTERDOWN, TRYAGAIN, CLUSTERDOWN   passes with time: safe
/// MOVED, ASK, READONLY                               another node can do it: safe
/// NOREPLICAS, MISCONF, OOM                           the server lacks something: safe
/// others                                             the command's own fault: never
/// ```
[[nodiscard]] constexpr failure_facts redis_reply_facts(std::string_view message) noexcept {
    constexpr std::array<std::string_view, 11> safe{
        "LOADING", "BUSY",     "MASTERDOWN", "TRYAGAIN", "CLUSTERDOWN", "MOVED",
        "ASK",     "READONLY", "NOREPLICAS", "MISCONF",  "OOM"};
    const bool is_safe = std::ranges::find(safe, redis_error_code(message)) != safe.end();
    return {
        .safety = is_safe ? retry_safety::yes : retry_safety::no,
        .fault = is_safe ? failure_fault::server : failure_fault::client};
}

/// True for commands that only read, in upper or lower case. A short list: state `repeatable` for
/// others.
[[nodiscard]] constexpr bool is_redis_read(std::string_view command) noexcept {
    constexpr std::array<std::string_view, 21> reads{
        "GET",      "MGET",   "EXISTS",   "TTL",     "PTTL",      "TYPE",   "STRLEN",
        "GETRANGE", "HGET",   "HMGET",    "HGETALL", "HEXISTS",   "HLEN",   "LRANGE",
        "LLEN",     "LINDEX", "SMEMBERS", "SCARD",   "SISMEMBER", "ZRANGE", "PING"};
    const auto is_same = [command](std::string_view read) {
        return std::ranges::equal(command, read, [](char given, char upper) {
            return given == upper || given == upper - 'A' + 'a';
        });
    };
    return std::ranges::any_of(reads, is_same);
}

}  // namespace reprise::adapters
