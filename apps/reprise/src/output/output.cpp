#include "output/output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <system_error>

#include <fmt/format.h>

#include <reprise/base/printable.hpp>

namespace reprise::app {

namespace {

[[nodiscard]] std::string last_error() {
    return std::generic_category().message(errno);
}

/// Returns 0, or the error that stopped the write.
[[nodiscard]] int write_all(int file, std::string_view content) noexcept {
    while (!content.empty()) {
        const ssize_t size = ::write(file, content.data(), content.size());
        if (size < 0 && errno != EINTR) {
            return errno;
        }
        content.remove_prefix(size < 0 ? 0 : static_cast<std::size_t>(size));
    }
    return 0;
}

/// Colours are for terminals; NO_COLOR with any value but an empty one turns them off.
[[nodiscard]] bool shows_colours(int stream) noexcept {
    const char* const none = std::getenv("NO_COLOR");
    const char* const terminal = std::getenv("TERM");
    return (none == nullptr || *none == '\0') && terminal != nullptr &&
           std::string_view(terminal) != "dumb" && ::isatty(stream) == 1;
}

}  // namespace

void prepare_output() noexcept {
    std::signal(SIGPIPE, SIG_IGN);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (::fcntl(stream, F_GETFD) == -1 && errno == EBADF) {
            // Opened for the opposite direction, so that using the stream still fails.
            ::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}

std::string wrap(std::string_view text, std::size_t width) {
    std::string lines;
    std::size_t column = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (column > 0 && column + 1 + end > width) {
            lines += '\n';
            column = 0;
        } else if (column > 0) {
            lines += ' ';
            ++column;
        }
        lines.append(text.substr(0, end));
        column += end;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines + '\n';
}

namespace {

// The only ways out of the program; see tests/rules.
void write_out(std::string_view text) {
    errno = 0;
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
        std::fflush(stdout) != 0) {
        throw failure(
            fmt::format("cannot write to standard output: {}", last_error()),
            exit_code::output_failed);
    }
}

void write_aside(std::string_view text) noexcept {
    // Unbuffered; the stream remembers a failure.
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

}  // namespace

void print(std::string_view text) {
    write_out(base::printable_page(text));
}

void print_document(std::string_view bytes) {
    if (::isatty(STDOUT_FILENO) == 1) {
        print(bytes);
    } else {
        write_out(bytes);
    }
}

void print_control(std::string_view sequence) {
    write_out(sequence);
}

namespace {

void write_line_aside(std::string_view start, std::string_view text) noexcept {
    ::flockfile(stderr);  // keep the line together while other threads write
    write_aside(start);
    print_aside(text);
    write_aside("\n");
    ::funlockfile(stderr);
}

}  // namespace

void complain(std::string_view text) noexcept {
    write_line_aside(
        shows_colours(STDERR_FILENO) ? "\x1b[1;31mreprise:\x1b[0m " : "reprise: ", text);
}

void notify(std::string_view text) noexcept {
    write_line_aside("note: ", text);
}

void print_aside(std::string_view text) noexcept {
    try {
        write_aside(base::printable_page(text));
    } catch (const std::bad_alloc&) {
        write_aside("out of memory");
    }
}

void rewind_aside() noexcept {
    write_aside("\r");
}

bool has_output_failed() noexcept {
    return std::fflush(stdout) != 0 || std::ferror(stdout) != 0 || std::ferror(stderr) != 0;
}

void write_file(const std::string& path, std::string_view content, file_choice chosen) {
    const int links = chosen == file_choice::by_us ? O_NOFOLLOW : 0;
    const int file =
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | links, mode_t{0666});
    if (file < 0) {
        throw failure(fmt::format(
            "cannot write {}: {}", path,
            links != 0 && errno == ELOOP ? "it is a symbolic link" : last_error()));
    }
    const int trouble = write_all(file, content);
    const int closing = ::close(file) == 0 ? 0 : errno;
    if (trouble != 0 || closing != 0) {
        throw failure(fmt::format(
            "cannot write {}: {}", path,
            std::generic_category().message(trouble != 0 ? trouble : closing)));
    }
}

}  // namespace reprise::app
