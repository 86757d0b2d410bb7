// A delay read from a server's answer is never negative and never longer than its bound. The text
// of a status ends with the server's message.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <reprise/retry/adapters/grpc_details.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reprise;
    constexpr std::chrono::hours year{365 * 24};
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto delay = adapters::retry_info_delay(bytes);
    const auto pushback = adapters::parse_retry_pushback(bytes);
    const auto is_wrong = [&](const std::optional<duration>& wait) {
        return wait && (*wait < duration::zero() || *wait >= year + std::chrono::seconds{1});
    };
    const std::string text = adapters::detail::grpc_text(14, bytes);
    if (is_wrong(delay) || is_wrong(pushback) || !text.ends_with(bytes)) {
        std::abort();
    }
    return 0;
}
