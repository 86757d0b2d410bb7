#pragma once

/// A server that a test starts for itself: a child process and a temporary folder, both gone when
/// the object is. The kernel ends the child if the test ends first.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace adapters {

class temporary_folder {
public:
    temporary_folder() {
        std::string name = (std::filesystem::temp_directory_path() / "adapter.XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) {
            throw std::runtime_error("no temporary folder");
        }
        path_ = name;
    }
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;
    ~temporary_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    std::filesystem::path path_;
};

/// Starts `command` with its output appended to `log`. Returns its process id.
inline pid_t start_process(std::vector<std::string> command, const std::string& log) {
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child != 0) {
        if (child < 0) {
            throw std::runtime_error("cannot fork");
        }
        return child;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int output = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (::getppid() != parent || ::dup2(output, STDOUT_FILENO) < 0 ||
        ::dup2(output, STDERR_FILENO) < 0) {
        ::_exit(126);
    }
    std::vector<char*> words;
    for (std::string& word : command) {
        words.push_back(word.data());
    }
    words.push_back(nullptr);
    ::execvp(words[0], words.data());
    ::_exit(127);
}

/// Waits until the process has ended; returns its exit code, or -1 if a signal ended it.
inline int wait_for_process(pid_t process) {
    int status = 0;
    while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// A server that can be stopped by a signal and started again.
class server_process {
public:
    /// `end_signal` ends the server together with this object.
    server_process(std::vector<std::string> command, std::string log, int end_signal)
        : command_(std::move(command)), log_(std::move(log)), end_signal_(end_signal) {}
    server_process(const server_process&) = delete;
    server_process& operator=(const server_process&) = delete;
    ~server_process() { stop(end_signal_); }

    void start() { process_ = start_process(command_, log_); }
    void stop(int signal) {
        if (process_ > 0) {
            ::kill(process_, signal);
            wait_for_process(std::exchange(process_, -1));
        }
    }

private:
    std::vector<std::string> command_;
    std::string log_;
    int end_signal_;
    pid_t process_ = -1;
};

/// Tries until `ready()` is true; false after 30 seconds.
template <class Ready>
[[nodiscard]] bool becomes_ready(Ready ready) {
    for (int tries = 0; tries < 600; ++tries) {
        if (ready()) {
            return true;
        }
        ::poll(nullptr, 0, 50);
    }
    return false;
}

}  // namespace adapters
