#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <reprise/wire/error_context.hpp>
#include <reprise/wire/session_messages.hpp>

// JSON in an error body and in a HELLO key. What is accepted survives a round trip.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reprise::wire;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto context = parse_error_context(reprise::base::as_bytes(text))) {
        const std::string again = encode_error_context(*context);
        if (parse_error_context(reprise::base::as_bytes(again)) != *context) {
            std::abort();
        }
    }
    if (const auto identity = parse_agent_key(text); identity && text.starts_with('{')) {
        const auto again = parse_agent_key(make_agent_key(*identity));
        if (!again || again->agent != identity->agent ||
            again->connection_id != identity->connection_id) {
            std::abort();
        }
    }
    return 0;
}
