#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace reprise::wire {

/// Byte 0 of a frame: the sender, and the meaning of bytes 2..3 and 6..7 of the header.
enum class magic : std::uint8_t {
    alt_request = 0x08,      ///< client to server with framing extras; needs HELLO 0x10
    alt_response = 0x18,     ///< server to client with framing extras
    request = 0x80,          ///< client to server
    response = 0x81,         ///< server to client
    server_request = 0x82,   ///< pushed by the server; needs HELLO 0x0c
    server_response = 0x83,  ///< client's reply to a push; the server ignores it
};

/// Returns nothing if the byte is not a magic. The stream is then lost.
constexpr std::optional<magic> magic_from_byte(std::uint8_t byte) noexcept {
    switch (byte) {
        case 0x08:
        case 0x18:
        case 0x80:
        case 0x81:
        case 0x82:
        case 0x83:
            return static_cast<magic>(byte);
        default:
            return std::nullopt;
    }
}

/// Whether bytes 2 and 3 are two lengths (framing extras, key) instead of one 16-bit key length.
constexpr bool has_framing_extras(magic value) noexcept {
    return value == magic::alt_request || value == magic::alt_response;
}

/// Whether the frame travels from the server to the client.
constexpr bool is_sent_by_server(magic value) noexcept {
    return value == magic::response || value == magic::alt_response ||
           value == magic::server_request;
}

std::string_view to_string(magic value) noexcept;

}  // namespace reprise::wire
