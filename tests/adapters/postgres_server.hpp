#pragma once

/// A PostgreSQL server of a test's own, on a unix socket in a temporary folder.

#include <pwd.h>

#include <fstream>
#include <iterator>

#include <libpq-fe.h>

#include "server_process.hpp"

namespace adapters {

class postgres_server {
public:
    explicit postgres_server(int connections_max = 40)
        : programs_(find_programs()),
          process_(
              as_owner(
                  {programs_ + "/postgres", "-D", data(), "-k", folder(), "-c",
                   "listen_addresses=", "-c", "max_connections=" + std::to_string(connections_max),
                   "-c", "superuser_reserved_connections=1", "-c", "shared_buffers=16MB", "-c",
                   "client_min_messages=error"}),
              folder() + "/log", SIGQUIT) {  // Waits for the processes of its own.
        if (::geteuid() == 0 && ::chown(folder().c_str(), owner().pw_uid, owner().pw_gid) != 0) {
            throw std::runtime_error("cannot give the folder to the server's user");
        }
        const pid_t init = start_process(
            as_owner(
                {programs_ + "/initdb", "-D", data(), "-U", "app", "-A", "trust", "-N",
                 "--no-instructions"}),
            folder() + "/log");
        if (wait_for_process(init) != 0) {
            throw std::runtime_error("initdb failed: " + log());
        }
        start();
    }

    void start() {
        process_.start();
        if (!becomes_ready([&] { return PQping(parameters().c_str()) == PQPING_OK; })) {
            throw std::runtime_error("the server did not start: " + log());
        }
    }
    /// SIGINT: fast shutdown. SIGQUIT: as a crash, the next start recovers.
    void restart(int signal) {
        process_.stop(signal);
        start();
    }
    /// From now on it only reads, and waits for a primary that it does not have.
    void restart_as_standby() {
        process_.stop(SIGINT);
        std::ofstream(data() + "/standby.signal");
        start();
    }
    [[nodiscard]] std::string parameters() const {
        return "host=" + folder() + " user=app dbname=postgres";
    }

private:
    [[nodiscard]] std::string folder() const { return folder_.path().string(); }
    [[nodiscard]] std::string data() const { return folder() + "/data"; }
    [[nodiscard]] std::string log() const {
        std::ifstream file(folder() + "/log");
        return {std::istreambuf_iterator<char>(file), {}};
    }
    [[nodiscard]] static std::string find_programs() {
        for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql")) {
            if (std::filesystem::exists(version.path() / "bin/postgres")) {
                return (version.path() / "bin").string();
            }
        }
        throw std::runtime_error("no PostgreSQL server is installed");
    }
    [[nodiscard]] static const passwd& owner() {
        const passwd* const found = ::getpwnam("postgres");
        if (found == nullptr) {
            throw std::runtime_error("no user postgres");
        }
        return *found;
    }
    /// The server refuses to run as root. Changing the user clears the death signal, so it is set
    /// again afterwards.
    [[nodiscard]] static std::vector<std::string> as_owner(std::vector<std::string> command) {
        if (::geteuid() != 0) {
            return command;
        }
        std::vector<std::string> words{"setpriv",        "--reuid=postgres", "--regid=postgres",
                                       "--clear-groups", "--pdeathsig",      "KILL"};
        words.insert(words.end(), command.begin(), command.end());
        return words;
    }

    temporary_folder folder_;
    std::string programs_;
    server_process process_;
};

}  // namespace adapters
