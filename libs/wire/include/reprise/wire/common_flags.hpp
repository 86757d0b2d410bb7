#pragma once

#include <cstdint>

namespace reprise::wire {

/// The document format that Couchbase clients store in the top byte of the flags field. Servers
/// store the field and never interpret it.
enum class common_format : std::uint8_t {
    none = 0,            ///< the writing client does not use common flags
    private_format = 1,  ///< only the writing client knows the meaning
    json = 2,            ///< a JSON document
    binary = 3,          ///< raw bytes
    string = 4,          ///< UTF-8 text
    unknown = 255        ///< a format or compression that this library does not know
};

/// Returns 0x02000000 for JSON, and so on. Returns 0 for both `unknown` and `none`.
constexpr std::uint32_t encode_common_flags(common_format format) noexcept {
    return format == common_format::unknown
               ? 0
               : std::uint32_t{static_cast<std::uint8_t>(format)} << 24;
}

/// Reads only the top byte, because some clients put older type codes below it. The upper three
/// bits of that byte are reserved for a compression; none is defined yet.
constexpr common_format decode_common_flags(std::uint32_t flags) noexcept {
    const auto top = static_cast<std::uint8_t>(flags >> 24);
    const auto format = static_cast<std::uint8_t>(top & 0x0f);
    if ((top & 0xe0) != 0 || format > static_cast<std::uint8_t>(common_format::string)) {
        return common_format::unknown;
    }
    return static_cast<common_format>(format);
}

}  // namespace reprise::wire
