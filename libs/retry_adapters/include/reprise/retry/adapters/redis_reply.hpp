#pragma once

/// Facts of Redis' error replies. Needs no client library.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/retry_errc.hpp>

namespace reprise::adapters {

/// The first word of an error reply: "MOVED 3999 127.0.0.1:6381" is "MOVED".
[[nodiscard]] constexpr std::string_view redis_error_code(std::string_view message) noexcept {
    return message.substr(0, message.find(' '));
}

namespace detail {

/// Error replies that a retry can help with, by how they begin; all others are the command's own
/// fault. A redirection comes from a cluster that works.
inline constexpr std::array redis_rows{
    reprise::detail::error_row{
        .name = "ERR max number of clients",
        .safety = retry_safety::yes,
        .throttling = true,
        .fault = failure_fault::server,
        .reason = "too many connections: the server closes this one and executed nothing"},
    reprise::detail::error_row{
        .name = "LOADING",
        .safety = retry_safety::yes,
        .fault = failure_fault::server,
        .reason = "the server loads its data and executes nothing yet"},
    reprise::detail::error_row{
        .name = "BUSY",
        .safety = retry_safety::yes,
        .fault = failure_fault::server,
        .reason = "a script runs; the command was refused"},
    reprise::detail::error_row{
        .name = "MASTERDOWN",
        .safety = retry_safety::yes,
        .fault = failure_fault::server,
        .reason = "the replica lost its primary; the command was refused"},
    reprise::detail::error_row{
        .name = "TRYAGAIN",
        .safety = retry_safety::yes,
        .fault = failure_fault::server,
        .reason = "the keys are moving between nodes; the command was refused"},
    reprise::detail::error_row{
        .name = "CLUSTERDOWN",
        .safety = retry_safety::yes,
        .fault = failure_fault::server,
        .reason = "no node serves the slot; the command was refused"},
    reprise::detail::error_row{
        .name = "MOVED",
        .safety = retry_safety::yes,
        .fault = failure_fault::client,
        .reason = "another node serves the slot; this one executed nothing"},
    reprise::detail::error_row{
        .name = "ASK",
        .safety = retry_safety::yes,
        .fault = failure_fault::client,
        .reason = "another node has the key; this one executed nothing"},
    reprise::detail::error_row{
        .name = "READONLY",
        .safety = retry_safety::yes,
        .fault = failure_fault::server,
        .reason = "a replica refused the write"},
    reprise::detail::error_row{
        .name = "NOREPLICAS",
        .safety = retry_safety::yes,
        .fault = failure_fault::server,
        .reason = "too few replicas; the write was refused"},
    reprise::detail::error_row{
        .name = "MISCONF",
        .safety = retry_safety::yes,
        .fault = failure_fault::server,
        .reason = "the server cannot persist its data; the write was refused"},
    reprise::detail::error_row{
        .name = "OOM",
        .safety = retry_safety::yes,
        .fault = failure_fault::server,
        .reason = "the server is out of memory; the write was refused"},
};

/// The row of an error reply; null if there is none.
[[nodiscard]] constexpr const reprise::detail::error_row* find_redis_row(
    std::string_view message) noexcept {
    for (const reprise::detail::error_row& each : redis_rows) {
        if (message.starts_with(each.name) &&
            (message.size() == each.name.size() || message[each.name.size()] == ' ')) {
            return &each;
        }
    }
    return nullptr;
}

/// What Redis itself answers before a script starts, apart from redirections. A script can end with
/// any other error after it has written something, on its own account or because a command inside
/// it failed; the codes alone are also a script's to choose.
inline constexpr std::array<std::string_view, 10> redis_errors_before_scripts{
    "ERR max number of clients reached",
    "ERR max number of clients + cluster connections reached",
    "LOADING Redis is loading the dataset in memory",
    "LOADING Valkey is loading the dataset in memory",
    "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
    "MASTERDOWN Link with MASTER is down and slave-serve-stale-data is set to 'no'.",
    "MASTERDOWN Link with MASTER is down, replica-serve-stale-data is set to 'no' and "
    "'allow-stale' flag is not set on the script.",
    "CLUSTERDOWN The cluster is down",
    "CLUSTERDOWN The cluster is down and only accepts read commands",
    "CLUSTERDOWN Hash slot not served"};

/// The codes of hiredis, after a command was sent. None is `yes`: the command may be executed.
inline constexpr std::array hiredis_rows{
    reprise::detail::error_row{
        .code = 1,
        .name = "REDIS_ERR_IO",
        .safety = retry_safety::maybe,
        .fault = failure_fault::other},
    reprise::detail::error_row{
        .code = 2,
        .name = "REDIS_ERR_OTHER",
        .safety = retry_safety::maybe,
        .fault = failure_fault::other},
    reprise::detail::error_row{
        .code = 3,
        .name = "REDIS_ERR_EOF",
        .safety = retry_safety::maybe,
        .fault = failure_fault::other},
    reprise::detail::error_row{
        .code = 4,
        .name = "REDIS_ERR_PROTOCOL",
        .safety = retry_safety::maybe,
        .fault = failure_fault::other},
    reprise::detail::error_row{
        .code = 5,
        .name = "REDIS_ERR_OOM",
        .safety = retry_safety::maybe,
        .fault = failure_fault::other},
    reprise::detail::error_row{
        .code = 6,
        .name = "REDIS_ERR_TIMEOUT",
        .safety = retry_safety::maybe,
        .timeout = true,
        .fault = failure_fault::other},
};

/// What Redis puts around a part of a command that it repeats.
inline constexpr std::string_view redis_quotes = "'`\"";

/// Compares a command with a name in capitals.
[[nodiscard]] constexpr bool is_redis_command(
    std::string_view command, std::string_view name) noexcept {
    return std::ranges::equal(command, name, [](char given, char upper) {
        return given == upper || (upper != '_' && given == upper - 'A' + 'a');
    });
}

/// True for commands that run a program on the server, in upper or lower case.
[[nodiscard]] constexpr bool is_redis_script(std::string_view command) noexcept {
    constexpr std::array<std::string_view, 3> scripts{"EVAL", "EVALSHA", "FCALL"};
    return std::ranges::any_of(
        scripts, [command](std::string_view name) { return is_redis_command(command, name); });
}

[[nodiscard]] constexpr bool is_letter_or_digit(char c) noexcept {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/// Where the first quoted part of a text begins. An apostrophe follows a letter.
[[nodiscard]] constexpr std::size_t find_quoted(std::string_view text) noexcept {
    std::size_t at = text.find_first_of(redis_quotes);
    while (at != text.npos && at > 0 && is_letter_or_digit(text[at - 1])) {
        at = text.find_first_of(redis_quotes, at + 1);
    }
    return at;
}

/// What follows the last quoted part of a text that begins with one: a secret may contain quotes
/// itself. Empty if the last one has no end.
[[nodiscard]] constexpr std::string_view after_quoted(std::string_view text) noexcept {
    std::size_t at = text.find_last_of(redis_quotes);
    while (at > 0 && at + 1 < text.size() && is_letter_or_digit(text[at + 1])) {
        at = text.find_last_of(redis_quotes, at - 1);
    }
    return at > 0 ? text.substr(at + 1) : std::string_view();
}

/// "ERR unknown command 'GTE'": a name, and nothing that could be a secret.
[[nodiscard]] constexpr bool is_unknown_redis_command(std::string_view text) noexcept {
    constexpr std::string_view prefix = "ERR unknown command ";
    if (!text.starts_with(prefix) || text.size() < prefix.size() + 2) {
        return false;
    }
    const std::string_view name = text.substr(prefix.size() + 1, text.size() - prefix.size() - 2);
    return redis_quotes.find(text.back()) != redis_quotes.npos &&
           std::ranges::all_of(name, [](char c) {
               return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-';
           });
}

}  // namespace detail

/// An error reply for exceptions and logs: without what Redis quotes, such as keys and parts of
/// ACL rules and scripts, and without the arguments of an unknown command. They may hold secrets.
///
///     ERR unknown subcommand 'secret'.   ->   ERR unknown subcommand '...'.
[[nodiscard]] inline std::string redis_error_text(std::string_view message) {
    message = message.substr(0, message.find(", with args beginning with"));
    const std::size_t quoted = detail::find_quoted(message);
    if (quoted == message.npos || detail::is_unknown_redis_command(message)) {
        return std::string(message);
    }
    return std::string(message.substr(0, quoted))
        .append("'...'")
        .append(detail::after_quoted(message.substr(quoted)));
}

/// A server. With a host that contains a slash, the path of its unix socket; the port is not used.
struct redis_address {
    std::string host = "127.0.0.1";
    int port = 6379;

    friend bool operator==(const redis_address&, const redis_address&) = default;
};

/// The server to which a MOVED or ASK reply sends the command.
struct redis_redirection {
    std::string_view host{};  ///< In the reply. Empty: the host that answered.
    std::uint16_t port = 0;
    bool is_ask = false;  ///< For this command only.
};

/// Reads "MOVED 3999 127.0.0.1:6381". Empty for anything else, and for a host of more than 255
/// characters, one that is a path (no server names a socket of this machine), or a port that is
/// none.
[[nodiscard]] inline std::optional<redis_redirection> parse_redis_redirection(
    std::string_view message) noexcept {
    constexpr std::size_t host_size_max = 255;
    const std::string_view code = redis_error_code(message);
    const std::size_t host = message.rfind(' ') + 1;  // 0 without a space.
    const std::size_t colon = message.rfind(':');
    if ((code != "MOVED" && code != "ASK") || host <= code.size() ||
        colon == std::string_view::npos || colon < host || colon - host > host_size_max) {
        return std::nullopt;
    }
    redis_redirection found{.host = message.substr(host, colon - host), .is_ask = code == "ASK"};
    if (found.host.find('/') != std::string_view::npos) {
        return std::nullopt;
    }
    const char* const end = message.data() + message.size();
    const auto [read, error] = std::from_chars(message.data() + colon + 1, end, found.port);
    const bool is_port = error == std::errc{} && read == end && found.port != 0;
    return is_port ? std::optional(found) : std::nullopt;
}

/// The facts of an error reply to `command`. Redis executes nothing of a command that it refuses.
///
/// ```
/// LOADING, BUSY, MASTERDOWN, TRYAGAIN, CLUSTERDOWN   passes with time: safe
/// MOVED, ASK, READONLY                               another node can do it: safe
/// NOREPLICAS, MISCONF, OOM                           the server lacks something: safe
/// ERR max number of clients ...                      too many connections: safe, throttling
/// others                                             the command's own fault: never
/// ```
///
/// A redirection comes from a cluster that works: a circuit breaker does not count it, nor the
/// command's own faults.
///
/// A script (EVAL, EVALSHA, FCALL) that ends with an error may have written before. It is repeated
/// after the errors that come before it starts (LOADING, MASTERDOWN, CLUSTERDOWN, MOVED, ASK, too
/// many connections, each with the text of Redis itself), and after the others only if you state
/// that it is repeatable.
[[nodiscard]] inline failure_facts redis_reply_facts(
    std::string_view message, std::string_view command = {},
    repeatability stated = repeatability::unspecified) noexcept {
    const auto* const row = detail::find_redis_row(message);
    if (row == nullptr) {
        return {.safety = retry_safety::no, .fault = failure_fault::client};
    }
    failure_facts facts{.safety = row->safety, .throttling = row->throttling, .fault = row->fault};
    const bool is_redirected = parse_redis_redirection(message).has_value();
    if (facts.fault == failure_fault::client && !is_redirected) {
        facts.fault = failure_fault::server;  // A redirection to nowhere.
    }
    const auto& before_scripts = detail::redis_errors_before_scripts;
    if (detail::is_redis_script(command) && !is_redirected &&
        std::ranges::find(before_scripts, message) == before_scripts.end()) {
        facts.safety = stated == repeatability::repeatable ? retry_safety::maybe : retry_safety::no;
    }
    return facts;
}

/// The transaction of a connection, from WATCH or MULTI to EXEC. If the connection is lost inside,
/// nothing is executed on a new one until the program begins again or gives up: a command of it
/// would be executed on its own, and an EXEC without its WATCH.
class redis_transaction {
public:
    /// True for commands that hold for later ones on the same connection.
    [[nodiscard]] static constexpr bool is_begun_by(std::string_view command) noexcept {
        return detail::is_redis_command(command, "WATCH") ||
               detail::is_redis_command(command, "MULTI");
    }
    /// True if the rest of it cannot be executed on another connection.
    [[nodiscard]] constexpr bool has_begun() const noexcept { return is_watching_ || is_multi_; }
    /// True if a command that was sent now is executed by a later EXEC, or not at all if the
    /// connection is lost before.
    [[nodiscard]] constexpr bool is_queueing() const noexcept { return is_multi_; }
    /// Before a command is executed, on a new connection if there is no open one. A MULTI is no
    /// beginning if a WATCH came before it.
    constexpr void prepare(std::string_view command, bool is_open) noexcept {
        const bool is_restart = is_given_up_by(command) ||
                                (is_begun_by(command) && !is_watching_) ||
                                detail::is_redis_command(command, "WATCH");
        if (!is_open && is_restart) {
            *this = {};
        }
    }
    /// The command is sent now. An EXEC whose answer is lost has ended the transaction.
    constexpr void start(std::string_view command) noexcept {
        const bool is_queued = is_multi_ && detail::is_redis_command(command, "UNWATCH");
        if (detail::is_redis_command(command, "EXEC") || (is_given_up_by(command) && !is_queued)) {
            *this = {};
        }
    }
    /// The command has succeeded.
    constexpr void succeed(std::string_view command) noexcept {
        is_watching_ = is_watching_ || detail::is_redis_command(command, "WATCH");
        is_multi_ = is_multi_ || detail::is_redis_command(command, "MULTI");
    }

private:
    [[nodiscard]] static constexpr bool is_given_up_by(std::string_view command) noexcept {
        return detail::is_redis_command(command, "DISCARD") ||
               detail::is_redis_command(command, "UNWATCH") ||
               detail::is_redis_command(command, "RESET");
    }

    bool is_watching_ = false;
    bool is_multi_ = false;
};

/// Finds the server of the next command. MOVED holds for all later commands, until that server
/// cannot be reached. ASK holds only for the same command in the next attempt of the call: the slot
/// still belongs to the server that answered, and the other one serves keys that have not moved yet
/// as if they did not exist.
class redis_route {
public:
    explicit redis_route(redis_address start) : start_(std::move(start)), current_(start_) {}

    /// The server of all commands except one after an ASK.
    [[nodiscard]] const redis_address& current() const noexcept { return current_; }
    /// The server of this command if the previous attempt ended with an ASK to it. Forgets it: one
    /// command. An attempt that does not follow that one, the first of a call above all, ends the
    /// ASK.
    [[nodiscard]] std::optional<redis_address> take_asked(
        std::span<const std::string> words, std::uint32_t attempt_number) {
        if (asked_ && asked_->attempt_number + 1 != attempt_number) {
            asked_.reset();
        }
        if (!asked_ || !std::ranges::equal(asked_->words, words)) {
            return std::nullopt;
        }
        return std::exchange(asked_, std::nullopt)->to;
    }
    /// `from` is the server that answered the command `words`.
    void on_redirection(
        const redis_redirection& to, const redis_address& from, std::span<const std::string> words,
        std::uint32_t attempt_number) {
        redis_address named{to.host.empty() ? from.host : std::string(to.host), to.port};
        if (to.is_ask) {
            asked_ = asked_command{std::move(named), {words.begin(), words.end()}, attempt_number};
        } else {
            current_ = std::move(named);
        }
    }
    /// The current server cannot be reached, or is no primary any more: ask the first one again.
    void on_wrong_server() { current_ = start_; }

private:
    struct asked_command {
        redis_address to;
        std::vector<std::string> words;
        std::uint32_t attempt_number;
    };

    redis_address start_;
    redis_address current_;
    std::optional<asked_command> asked_;
};

/// True for commands that only read, in upper or lower case. A short list: state `repeatable` for
/// others.
[[nodiscard]] constexpr bool is_redis_read(std::string_view command) noexcept {
    constexpr std::array<std::string_view, 21> reads{
        "GET",      "MGET",   "EXISTS",   "TTL",     "PTTL",      "TYPE",   "STRLEN",
        "GETRANGE", "HGET",   "HMGET",    "HGETALL", "HEXISTS",   "HLEN",   "LRANGE",
        "LLEN",     "LINDEX", "SMEMBERS", "SCARD",   "SISMEMBER", "ZRANGE", "PING"};
    return std::ranges::any_of(reads, [command](std::string_view read) {
        return detail::is_redis_command(command, read);
    });
}

}  // namespace reprise::adapters
