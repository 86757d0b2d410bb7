#include <array>
#include <optional>
#include <string_view>

#include <reprise/retry/exception_facts.hpp>
#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/retryable.hpp>

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

/// Asio's own categories are known by their names, since the core does not include Asio; both Asios
/// have the same. `eof` is 2 in `asio.misc`, `host_not_found_try_again` is 2 in `asio.netdb`.
[[nodiscard]] std::optional<retry_safety> safety_of_asio_code(
    const std::error_code& code) noexcept {
    constexpr int second = 2;
    const std::string_view category = code.category().name();
    if (code.value() != second) {
        return std::nullopt;
    }
    if (category == "asio.misc") {
        return retry_safety::maybe;  // The connection ended, and the request may have got through.
    }
    return category == "asio.netdb" ? std::optional(retry_safety::yes) : std::nullopt;
}

/// The system's own codes in a category that does not say so: that of the standalone Asio before
/// 1.24 equals no `std::errc`.
[[nodiscard]] std::error_code comparable(const std::error_code& code) noexcept {
    const bool is_system = std::string_view(code.category().name()) == "asio.system";
    return is_system ? std::error_code(code.value(), std::system_category()) : code;
}

}  // namespace

failure_facts describe_error_code(const std::error_code& code) noexcept {
    failure_facts facts;
    facts.code = static_cast<std::uint32_t>(code.value());
    facts.category = &code.category();
    const std::error_code known = comparable(code);
    for (const code_facts& entry : described_codes) {
        if (known == entry.condition) {
            facts.safety = entry.safety;
            facts.timeout = entry.timeout;
            facts.fault = failure_fault::other;
            return facts;
        }
    }
    if (const auto safety = safety_of_asio_code(code)) {
        facts.safety = safety;
        facts.fault = failure_fault::other;
    }
    return facts;
}

bool detail::is_programming_error(const failure_view& failure) noexcept {
#if defined(__cpp_exceptions)
    const auto* const thrown = failure.get_if<std::exception_ptr>();
    if (thrown == nullptr || *thrown == nullptr) {
        return false;
    }
    // The types of the concept `programming_error`.
    try {
        std::rethrow_exception(*thrown);
    } catch (const std::logic_error&) {
        return true;
    } catch (const std::bad_alloc&) {
        return true;
    } catch (const std::bad_cast&) {
        return true;
    } catch (const std::bad_typeid&) {
        return true;
    } catch (const std::bad_exception&) {
        return true;
    } catch (const std::bad_function_call&) {
        return true;
    } catch (const std::bad_optional_access&) {
        return true;
    } catch (const std::bad_variant_access&) {
        return true;
    } catch (const std::bad_weak_ptr&) {
        return true;
    } catch (...) {
        return false;
    }
#else
    static_cast<void>(failure);
    return false;
#endif
}

failure_facts detail::describe_exception(const std::exception_ptr& thrown) noexcept {
#if defined(__cpp_exceptions)
    try {
        std::rethrow_exception(thrown);
    } catch (const failure_description& described) {
        return described.retry_facts();
    } catch (const std::system_error& error) {
        return describe_error_code(error.code());
    } catch (...) {
        return {};
    }
#else
    static_cast<void>(thrown);
    return {};
#endif
}

}  // namespace reprise
