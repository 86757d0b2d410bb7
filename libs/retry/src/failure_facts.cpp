#include <array>

#include <reprise/retry/exception_facts.hpp>
#include <reprise/retry/failure_facts.hpp>

namespace reprise {

failure_description::~failure_description() = default;

namespace {

struct code_facts {
    std::errc condition;
    retry_safety safety;
    bool timeout;
};

// Failures to connect and "try again" happen before anything is sent. A broken connection may have
// carried the request.
constexpr std::array described_codes{
    code_facts{std::errc::connection_refused, retry_safety::yes, false},
    code_facts{std::errc::host_unreachable, retry_safety::yes, false},
    code_facts{std::errc::network_unreachable, retry_safety::yes, false},
    code_facts{std::errc::network_down, retry_safety::yes, false},
    code_facts{std::errc::address_not_available, retry_safety::yes, false},
    code_facts{std::errc::resource_unavailable_try_again, retry_safety::yes, false},
    code_facts{std::errc::interrupted, retry_safety::yes, false},
    code_facts{std::errc::not_connected, retry_safety::yes, false},
    code_facts{std::errc::connection_reset, retry_safety::maybe, false},
    code_facts{std::errc::connection_aborted, retry_safety::maybe, false},
    code_facts{std::errc::network_reset, retry_safety::maybe, false},
    code_facts{std::errc::broken_pipe, retry_safety::maybe, false},
    code_facts{std::errc::timed_out, retry_safety::maybe, true},
};

}  // namespace

failure_facts describe_error_code(const std::error_code& code) noexcept {
    failure_facts facts;
    facts.code = static_cast<std::uint32_t>(code.value());
    for (const code_facts& entry : described_codes) {
        if (code == entry.condition) {
            facts.safety = entry.safety;
            facts.timeout = entry.timeout;
            facts.fault = failure_fault::other;
            break;
        }
    }
    return facts;
}

failure_facts detail::describe_exception(const std::exception_ptr& thrown) noexcept {
    try {
        std::rethrow_exception(thrown);
    } catch (const failure_description& described) {
        return described.retry_facts();
    } catch (const std::system_error& error) {
        return describe_error_code(error.code());
    } catch (...) {
        return {};
    }
}

}  // namespace reprise
