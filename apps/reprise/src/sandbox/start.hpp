#pragma once

/// A sandbox in this process: its options and its lifetime, for the commands `start` and `run`.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>

#include <reprise/sandbox_net/server.hpp>

namespace reprise::app {

struct sandbox_start_options {
    std::size_t nodes = 4;
    std::size_t replicas = 1;
    std::vector<std::string> server_groups;
    std::vector<std::string> buckets{"travel"};
    std::string user = "app";
    std::string password = "secret";
    std::vector<std::string> collections;
    std::uint32_t scram_iterations = 4096;
    std::uint64_t seed = 1;
    std::vector<std::string> services;
    bool tls = false;
    bool client_certificates = false;
    std::string certificate = "good";
    std::string ca_file;
    std::uint16_t port = 0;
    std::string ready_file;
    bool has_console = false;  ///< Serve the console on the control port.
};

/// Adds `--nodes`, `--bucket`, ... to a command.
void add_sandbox_options(CLI::App& command, sandbox_start_options& options);

/// A sandbox on the caller's io_context, with a ready file if requested. The destructor removes the
/// file.
class running_sandbox {
public:
    /// Listens when it returns. Throws `usage_error` naming an option, or `failure`.
    running_sandbox(boost::asio::io_context& io, const sandbox_start_options& options);
    running_sandbox(const running_sandbox&) = delete;
    running_sandbox& operator=(const running_sandbox&) = delete;
    ~running_sandbox();

    [[nodiscard]] const sandbox::server_addresses& addresses() const noexcept {
        return front_.addresses();
    }
    void stop() noexcept { front_.stop(); }

private:
    sandbox::server front_;
    std::string ready_file_;
};

/// Adds `run` below `reprise sandbox`.
void add_sandbox_run_command(CLI::App& sandbox);

}  // namespace reprise::app
