// An accepted manifest survives a round trip.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <reprise/wire/collections_manifest.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reprise::wire;
    const auto manifest =
        parse_collections_manifest(std::string_view(reinterpret_cast<const char*>(data), size));
    if (!manifest) {
        (void)to_string(manifest.error());
        return 0;
    }
    const auto again = parse_collections_manifest(encode_collections_manifest(*manifest));
    if (!again || !(*again == *manifest)) {
        std::abort();
    }
    return 0;
}
