#include "output.hpp"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fmt/format.h>

namespace reprise::app {

namespace {

[[nodiscard]] std::string last_error() {
    return std::generic_category().message(errno);
}

}  // namespace

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

void print(std::string_view text) {
    errno = 0;
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
        std::fflush(stdout) != 0) {
        throw failure(fmt::format("cannot write to standard output: {}", last_error()));
    }
}

void write_file(const std::string& path, std::string_view content) {
    errno = 0;
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) {
        throw failure(fmt::format("cannot write {}: {}", path, last_error()));
    }
    const bool written = std::fwrite(content.data(), 1, content.size(), file) == content.size();
    const bool closed = std::fclose(file) == 0;
    if (!written || !closed) {
        throw failure(fmt::format("cannot write {}: {}", path, last_error()));
    }
}

}  // namespace reprise::app
