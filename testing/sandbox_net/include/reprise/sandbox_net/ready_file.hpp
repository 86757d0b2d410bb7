#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include <reprise/sandbox_net/server.hpp>

namespace reprise::sandbox {

// What a running server tells other processes through a file.
struct ready_info {
    server_addresses addresses;
    std::int64_t pid = 0;
};

// The file's text: a JSON object with `connection_string`, `connection_string_tls`, `ca_path`
// (both null without TLS), `nodes` (an array of ports by service), `control` (`url`, `token`),
// `pid`.
std::string to_json(const ready_info& info);

// Puts the file in place whole or not at all; only its owner may read it, since it holds the
// control token. The error names the file.
std::expected<void, std::string> write_ready_file(const std::string& path, const ready_info& info);

// The process that wrote the file at `path` and still runs; 0: there is no such file, it cannot be
// read as one, or its process has ended.
std::int64_t find_ready_file_owner(const std::string& path);

// Reads what write_ready_file wrote. The error says what is missing or malformed.
std::expected<ready_info, std::string> read_ready_file(const std::string& path);

}  // namespace reprise::sandbox
