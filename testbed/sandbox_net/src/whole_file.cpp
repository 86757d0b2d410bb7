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

// Returns 0, or the error that stopped the write.
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

struct draft_file {
    std::string path;
    int file = -1;
};

// Creates a new file next to `path` and never opens an existing one: in a folder that others can
// write to, a link with that name would lead elsewhere. `file` is negative on failure; see errno.
draft_file open_draft(const std::string& path, mode_t mode) {
    constexpr int try_count_max = 100;  // drafts that an earlier process with the same id left
                                        // behind
    draft_file draft;
    for (int i = 0; i < try_count_max; ++i) {
        draft.path = path + "." + std::to_string(::getpid()) + "-" + std::to_string(i) + ".part";
        draft.file =
            ::open(draft.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (draft.file >= 0 || errno != EEXIST) {
            break;
        }
    }
    return draft;
}

// Writes a draft, then moves it to its place with `place`, which returns 0 on success.
template <class Place>
std::expected<void, std::string> write_and_place(
    const std::string& path, std::string_view content, mode_t mode, Place place) {
    const auto [draft, file] = open_draft(path, mode);
    if (file < 0) {
        return file_failure(path, errno);
    }
    int error = write_all(file, content);
    if (::close(file) != 0 && error == 0) {
        error = errno;
    }
    if (error == 0 && place(draft.c_str(), path.c_str()) != 0) {
        error = errno;
    }
    if (error != 0) {
        ::unlink(draft.c_str());
        return file_failure(path, error);
    }
    return {};
}

}  // namespace

std::expected<void, std::string> write_whole_file(
    const std::string& path, std::string_view content, mode_t mode) {
    return write_and_place(path, content, mode, &std::rename);
}

std::expected<void, std::string> write_new_file(
    const std::string& path, std::string_view content, mode_t mode) {
    // A link, unlike a rename, does not replace what is there.
    return write_and_place(path, content, mode, [](const char* draft, const char* wanted) {
        return ::link(draft, wanted) == 0 ? ::unlink(draft) : -1;
    });
}

}  // namespace reprise::sandbox::detail
