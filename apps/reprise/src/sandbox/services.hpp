#pragma once

/// Disturbing the HTTP services of a running sandbox, and showing what they did.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "sandbox/call.hpp"

namespace reprise::app {

/// Adds `service` and `forget-prepared` below `reprise sandbox fault`.
void add_sandbox_service_commands(CLI::App& fault);

/// Selects HTTP requests in the audit.
struct service_audit_options {
    bool is_wanted = false;
    std::string service;
    std::string path;
    std::string statement;
    std::string context;
    bool twice = false;
    // Also for key-value.
    std::optional<std::uint64_t> node;
    std::string status;
    std::optional<bool> applied;
    std::uint64_t limit = 50;
};

/// Adds `--services` and its filters; returns the option `--services`.
CLI::Option* add_service_audit_options(CLI::App& audit, service_audit_options& typed);

/// Throws like `run_remote`.
void run_service_audit(const remote_options& remote, const service_audit_options& typed);

}  // namespace reprise::app
