// A delay is never negative and never longer than its bound.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <reprise/retry/http_facts.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reprise;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::chrono::sys_seconds now{std::chrono::seconds{1790000000}};
    const auto wait = driver::parse_retry_after(text, now);
    if (wait && (wait->count() < 0 || *wait > reprise::detail::retry_after_max)) {
        std::abort();
    }
    return 0;
}
