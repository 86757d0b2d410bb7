#pragma once

/// How the program speaks: results on standard output, trouble on standard error. Neither a full
/// disk nor a closed pipe ends the program by a signal or goes unnoticed.

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include "output/exit_code.hpp"

namespace reprise::app {

/// The command line was wrong. The message names the option.
class usage_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Something outside failed, e.g. a file could not be written.
class failure : public std::runtime_error {
public:
    explicit failure(const std::string& message, exit_code code = exit_code::failed)
        : std::runtime_error(message), code_(code) {}
    [[nodiscard]] exit_code code() const noexcept { return code_; }

private:
    exit_code code_;
};

/// Ends the program with this code; everything has been said.
class exit_request {
public:
    explicit exit_request(exit_code code) noexcept : code_(static_cast<int>(code)) {}
    /// For the exit status of a command that `sandbox run` started.
    explicit exit_request(int status) noexcept : code_(status) {}
    [[nodiscard]] int code() const noexcept { return code_; }

private:
    int code_;
};

/// Before anything else: makes sure that no socket gets the number of a standard stream that is
/// closed (text would go there), and that a closed pipe is an error rather than a signal.
void prepare_output() noexcept;

/// Breaks `text` into lines of at most `width` columns at spaces; each line ends in a newline.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t width = 96);

/// Writes to standard output. Throws `failure` with `exit_code::output_failed` when that is not
/// possible.
void print(std::string_view text);

/// "reprise: " and `text` as a line on standard error. What cannot be written is remembered, see
/// `has_output_failed`.
void complain(std::string_view text) noexcept;

/// Any text on standard error, as it is; otherwise like `complain`.
void print_aside(std::string_view text) noexcept;

/// True if something written to either stream so far did not get there.
[[nodiscard]] bool has_output_failed() noexcept;

enum class file_choice : std::uint8_t {
    by_user,  ///< The user named the file: links and devices are followed.
    by_us,    ///< The name is ours: a symbolic link of that name is somebody's trap, and refused.
};

/// Writes a whole file. Throws `failure` with the system's reason.
void write_file(const std::string& path, std::string_view content, file_choice chosen);

}  // namespace reprise::app
