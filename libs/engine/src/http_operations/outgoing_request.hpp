#pragma once

#include <cstddef>
#include <expected>
#include <string>

#include "engine_context.hpp"
#include "http_operations/http_connection.hpp"

namespace reprise::engine {

// Writes the operation's call, with the credentials, into the connection's buffer. The error is the
// reason why it cannot be written; the buffer is then empty.
[[nodiscard]] std::expected<void, std::string> encode_call(
    http_connection& connection, const service_call& call, const engine_context& context);

// The size of one read. Large reads are faster for many rows, but only a few of these rows may
// exceed the bound of rows that wait.
[[nodiscard]] std::size_t read_size_for(
    const service_call& call, std::size_t rows_size_max) noexcept;

}  // namespace reprise::engine
