#include "connections/connection_problem.hpp"

#include <array>
#include <cstdint>
#include <cstdio>

#include <reprise/base/printable.hpp>
#include <reprise/wire/magic.hpp>

namespace reprise::engine {

std::string shown(std::string_view text) {
    return base::shortened(base::printable(text), foreign_text_size_max);
}

std::string connect_problem(
    connect_failure failure, std::string_view host, std::string_view detail) {
    std::string text(to_string(failure));
    if (failure == connect_failure::name_not_found) {
        text += " " + shown(host);
    }
    if (!detail.empty()) {
        text += " (" + shown(detail) + ")";
    }
    return text;
}

bool is_stranger(base::byte_view first_bytes) noexcept {
    if (first_bytes.empty()) {
        return false;
    }
    const auto magic = wire::magic_from_byte(std::to_integer<std::uint8_t>(first_bytes.front()));
    return !magic || !wire::is_sent_by_server(*magic);
}

std::string stranger_problem(base::byte_view first_bytes) {
    constexpr std::string_view tls_alert = "\x15\x03";
    constexpr std::string_view tls_handshake = "\x16\x03";
    const std::string_view text = base::as_text(first_bytes);
    if (text.starts_with(tls_alert) || text.starts_with(tls_handshake)) {
        return "this is a TLS port: use couchbases://";
    }
    if (text.starts_with("HTTP/")) {
        return "not a Couchbase server, or not its key-value port: it speaks HTTP";
    }
    return "not a Couchbase server: its answer is \"" + shown(text.substr(0, 32)) + "\"";
}

std::string closed_problem(close_reason reason, bool has_answered, bool is_over_tls) {
    std::string text(to_string(reason));
    if (has_answered) {
        return text + " during the login";
    }
    text += " before it answered: not a Couchbase server";
    return is_over_tls ? text : text + ", or this is a TLS port";
}

std::string configuration_refusal(wire::status status) {
    std::array<char, 64> text{};
    std::snprintf(
        text.data(), text.size(), "the server gave no configuration (0x%02x)",
        static_cast<unsigned>(status));
    return text.data();
}

}  // namespace reprise::engine
