#pragma once

/// The exit codes of all commands. `exit_code_table` is the only list: the help pages, the command
/// `exit-codes` and the tests use it.

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace reprise::app {

enum class exit_code : int {
    done = 0,
    failed = 1,         ///< Valid but not carried out; or a check, audit or promise failed.
    wrong_usage = 2,    ///< The command line is invalid; nothing was done.
    not_found = 3,      ///< No such document, scope, collection, index, view, ...
    conflict = 4,       ///< It already exists, or its CAS does not match.
    timeout = 5,        ///< Not done in time.
    no_access = 6,      ///< Wrong password, TLS failure, no such bucket or no access to it.
    server_error = 7,   ///< Any other error that the server reported.
    output_failed = 8,  ///< Standard output or standard error could not be written.
    not_started = 127,  ///< `sandbox run`: the command could not be started.
    interrupted = 130,  ///< Interrupted by SIGINT; the results so far were printed.
    terminated = 143,   ///< Interrupted by SIGTERM; the results so far were printed.
};

struct exit_code_facts {
    exit_code code;
    std::string_view name;     ///< As used in JSON.
    std::string_view meaning;  ///< One line for people.
};

/// In ascending order.
[[nodiscard]] std::span<const exit_code_facts> exit_code_table() noexcept;
[[nodiscard]] std::string_view to_string(exit_code code) noexcept;

/// "Exit codes:" and a line for each of `codes`, for the end of a help page. 0, 1, 2 and 8 apply to
/// every command and need not be passed.
[[nodiscard]] std::string exit_code_help(std::initializer_list<exit_code> codes = {});

/// The code for a command that ended because of signal `number` (SIGINT or SIGTERM).
[[nodiscard]] exit_code exit_code_of_signal(int number) noexcept;

}  // namespace reprise::app
