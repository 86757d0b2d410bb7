#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <system_error>

#include <reprise/retry/driver/composed_strategy.hpp>
#include <reprise/retry/failure_facts.hpp>

namespace reprise {

failure_description::~failure_description() = default;

namespace {

#if defined(_WIN32)
constexpr std::string_view system_table = "windows";
#else
constexpr std::string_view system_table = "generic";  // `errno`, of which `std::errc` is made.
#endif

/// The row of a code whose category maps it to a `std::errc`, if there is one.
[[nodiscard]] const detail::error_row* find_condition(const std::error_code& code) noexcept {
    for (const detail::error_table& table : detail::error_tables()) {
        if (table.category != "generic") {
            continue;
        }
        for (const detail::error_row& row : table.rows) {
            if (row.safety && code == static_cast<std::errc>(row.code)) {
                return &row;
            }
        }
    }
    return nullptr;
}

/// Categories are known by their names: the core does not include Asio, whose two variants have the
/// same names. That of the system is "asio.system" in the standalone Asio before 1.24.
[[nodiscard]] const detail::error_row* find_known(const std::error_code& code) noexcept {
    if (code.category() == std::generic_category()) [[likely]] {
        return detail::find_errno(code.value());  // found without looking at names
    }
    const std::string_view category = code.category().name();
    if (category == "system" || category == "asio.system") {
        return detail::find_error(system_table, code.value());
    }
    const detail::error_row* const found = detail::find_error(category, code.value());
    return found != nullptr ? found : find_condition(code);
}

/// The messages of the standard libraries and of Asio for a code for which the system has no text.
[[nodiscard]] bool is_no_text(std::string_view message, const std::error_category& category) {
    constexpr std::string_view unknown = "unknown error";
    return message.empty() || message == std::string(category.name()) + " error" ||
           std::ranges::equal(message.substr(0, unknown.size()), unknown, {}, [](char letter) {
               return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
           });
}

}  // namespace

failure_facts detail::describe_error_code(const std::error_code& code) noexcept {
    failure_facts facts;
    facts.code = static_cast<std::uint32_t>(code.value());
    facts.category = &code.category();
    const detail::error_row* const known = find_known(code);
    if (known != nullptr && known->safety) {
        facts.safety = known->safety;
        facts.timeout = known->timeout;
        facts.fault = known->fault;
    }
    return facts;
}

std::string detail::text_of_code(const std::error_code& code) {
    std::string text = code.message();
    const error_row* const known = is_no_text(text, code.category()) ? find_known(code) : nullptr;
    if (known != nullptr) {
        text = known->name;
        if (std::islower(static_cast<unsigned char>(text.front())) != 0) {  // not ERROR_TIMEOUT
            std::ranges::replace(text, '_', ' ');
        }
    }
    return text;
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
    } catch (const invalid_settings&) {
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
        return detail::describe_error_code(error.code());
    } catch (const std::error_code& code) {
        return detail::describe_error_code(code);
    } catch (const std::error_condition& condition) {
        return detail::describe_error_code({condition.value(), condition.category()});
    } catch (const std::errc condition) {
        return detail::describe_error_code(std::make_error_code(condition));
    } catch (...) {  // it has no facts
    }
#else
    static_cast<void>(thrown);
#endif
    return {};
}

}  // namespace reprise
