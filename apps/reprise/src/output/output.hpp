#pragma once

/// The program's output: results on standard output, problems on standard error. A full disk or a
/// closed pipe neither kills the program nor goes unnoticed.

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

/// Something outside of the program failed, for example writing a file.
class failure : public std::runtime_error {
public:
    explicit failure(const std::string& message, exit_code code = exit_code::failed)
        : std::runtime_error(message), code_(code) {}
    [[nodiscard]] exit_code code() const noexcept { return code_; }

private:
    exit_code code_;
};

/// Ends the program with this code. Everything has been printed.
class exit_request {
public:
    explicit exit_request(exit_code code) noexcept : code_(static_cast<int>(code)) {}
    /// The exit status of a command that `sandbox run` started.
    explicit exit_request(int status) noexcept : code_(status) {}
    [[nodiscard]] int code() const noexcept { return code_; }

private:
    int code_;
};

/// Call it before anything else. It makes sure that no socket gets the number of a closed standard
/// stream (which would receive our text), and that a closed pipe is an error rather than a signal.
void prepare_output() noexcept;

/// Breaks `text` at spaces into lines of at most `width` columns; each line ends in a newline.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t width = 96);

/// Writes text or JSON to standard output. What it quotes may come from a server, so every control
/// character but newline and tab is escaped (base::printable_page). Throws `failure` with
/// `exit_code::output_failed` if that fails.
void print(std::string_view text);

/// Writes a document or rows to standard output: unchanged, or like `print` on a terminal.
void print_document(std::string_view bytes);

/// Writes to standard output what moves the cursor. Never pass it a server's text.
void print_control(std::string_view sequence);

/// Writes "reprise: " and `text` as a line to standard error, the name in red on a terminal unless
/// NO_COLOR is set. Records a failure to write; see `has_output_failed`.
void complain(std::string_view text) noexcept;

/// Writes "note: " and `text` as a line to standard error: something to know, not a failure.
void notify(std::string_view text) noexcept;

/// Writes `text` to standard error, escaped as by `print`; otherwise like `complain`.
void print_aside(std::string_view text) noexcept;

/// Returns to the start of the line on standard error.
void rewind_aside() noexcept;

/// Whether any output to either stream was lost.
[[nodiscard]] bool has_output_failed() noexcept;

enum class file_choice : std::uint8_t {
    by_user,  ///< The user chose the name: links and devices are followed.
    by_us,    ///< The program chose the name: a symbolic link with that name may be an attack and
              ///< is refused.
};

/// Writes a whole file. Throws `failure` with the system's reason.
void write_file(const std::string& path, std::string_view content, file_choice chosen);

}  // namespace reprise::app
