// A redirection names a host within the reply and a port; other replies name none. A script is not
// repeated because of a code alone. A text is made once: what was made here stays as it is.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <reprise/retry/adapters/redis_reply.hpp>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace reprise::adapters;
    const std::string_view message(reinterpret_cast<const char*>(data), size);
    const std::string_view code = redis_error_code(message);
    const std::string text = redis_error_text(message);
    if (text.size() > message.size() + 4 || redis_error_text(text) != text) {
        std::abort();
    }
    const auto to = parse_redis_redirection(message);
    const bool may_repeat = redis_reply_facts(message, "EVAL").safety == reprise::retry_safety::yes;
    if (may_repeat && !to && message != "CLUSTERDOWN The cluster is down" && message.size() < 32) {
        std::abort();
    }
    if (!to) {
        return 0;
    }
    if ((code != "MOVED" && code != "ASK") || to->port == 0 || to->host.size() > 255) {
        std::abort();
    }
    redis_route route({"home", 1});
    const std::string words[]{"GET", "a"};
    route.on_redirection(*to, route.current(), words, 1);
    if (route.take_asked(words, 2).has_value() != to->is_ask) {
        std::abort();
    }
    return 0;
}
