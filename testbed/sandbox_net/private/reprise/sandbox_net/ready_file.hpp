#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include <reprise/sandbox_net/server.hpp>

namespace reprise::sandbox {

/// The file that a running server writes for other processes.
struct ready_info {
    server_addresses addresses;
    std::int64_t pid = 0;
};

/// The content of the file: a JSON object with `connection_string`, `connection_string_tls`,
/// `ca_path` (both null without TLS), `nodes` (an array of ports by service), `control` (`url`,
/// `token`) and `pid`.
std::string to_json(const ready_info& info);

/// Writes the file atomically. Only its owner may read it, because it contains the control token.
/// The error names the file.
std::expected<void, std::string> write_ready_file(const std::string& path, const ready_info& info);

/// The process that wrote the file at `path`, if it is still running. Returns 0 if the file does
/// not exist, cannot be parsed, or belongs to a process that has ended.
std::int64_t find_ready_file_owner(const std::string& path);

/// Reads a file written by write_ready_file. The error describes what is missing or malformed.
std::expected<ready_info, std::string> read_ready_file(const std::string& path);

}  // namespace reprise::sandbox
