/// `reprise sandbox run -- COMMAND`: a cluster that lives as long as one program.

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

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

#include "output.hpp"
#include "sandbox_start.hpp"

namespace reprise::app {

namespace {

// As shells have them.
constexpr int exit_not_started = 127;
constexpr int exit_signal_base = 128;

struct sandbox_run_options {
    sandbox_start_options start;
    std::vector<std::string> command;
};

/// For the value of a connection string's parameter.
[[nodiscard]] std::string percent_encoded(std::string_view text) {
    std::string out;
    for (const char each : text) {
        const bool is_plain = (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') ||
                              (each >= '0' && each <= '9') ||
                              std::string_view("/._-").contains(each);
        out += is_plain ? std::string(1, each)
                        : fmt::format("%{:02X}", static_cast<unsigned char>(each));
    }
    return out;
}

/// Our environment, and how to get into the sandbox. Ours is left out where it says something else.
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
        "?trust_certificate=" + percent_encoded(at.ca_path));
    return environment;
}

/// Descriptors open now.
[[nodiscard]] std::set<int> list_descriptors() {
    std::set<int> open;
    for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
        open.insert(std::stoi(each.path().filename().string()));
    }
    return open;
}

/// The command gets what the shell gave us, not the sandbox's sockets: a program that it leaves
/// behind would keep the ports.
void keep_from_command(const std::set<int>& inherited) {
    for (const int each : list_descriptors()) {
        if (!inherited.contains(each)) {
            ::fcntl(each, F_SETFD, FD_CLOEXEC);  // fails for the list's own, which is closed
        }
    }
}

/// What exec wants: the texts must outlive it.
[[nodiscard]] std::vector<char*> to_pointers(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (std::string& each : texts) {
        pointers.push_back(each.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

[[nodiscard]] pid_t start_command(
    std::vector<std::string> command, std::vector<std::string> environment) {
    pid_t child = 0;
    const int problem = ::posix_spawnp(
        &child, command.front().c_str(), nullptr, nullptr, to_pointers(command).data(),
        to_pointers(environment).data());
    if (problem != 0) {
        fmt::print(
            stderr, "reprise: {} cannot be started: {}\n", command.front(),
            std::generic_category().message(problem));
        throw exit_request(exit_not_started);
    }
    return child;
}

/// Serves until the command ends, and answers with its exit code.
class command_watch {
public:
    /// Before the command is started, so that its end is not missed.
    explicit command_watch(boost::asio::io_context& io)
        : io_(io), signals_(io, SIGCHLD, SIGINT, SIGTERM) {}

    [[nodiscard]] int wait_for(pid_t child) {
        child_ = child;
        watch();
        io_.run();
        return exit_code_;
    }

private:
    void watch() {
        signals_.async_wait([this](const boost::system::error_code& ec, int number) {
            if (!ec) {
                on_signal(number);
            }
        });
    }
    /// Ctrl-C reaches the command from the terminal as well: it decides what comes of it.
    void on_signal(int number) {
        if (number == SIGTERM) {
            ::kill(child_, SIGTERM);
        }
        int status = 0;
        if (::waitpid(child_, &status, WNOHANG) != child_) {
            watch();
            return;
        }
        exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : exit_signal_base + WTERMSIG(status);
        io_.stop();
    }

    boost::asio::io_context& io_;
    boost::asio::signal_set signals_;
    pid_t child_ = 0;
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
        const pid_t child =
            start_command(typed.command, make_environment(typed.start, running.addresses()));
        code = watch.wait_for(child);
        running.stop();
    }
    throw exit_request(code);
}

}  // namespace

void add_sandbox_run_command(CLI::App& sandbox) {
    CLI::App* run = sandbox.add_subcommand("run", "Runs a command with a cluster of its own");
    const auto typed = std::make_shared<sandbox_run_options>();
    add_sandbox_options(*run, typed->start);
    run->add_option("command", typed->command, "The program and its arguments, after --")
        ->required();
    run->footer(
        "The command finds in its environment:\n"
        "  REPRISE_CONNECT    connection string; with --tls it is over TLS and names the CA\n"
        "  REPRISE_CA_FILE    certificate to trust, only with --tls\n"
        "  REPRISE_USERNAME, REPRISE_PASSWORD\n"
        "The cluster is gone when it ends.\n"
        "\n"
        "Exit codes: those of the command; 128 and the number of the signal that ended it; 127 if\n"
        "it cannot be started; 1 if the sandbox cannot; 2 wrong usage.\n"
        "\n"
        "Examples:\n"
        "  reprise sandbox run --bucket travel -- ./store_and_read\n"
        "  reprise sandbox run --nodes 1 --replicas 0 --tls -- sh -c 'echo $REPRISE_CONNECT'");
    run->callback([typed] { run_with_sandbox(*typed); });
}

}  // namespace reprise::app
