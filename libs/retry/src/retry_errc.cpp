#include <string>
#include <string_view>

#include <reprise/retry/retry_errc.hpp>

namespace reprise {

namespace {

class category final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "reprise.retry"; }
    [[nodiscard]] std::string message(int value) const override {
        switch (static_cast<retry_errc>(value)) {
            case retry_errc::circuit_open:
                return "circuit breaker is open";
            case retry_errc::canceled:
                return "canceled before the first attempt";
            case retry_errc::invalid_settings:
                return "invalid settings";
        }
        return "unknown error";
    }
    /// For callers that only use `std::errc`. Our own facts are more precise: nothing was sent.
    [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
        switch (static_cast<retry_errc>(value)) {
            case retry_errc::circuit_open:
                return std::errc::resource_unavailable_try_again;
            case retry_errc::canceled:
                return std::errc::operation_canceled;
            case retry_errc::invalid_settings:
                return std::errc::invalid_argument;
        }
        return {value, *this};
    }
    [[nodiscard]] bool equivalent(
        const std::error_code& code, int condition) const noexcept override {
        return code.value() == condition && std::string_view(code.category().name()) == name();
    }
};

}  // namespace

const std::error_category& detail::retry_category() noexcept {
    static const category instance;
    return instance;
}

refusal_reason detail::refusal_of(retry_errc error) noexcept {
    switch (error) {
        case retry_errc::circuit_open:
            return refusal_reason::circuit_open;
        case retry_errc::canceled:
            return refusal_reason::canceled;
        case retry_errc::invalid_settings:
            break;
    }
    return refusal_reason::none;
}

}  // namespace reprise
