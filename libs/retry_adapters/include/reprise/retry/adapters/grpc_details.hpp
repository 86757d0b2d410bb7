#pragma once

/// A gRPC server's retry information in addition to its status code. Needs no client library.
/// The bytes come from the network: reading them takes time in proportion to their number, never
/// fails, and skips fields that are unknown here.

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/time.hpp>

namespace reprise::adapters {

namespace detail {

/// All statuses of gRPC. None is `yes`, because no status shows whether the server has acted, and a
/// proxy may answer UNAVAILABLE after it passed the call on. The client's fault are those that
/// correspond to HTTP's 4xx, apart from RESOURCE_EXHAUSTED: the call is wrong, in conflict with
/// another or canceled by its caller, and the service works.
inline constexpr std::array grpc_rows{
    reprise::detail::error_row{.code = 0, .name = "OK"},
    reprise::detail::error_row{
        .code = 1, .name = "CANCELLED", .safety = retry_safety::no, .fault = failure_fault::client},
    reprise::detail::error_row{
        .code = 2, .name = "UNKNOWN", .safety = retry_safety::no, .fault = failure_fault::other},
    reprise::detail::error_row{
        .code = 3,
        .name = "INVALID_ARGUMENT",
        .safety = retry_safety::no,
        .fault = failure_fault::client},
    reprise::detail::error_row{
        .code = 4,
        .name = "DEADLINE_EXCEEDED",
        .safety = retry_safety::maybe,
        .timeout = true,
        .fault = failure_fault::server},
    reprise::detail::error_row{
        .code = 5, .name = "NOT_FOUND", .safety = retry_safety::no, .fault = failure_fault::client},
    reprise::detail::error_row{
        .code = 6,
        .name = "ALREADY_EXISTS",
        .safety = retry_safety::no,
        .fault = failure_fault::client},
    reprise::detail::error_row{
        .code = 7,
        .name = "PERMISSION_DENIED",
        .safety = retry_safety::no,
        .fault = failure_fault::client},
    reprise::detail::error_row{
        .code = 8,
        .name = "RESOURCE_EXHAUSTED",
        .safety = retry_safety::maybe,
        .throttling = true,
        .fault = failure_fault::server},
    reprise::detail::error_row{
        .code = 9,
        .name = "FAILED_PRECONDITION",
        .safety = retry_safety::no,
        .fault = failure_fault::client},
    reprise::detail::error_row{
        .code = 10, .name = "ABORTED", .safety = retry_safety::no, .fault = failure_fault::client},
    reprise::detail::error_row{
        .code = 11,
        .name = "OUT_OF_RANGE",
        .safety = retry_safety::no,
        .fault = failure_fault::client},
    reprise::detail::error_row{
        .code = 12,
        .name = "UNIMPLEMENTED",
        .safety = retry_safety::no,
        .fault = failure_fault::other},
    reprise::detail::error_row{
        .code = 13, .name = "INTERNAL", .safety = retry_safety::no, .fault = failure_fault::other},
    reprise::detail::error_row{
        .code = 14,
        .name = "UNAVAILABLE",
        .safety = retry_safety::maybe,
        .fault = failure_fault::server},
    reprise::detail::error_row{
        .code = 15, .name = "DATA_LOSS", .safety = retry_safety::no, .fault = failure_fault::other},
    reprise::detail::error_row{
        .code = 16,
        .name = "UNAUTHENTICATED",
        .safety = retry_safety::no,
        .fault = failure_fault::client},
};

/// "UNAVAILABLE: no healthy upstream", or the name alone if the server sent no text.
[[nodiscard]] inline std::string grpc_text(int code, std::string_view message) {
    const auto* const row = reprise::detail::find_row(grpc_rows, code);
    std::string text = row != nullptr ? std::string(row->name) : "status " + std::to_string(code);
    if (!message.empty()) {
        text.append(": ").append(message);
    }
    return text;
}

/// How the value of a protobuf field is encoded.
enum class protobuf_kind : std::uint8_t {
    varint,
    bytes,  ///< A string, bytes or a message.
    fixed,  ///< 4 or 8 bytes, which nothing here reads.
};

/// The next field of an encoded protobuf message.
struct protobuf_field {
    std::uint64_t number = 0;
    protobuf_kind kind = protobuf_kind::fixed;
    std::uint64_t value = 0;   ///< Of a varint.
    std::string_view bytes{};  ///< Of a string, bytes or message.

    [[nodiscard]] constexpr bool is(std::uint64_t wanted, protobuf_kind encoded) const noexcept {
        return number == wanted && kind == encoded;
    }
};

/// Reads fields from untrusted bytes; stops at the first that is malformed.
class protobuf_reader {
public:
    explicit constexpr protobuf_reader(std::string_view bytes) noexcept : rest_(bytes) {}

    [[nodiscard]] constexpr std::optional<protobuf_field> next() noexcept {
        const auto key = varint();
        if (!key) {
            return std::nullopt;
        }
        protobuf_field field{.number = *key >> 3};
        switch (*key & 7) {
            case 0: {
                const auto value = varint();
                field.kind = protobuf_kind::varint;
                field.value = value.value_or(0);
                return value ? std::optional(field) : std::nullopt;
            }
            case 1:
                return skip(8) ? std::optional(field) : std::nullopt;
            case 2: {
                const auto size = varint();
                if (!size || *size > rest_.size()) {
                    return std::nullopt;
                }
                field.kind = protobuf_kind::bytes;
                field.bytes = rest_.substr(0, *size);
                rest_.remove_prefix(*size);
                return field;
            }
            case 5:
                return skip(4) ? std::optional(field) : std::nullopt;
            default:
                return std::nullopt;
        }
    }

private:
    [[nodiscard]] constexpr bool skip(std::size_t size) noexcept {
        if (rest_.size() < size) {
            return false;
        }
        rest_.remove_prefix(size);
        return true;
    }
    [[nodiscard]] constexpr std::optional<std::uint64_t> varint() noexcept {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
            const auto byte = static_cast<std::uint8_t>(rest_.front());
            rest_.remove_prefix(1);
            value |= std::uint64_t{byte & 0x7FU} << shift;
            if (byte < 0x80) {
                return value;
            }
        }
        return std::nullopt;
    }

    std::string_view rest_;
};

/// The first field of that number with bytes; empty if there is none.
[[nodiscard]] constexpr std::string_view bytes_of(
    std::string_view message, std::uint64_t number) noexcept {
    protobuf_reader reader(message);
    while (const auto field = reader.next()) {
        if (field->is(number, protobuf_kind::bytes)) {
            return field->bytes;
        }
    }
    return {};
}

/// A google.protobuf.Duration, at least zero and at most a year.
[[nodiscard]] constexpr duration read_duration(std::string_view message) noexcept {
    std::int64_t seconds = 0;
    std::int64_t nanoseconds = 0;
    protobuf_reader reader(message);
    while (const auto field = reader.next()) {
        if (field->is(1, protobuf_kind::varint)) {
            seconds = static_cast<std::int64_t>(field->value);
        } else if (field->is(2, protobuf_kind::varint)) {
            nanoseconds = static_cast<std::int64_t>(field->value);
        }  // Others may come with a later version of the message.
    }
    constexpr std::int64_t seconds_max = 365LL * 24 * 3600;
    if (seconds < 0 || nanoseconds < 0 || nanoseconds > 999'999'999) {
        return duration::zero();
    }
    return std::chrono::seconds{seconds < seconds_max ? seconds : seconds_max} +
           std::chrono::nanoseconds{nanoseconds};
}

}  // namespace detail

/// The delay of a google.rpc.RetryInfo in the error details of a status (the serialized
/// google.rpc.Status that `grpc::Status::error_details` returns). Empty if there is none.
[[nodiscard]] constexpr std::optional<duration> retry_info_delay(
    std::string_view details) noexcept {
    detail::protobuf_reader status(details);
    while (const auto field = status.next()) {
        if (field->is(3, detail::protobuf_kind::bytes) &&
            detail::bytes_of(field->bytes, 1).ends_with("/google.rpc.RetryInfo")) {
            return detail::read_duration(detail::bytes_of(detail::bytes_of(field->bytes, 2), 1));
        }
    }
    return std::nullopt;
}

/// The value of `grpc-retry-pushback-ms`: the delay that the server asks for. Empty if the server
/// forbids a retry, by a negative number or one that cannot be read.
[[nodiscard]] inline std::optional<duration> parse_retry_pushback(std::string_view text) noexcept {
    std::int32_t milliseconds = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), milliseconds);
    if (error != std::errc{} || end != text.data() + text.size() || milliseconds < 0) {
        return std::nullopt;
    }
    return std::chrono::milliseconds{milliseconds};
}

}  // namespace reprise::adapters
