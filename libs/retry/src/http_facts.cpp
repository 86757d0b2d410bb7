#include <cstdint>

#include <reprise/retry/http_facts.hpp>

namespace reprise {

namespace {

[[nodiscard]] retry_safety safety_of_status(int status) noexcept {
    if (const auto* const listed = detail::find_error("http", status)) {
        return *listed->safety;
    }
    return status >= 500 ? retry_safety::maybe : retry_safety::no;
}

}  // namespace

failure_facts http_facts(int status) noexcept {
    failure_facts facts;
    if (status < 400 || status > 599) {
        return facts;
    }
    facts.code = static_cast<std::uint32_t>(status);
    facts.safety = safety_of_status(status);
    facts.throttling = status == 429;
    facts.timeout = status == 408 || status == 504;
    facts.fault = status >= 500 ? failure_fault::server : failure_fault::client;
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
