#include <cstdint>

#include <reprise/retry/http_facts.hpp>

namespace reprise {

failure_facts http_facts(int status) noexcept {
    failure_facts facts;
    if (status < 400 || status > 599) {
        return facts;
    }
    facts.code = static_cast<std::uint32_t>(status);
    if (const auto* const listed = detail::find_error("http", status)) {
        facts.safety = listed->safety;
        facts.throttling = listed->throttling;
        facts.timeout = listed->timeout;
        facts.fault = listed->fault;
    } else {
        facts.safety = status >= 500 ? retry_safety::maybe : retry_safety::no;
        facts.fault = status >= 500 ? failure_fault::server : failure_fault::client;
    }
    return facts;
}

failure_facts http_facts(
    int status, std::string_view retry_after, std::chrono::sys_seconds now,
    std::chrono::seconds retry_after_max) noexcept {
    failure_facts facts = http_facts(status);
    if (status >= 400 && status <= 599) {
        facts.minimum_wait = driver::parse_retry_after(retry_after, now, retry_after_max);
    }
    return facts;
}

}  // namespace reprise
