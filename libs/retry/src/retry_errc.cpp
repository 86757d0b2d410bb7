#include <string>
#include <string_view>

#include <reprise/retry/retry_errc.hpp>

namespace reprise {

namespace {

class category final : public std::error_category {
public:
    [[nodiscard]] const char* name() const noexcept override { return "reprise.retry"; }
    [[nodiscard]] std::string message(int value) const override {
        return static_cast<retry_errc>(value) == retry_errc::circuit_open
                   ? "circuit breaker is open"
                   : "unknown error";
    }
    /// For callers that know only `std::errc`. Our own facts say more: nothing was sent.
    [[nodiscard]] std::error_condition default_error_condition(int value) const noexcept override {
        return static_cast<retry_errc>(value) == retry_errc::circuit_open
                   ? std::errc::resource_unavailable_try_again
                   : std::error_condition(value, *this);
    }
    [[nodiscard]] bool equivalent(
        const std::error_code& code, int condition) const noexcept override {
        return code.value() == condition && std::string_view(code.category().name()) == name();
    }
};

}  // namespace

const std::error_category& retry_category() noexcept {
    static const category instance;
    return instance;
}

}  // namespace reprise
