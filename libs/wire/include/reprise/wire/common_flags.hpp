#pragma once

#include <cstdint>

namespace reprise::wire {

// The format of a document as Couchbase clients note it in the top byte of the flags field. Servers
// store the field and never look at it.
enum class common_format : std::uint8_t {
    none = 0,            // written by a client without common flags
    private_format = 1,  // the meaning is the writing client's own
    json = 2,            // a JSON document
    binary = 3,          // bytes
    string = 4,          // UTF-8 text
    unknown = 255        // a format or compression this library does not know
};

// 0x02000000 for JSON, and so on. `unknown` gives 0, like `none`.
constexpr std::uint32_t encode_common_flags(common_format format) noexcept {
    return format == common_format::unknown
               ? 0
               : std::uint32_t{static_cast<std::uint8_t>(format)} << 24;
}

// Only the top byte counts: some clients put older type codes below it. Its upper three bits name
// a compression, of which there is none yet.
constexpr common_format decode_common_flags(std::uint32_t flags) noexcept {
    const auto top = static_cast<std::uint8_t>(flags >> 24);
    const auto format = static_cast<std::uint8_t>(top & 0x0f);
    if ((top & 0xe0) != 0 || format > static_cast<std::uint8_t>(common_format::string)) {
        return common_format::unknown;
    }
    return static_cast<common_format>(format);
}

}  // namespace reprise::wire
