/// `reprise sandbox run -- COMMAND`: a cluster that runs as long as one program.

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <reprise/base/percent_encoding.hpp>

#include "interrupt.hpp"
#include "output/output.hpp"
#include "sandbox/start.hpp"

namespace reprise::app {

namespace {

// The convention of shells.
constexpr int exit_signal_base = 128;

struct sandbox_run_options {
    sandbox_start_options start;
    std::vector<std::string> command;
    bool is_json = false;
};

/// Our environment with the variables that lead to the sandbox. They replace ours.
[[nodiscard]] std::vector<std::string> make_environment(
    const sandbox_start_options& typed, const sandbox::server_addresses& at) {
    std::vector<std::string> environment;
    for (char** each = ::environ; *each != nullptr; ++each) {
        const std::string_view name =
            std::string_view(*each).substr(0, std::string_view(*each).find('='));
        if (name != "REPRISE_CONNECT" && name != "REPRISE_CA_FILE" && name != "REPRISE_USERNAME" &&
            name != "REPRISE_PASSWORD") {
            environment.emplace_back(*each);
        }
    }
    environment.push_back("REPRISE_USERNAME=" + typed.user);
    environment.push_back("REPRISE_PASSWORD=" + typed.password);
    if (at.connection_string_tls.empty()) {
        environment.push_back("REPRISE_CONNECT=" + at.connection_string);
        return environment;
    }
    environment.push_back("REPRISE_CA_FILE=" + at.ca_path);
    environment.push_back(
        "REPRISE_CONNECT=" + at.connection_string_tls +
        "?trust_certificate=" + base::percent_encode(at.ca_path, "/"));
    return environment;
}

/// The descriptors that are open now.
[[nodiscard]] std::set<int> list_descriptors() {
    std::set<int> open;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
        open.insert(std::stoi(each.path().filename().string()));
    }
    return open;
}

/// The command gets the descriptors that the shell gave us, but not the sandbox's sockets:
/// otherwise a process that it leaves behind would keep the ports open.
void keep_from_command(const std::set<int>& inherited) {
    for (const int each : list_descriptors()) {
        if (!inherited.contains(each)) {
            ::fcntl(each, F_SETFD, FD_CLOEXEC);  // fails for the directory's own descriptor, which
                                                 // is already closed
        }
    }
}

/// The argument vector for exec. `texts` must outlive it.
[[nodiscard]] std::vector<char*> to_pointers(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (std::string& each : texts) {
        pointers.push_back(each.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

/// Whether a terminal sends its signals (Ctrl-C, Ctrl-Z) to us and everything we start.
[[nodiscard]] bool is_in_foreground() {
    const int terminal = ::open("/dev/tty", O_RDONLY | O_CLOEXEC);
    if (terminal < 0) {
        return false;
    }
    const pid_t group = ::tcgetpgrp(terminal);
    ::close(terminal);
    return group == ::getpgrp();
}

/// Runs in the child and sets what exec cannot. Uses only calls that are allowed after a fork.
void become_command(
    const std::vector<char*>& command, const std::vector<char*>& environment, bool has_own_group,
    pid_t parent, int trouble_pipe) noexcept {
    if (has_own_group) {
        ::setpgid(0, 0);
    }
    // If we are killed by SIGKILL we cannot forward anything, so the kernel does it.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    sigset_t none;
    sigemptyset(&none);
    for (const int number : {SIGPIPE, SIGCHLD, SIGINT, SIGTERM, SIGQUIT}) {
        ::signal(number, SIG_DFL);
    }
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (::getppid() == parent) {
        ::execvpe(command.front(), command.data(), environment.data());
    }
    const int problem = errno;
    static_cast<void>(::write(trouble_pipe, &problem, sizeof problem) == 0);
    ::_exit(static_cast<int>(exit_code::not_started));
}

[[noreturn]] void fail_to_start(const std::string& command, int problem) {
    throw failure(
        fmt::format("{} cannot be started: {}", command, std::generic_category().message(problem)),
        exit_code::not_started);
}

/// Returns once the command is running. Throws `failure` if it cannot be started.
[[nodiscard]] pid_t start_command(
    std::vector<std::string> command, std::vector<std::string> environment, bool has_own_group) {
    const std::vector<char*> words = to_pointers(command);
    const std::vector<char*> variables = to_pointers(environment);
    // A successful exec closes it; otherwise it carries the reason.
    std::array<int, 2> trouble{};
    if (::pipe2(trouble.data(), O_CLOEXEC) != 0) {
        fail_to_start(command.front(), errno);
    }
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child == 0) {
        become_command(words, variables, has_own_group, parent, trouble[1]);
    }
    const int fork_problem = errno;
    ::close(trouble[1]);
    int problem = 0;
    const bool has_failed =
        child > 0 && ::read(trouble[0], &problem, sizeof problem) == ssize_t{sizeof problem};
    ::close(trouble[0]);
    if (child < 0) {
        fail_to_start(command.front(), fork_problem);
    }
    if (has_failed) {
        ::waitpid(child, nullptr, 0);
        fail_to_start(command.front(), problem);
    }
    return child;
}

/// Serves until the command ends, forwards signals to it, and returns its exit code.
class command_watch {
public:
    /// Create it before starting the command, so that its end is not missed.
    explicit command_watch(boost::asio::io_context& io)
        : io_(io), signals_(io, SIGCHLD, SIGINT, SIGTERM), rest_timer_(io) {
        signals_.add(SIGQUIT);
        if (!is_hangup_ignored()) {
            signals_.add(SIGHUP);
        }
        // Processes that the command leaves behind become our children, so that we see them end.
        ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    }

    /// `has_own_group`: the command leads a process group, which gets all signals and of which
    /// nothing is left behind. Otherwise the command is in our group, and a terminal signals it,
    /// too.
    [[nodiscard]] int wait_for(pid_t child, bool has_own_group) {
        child_ = child;
        has_own_group_ = has_own_group;
        watch();
        io_.run();
        return exit_code_;
    }

private:
    static constexpr std::chrono::milliseconds rest_interval{20};
    static constexpr int rest_polls_max = 100;

    void watch() {
        signals_.async_wait([this](const boost::system::error_code& ec, int number) {
            if (!ec) {
                on_signal(number);
            }
        });
    }
    void on_signal(int number) {
        const bool is_from_terminal = !has_own_group_ && (number == SIGINT || number == SIGQUIT);
        if (number != SIGCHLD && !is_from_terminal) {
            ::kill(has_own_group_ ? -child_ : child_, number);
        }
        int status = 0;
        if (is_ended_ || ::waitpid(child_, &status, WNOHANG) != child_) {
            watch();
            return;
        }
        is_ended_ = true;
        exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : exit_signal_base + WTERMSIG(status);
        if (has_own_group_ && ::kill(-child_, SIGTERM) == 0) {
            watch();
            wait_for_rest();
        } else {
            io_.stop();
        }
    }
    /// The processes that the command left behind have been asked to end; they get two seconds.
    void wait_for_rest() {
        while (::waitpid(-child_, nullptr, WNOHANG) > 0) {
        }
        if (::kill(-child_, rest_polls_ < rest_polls_max ? 0 : SIGKILL) != 0 ||
            rest_polls_ == rest_polls_max) {
            io_.stop();
            return;
        }
        ++rest_polls_;
        rest_timer_.expires_after(rest_interval);
        rest_timer_.async_wait([this](const boost::system::error_code& ec) {
            if (!ec) {
                wait_for_rest();
            }
        });
    }

    boost::asio::io_context& io_;
    boost::asio::signal_set signals_;
    boost::asio::steady_timer rest_timer_;
    int rest_polls_ = 0;
    pid_t child_ = 0;
    bool has_own_group_ = false;
    bool is_ended_ = false;
    int exit_code_ = 0;
};

void run_with_sandbox(const sandbox_run_options& typed) {
    const std::set<int> inherited = list_descriptors();
    boost::asio::io_context io(1);
    command_watch watch(io);
    int code = 0;
    {
        running_sandbox running(io, typed.start);
        keep_from_command(inherited);
        const bool has_own_group = !is_in_foreground();
        const pid_t child = start_command(
            typed.command, make_environment(typed.start, running.addresses()), has_own_group);
        code = watch.wait_for(child, has_own_group);
        running.stop();
    }
    throw exit_request(code);
}

}  // namespace

void add_sandbox_run_command(CLI::App& sandbox) {
    CLI::App* run = sandbox.add_subcommand("run", "Run a command with its own cluster");
    const auto typed = std::make_shared<sandbox_run_options>();
    add_sandbox_options(*run, typed->start);
    run->add_option("command", typed->command, "The program and its arguments, after --")
        ->required();
    run->add_flag(
        "--json", typed->is_json,
        "Print errors of reprise as JSON on standard output; the command's output is unchanged");
    run->footer(
        "The environment of the command contains:\n"
        "  REPRISE_CONNECT    connection string; with --tls it uses TLS and names the CA\n"
        "  REPRISE_CA_FILE    the certificate to trust, only with --tls\n"
        "  REPRISE_USERNAME, REPRISE_PASSWORD\n"
        "The cluster ends with the command. SIGINT, SIGTERM, SIGHUP and SIGQUIT are forwarded to\n"
        "the command and the processes it started, and none of them is left behind.\n"
        "\n"
        "The exit code is that of the command, or 128 plus the number of the signal that ended "
        "it;\n"
        "otherwise one of these:\n" +
        exit_code_help({exit_code::not_started}) +
        "\nExamples:\n"
        "  reprise sandbox run --bucket travel -- ./store_and_read\n"
        "  reprise sandbox run -- reprise upsert k '{\"a\": 1}'\n"
        "  reprise sandbox run --nodes 1 --replicas 0 --tls -- sh -c 'echo $REPRISE_CONNECT'");
    run->callback([typed] { run_with_sandbox(*typed); });
}

}  // namespace reprise::app
