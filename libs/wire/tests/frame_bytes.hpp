#pragma once

#include <cstddef>
#include <expected>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <reprise/base/byte_writer.hpp>
#include <reprise/base/bytes.hpp>
#include <reprise/wire/frame.hpp>
#include <reprise/wire/frame_reader.hpp>
#include <reprise/wire/message.hpp>

// Shared by the message tests: bytes from hex, a message to bytes, bytes to a frame.

namespace frame_bytes {

using reprise::base::byte_view;

// Parses "80 00 0a": two hexadecimal digits per byte, ignoring spaces and line ends.
inline std::vector<std::byte> from_hex(std::string_view text) {
    std::vector<std::byte> bytes;
    int high = -1;
    for (const char character : text) {
        constexpr std::string_view digits = "0123456789abcdef";
        const std::size_t digit = digits.find(character);
        if (digit == std::string_view::npos) {
            continue;
        }
        if (high < 0) {
            high = static_cast<int>(digit);
            continue;
        }
        bytes.push_back(static_cast<std::byte>(static_cast<unsigned>(high) << 4 | digit));
        high = -1;
    }
    return bytes;
}

inline std::string to_hex(byte_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const std::byte byte : bytes) {
        const auto number = std::to_integer<unsigned>(byte);
        text += digits[number >> 4];
        text += digits[number & 0x0f];
        text += ' ';
    }
    return text;
}

// Returns the bytes of one message. If encode fails, it returns no bytes and fails the test.
template <class Message, class Header>
std::vector<std::byte> encoded(const Message& message, const Header& header) {
    std::vector<std::byte> bytes;
    reprise::base::byte_writer writer(bytes);
    const auto result = message.encode(writer, header);
    EXPECT_TRUE(result.has_value())
        << (result ? std::string_view() : reprise::wire::to_string(result.error()));
    return bytes;
}

// Returns why a message cannot be encoded, and checks that nothing was written.
template <class Message, class Header>
reprise::wire::wire_errc encode_error(const Message& message, const Header& header) {
    std::vector<std::byte> bytes;
    reprise::base::byte_writer writer(bytes);
    const auto result = message.encode(writer, header);
    EXPECT_FALSE(result.has_value());
    EXPECT_TRUE(bytes.empty());
    return result ? reprise::wire::wire_errc{} : result.error();
}

// Returns the one frame in `bytes`, which must outlive it.
inline reprise::wire::frame_view frame_of(byte_view bytes) {
    const auto scan = reprise::wire::scan_frame(bytes, {});
    EXPECT_TRUE(scan.has_value() && scan->frame.has_value() && scan->size == bytes.size());
    return scan && scan->frame ? *scan->frame : reprise::wire::frame_view{};
}

// The value of a call that must succeed. Otherwise the test fails with its line and the error.
template <class Result>
typename Result::value_type must(
    Result result, const std::source_location& line = std::source_location::current()) {
    if (!result) {
        std::string text = "failed";
        if constexpr (requires { to_string(result.error()); }) {
            text = to_string(result.error());
        }
        ADD_FAILURE_AT(line.file_name(), static_cast<int>(line.line())) << text;
        throw std::runtime_error("the test has failed");
    }
    return *std::move(result);
}

inline byte_view text(std::string_view characters) {
    return reprise::base::as_bytes(characters);
}

}  // namespace frame_bytes
