// A URL for logs is never longer than the URL, and contains neither a query nor a fragment. What
// stands before the path contains no user.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <reprise/retry/adapters/public_url.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view url(reinterpret_cast<const char*>(data), size);
    const std::string shown = reprise::adapters::public_url(url);
    if (shown.size() > url.size() || shown.find_first_of("?#") != std::string::npos) {
        std::abort();
    }
    const std::size_t scheme = shown.find("://");
    const std::size_t host = scheme == std::string::npos ? 0 : scheme + 3;
    const std::string_view authority =
        std::string_view(shown).substr(host, shown.find('/', host) - host);
    if (authority.find('@') != std::string_view::npos) {
        std::abort();
    }
    return 0;
}
