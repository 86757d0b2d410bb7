// An accepted map survives a round trip, and its delays stay in range.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <reprise/wire/error_map.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reprise::wire;
    if (size == 0) {
        return 0;
    }
    parse_error_map_options options;
    options.is_compressed = (data[0] & 1U) != 0;
    const std::string_view body(reinterpret_cast<const char*>(data + 1), size - 1);
    const auto map = parse_error_map(body, options);
    if (!map) {
        (void)to_string(map.error());
        return 0;
    }
    for (const error_map_entry& entry : map->entries()) {
        for (const std::uint32_t retry : {0U, 1U, 2U, 40U, UINT32_MAX}) {
            if (entry.retry && (entry.retry->delay(retry).count() < 0 ||
                                entry.retry->delay(retry) > retry_spec::delay_max)) {
                std::abort();
            }
        }
    }
    // The encoded text may be longer than the input because of escapes.
    options = {.size_max_bytes = SIZE_MAX};
    const auto again = parse_error_map(encode_error_map(*map, 2), options);
    if (!again || again->entries().size() != map->entries().size()) {
        std::abort();
    }
    return 0;
}
