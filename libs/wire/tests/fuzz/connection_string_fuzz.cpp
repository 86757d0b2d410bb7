// An accepted connection string has hosts; an error points into the text.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <reprise/wire/connection_string.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reprise::wire;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto result = parse_connection_string(text);
    if (!result) {
        (void)to_string(result.error());
        if (result.error().position > size) {
            std::abort();
        }
        return 0;
    }
    if (result->hosts.empty() || result->hosts.front().host.empty()) {
        std::abort();
    }
    (void)result->dns_srv_name();
    return 0;
}
