#pragma once

/// How the program speaks: results on standard output, trouble on standard error, exit codes.

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>

namespace reprise::app {

enum class exit_code : int {
    ok = 0,
    failed = 1,       ///< The command was understood but could not be carried out.
    wrong_usage = 2,  ///< The command line makes no sense; nothing was done.
};

/// The command line was wrong. The message names the option.
class usage_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Something outside failed, e.g. a file could not be written.
class failure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Ends the program with a code of the command's own; everything has been said.
class exit_request {
public:
    explicit exit_request(int code) noexcept : code_(code) {}
    [[nodiscard]] int code() const noexcept { return code_; }

private:
    int code_;
};

/// Breaks `text` into lines of at most `width` columns at spaces; each line ends in a newline.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t width = 96);

/// Writes to standard output. Throws `failure` when that is not possible.
void print(std::string_view text);

/// Writes a whole file. Throws `failure` with the system's reason.
void write_file(const std::string& path, std::string_view content);

}  // namespace reprise::app
