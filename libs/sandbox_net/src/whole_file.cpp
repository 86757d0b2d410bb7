#include "whole_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

namespace reprise::sandbox::detail {

namespace {

std::unexpected<std::string> file_failure(const std::string& path, int error) {
    return std::unexpected("cannot write " + path + ": " + std::generic_category().message(error));
}

// 0, or why not everything was written.
int write_all(int file, std::string_view content) noexcept {
    while (!content.empty()) {
        const ssize_t size = ::write(file, content.data(), content.size());
        if (size < 0 && errno != EINTR) {
            return errno;
        }
        content.remove_prefix(size < 0 ? 0 : static_cast<std::size_t>(size));
    }
    return 0;
}

}  // namespace

std::expected<void, std::string> write_whole_file(
    const std::string& path, std::string_view content, mode_t mode) {
    const std::string draft = path + "." + std::to_string(::getpid()) + ".part";
    const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
    if (file < 0) {
        return file_failure(path, errno);
    }
    int error = write_all(file, content);
    if (::close(file) != 0 && error == 0) {
        error = errno;
    }
    if (error == 0 && std::rename(draft.c_str(), path.c_str()) != 0) {
        error = errno;
    }
    if (error != 0) {
        ::unlink(draft.c_str());
        return file_failure(path, error);
    }
    return {};
}

}  // namespace reprise::sandbox::detail
