#pragma once

/// Connection parameters of PostgreSQL that are refused. Needs no client library.

#include <string_view>

namespace reprise::adapters {

/// Why a value of libpq's connection parameters is refused; null if it is not.
///
/// ```
/// host containing '@', port with letters   part of a password that is not percent-encoded
/// connect_timeout                          libpq applies it only to connections that block
/// ```
///
/// The texts have no part of the value: libpq's own errors would show it.
[[nodiscard]] constexpr const char* fault_of_pq_parameter(
    std::string_view name, std::string_view value) noexcept {
    if (name == "host") {
        // A list. A path and the name of an abstract socket may contain the character.
        for (std::size_t begin = 0; begin < value.size();) {
            const std::string_view host = value.substr(begin, value.find(',', begin) - begin);
            if (!host.starts_with('/') && !host.starts_with('@') && host.find('@') != host.npos) {
                return "the host contains '@': percent-encode that of the user or the password";
            }
            begin += host.size() + 1;
        }
    }
    if (name == "port" && value.find_first_not_of("0123456789, ") != value.npos) {
        return "the port is not a number: percent-encode '/' and ':' of the password";
    }
    if (name == "connect_timeout" && !value.empty() && value != "0") {
        return "connect_timeout has no effect here: limit the time of the attempts instead";
    }
    return nullptr;
}

/// Why the text of all connection parameters is refused; null if it is not. Of a text with a zero,
/// libpq would read the part before it. In a URL with two '@' it takes a part of the password for
/// the host, and would show it.
[[nodiscard]] constexpr const char* fault_of_pq_text(std::string_view parameters) noexcept {
    if (parameters.find('\0') != parameters.npos) {
        return "the connection parameters contain a zero character";
    }
    const bool is_url =
        parameters.starts_with("postgresql://") || parameters.starts_with("postgres://");
    const std::string_view before_options = parameters.substr(0, parameters.find('?'));
    if (is_url && before_options.find('@') != before_options.rfind('@')) {
        return "the URL contains a second '@': percent-encode that of the user or the password";
    }
    return nullptr;
}

}  // namespace reprise::adapters
