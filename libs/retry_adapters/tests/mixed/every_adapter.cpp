/// Uses what the adapters have in headers that compile without exceptions. Those of Beast, hiredis
/// and libpq catch or throw themselves. The `check_variants.py` of `retry` compiles it with and
/// without exceptions; it is never run.

#include <string>
#include <string_view>
#include <vector>

#include <reprise/retry.hpp>
#include <reprise/retry/adapters/curl.hpp>
#include <reprise/retry/adapters/grpc_details.hpp>
#include <reprise/retry/adapters/public_url.hpp>
#include <reprise/retry/adapters/redis_reply.hpp>
#include <reprise/retry/adapters/sqlstate.hpp>

namespace mixed {

namespace adapters = reprise::adapters;

std::string fetch(CURL* curl, const reprise::attempt& current) {
    return adapters::curl_perform(curl, current).message();
}

void use_every_adapter(CURL* curl, const reprise::call_options& options, std::string_view text) {
    const auto rule = reprise::attempts(3).every(std::chrono::milliseconds{1});
    static_cast<void>(reprise::retry(rule, options, [curl](const reprise::attempt& current) {
        return adapters::curl_perform(curl, current);
    }));
    static_cast<void>(fetch(curl, {}));

    static_cast<void>(adapters::detail::grpc_text(14, text));
    static_cast<void>(adapters::retry_info_delay(text));
    static_cast<void>(adapters::parse_retry_pushback(text));
    static_cast<void>(adapters::public_url(text));

    const std::vector<std::string> words{"GET", "name"};
    adapters::redis_route route({});
    static_cast<void>(route.take_asked(words, 1));
    if (const auto to = adapters::parse_redis_redirection(text)) {
        route.on_redirection(*to, route.current(), words, 1);
    }
    route.on_wrong_server();
    static_cast<void>(adapters::redis_error_text(text));
    static_cast<void>(adapters::redis_reply_facts(text, "EVAL"));
    static_cast<void>(adapters::is_redis_read(text));

    static_cast<void>(adapters::sqlstate_in_message(text));
    static_cast<void>(adapters::sqlstate_text(text, text));
    static_cast<void>(adapters::is_sql_program(text));
    static_cast<void>(adapters::sqlstate_facts(text, adapters::sql_stage::alone));
}

}  // namespace mixed
