#pragma once

/// Why an operation failed.

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>

#include <reprise/couchbase_types/errc.hpp>
#include <reprise/couchbase_types/error_info.hpp>
#include <reprise/couchbase_types/retry_reason.hpp>
#include <reprise/retry/failure_facts.hpp>
#include <reprise/retry/retry_history.hpp>

namespace reprise::couchbase {

/// Why an operation failed. A value that is never empty; copies share their content and may live on
/// different threads. Compare the code with an error, `error.code() == errc::document_not_found`,
/// or with a group of errors, `error.code() == error_condition::timeout`.
class error {
public:
    /// The client makes errors of operations; `info` must not be null.
    explicit error(std::shared_ptr<const error_info> info) noexcept : info_(std::move(info)) {}
    /// The same for an HTTP service, with the service's own code; 0 if it sent none.
    error(std::shared_ptr<const error_info> info, std::uint32_t service_code) noexcept
        : info_(std::move(info)), service_code_(service_code), is_of_service_(true) {}
    /// An error without a request. `detail` is for people.
    error(std::error_code code, std::string detail);

    [[nodiscard]] std::error_code code() const noexcept { return info_->code; }
    /// Returns a text for people: what failed, why and where, and each attempt on a line of its
    /// own.
    [[nodiscard]] std::string message() const;

    /// True if the server may have acted although the operation failed. Never true for reads.
    [[nodiscard]] bool is_ambiguous() const noexcept { return info_->is_ambiguous; }
    /// The code of the first error in the answer of query or analytics, for example 12009; 0 if
    /// there is none. The HTTP status is info().status, the service's text is
    /// info().server_context.
    [[nodiscard]] std::uint32_t service_code() const noexcept { return service_code_; }
    /// The number of retries. The first attempt does not count.
    [[nodiscard]] std::uint32_t retry_attempts() const noexcept { return info_->retry_attempts; }
    /// Why the operation was retried, each reason once.
    [[nodiscard]] retry_reason_set retry_reasons() const noexcept { return info_->retry_reasons; }
    /// One entry for each failed attempt (the first 8 and the last 24); null if nothing was
    /// retried. It lives as long as this error or a copy of it.
    [[nodiscard]] const retry_history* history() const noexcept { return info_->history.get(); }
    /// Everything known about the failure: names, status, the server's text, the last attempt.
    [[nodiscard]] const error_info& info() const noexcept { return *info_; }

private:
    std::shared_ptr<const error_info> info_;
    std::uint32_t service_code_ = 0;
    bool is_of_service_ = false;
};

/// Writes `message()`.
std::ostream& operator<<(std::ostream& out, const error& failure);

/// Facts for retries around an operation, so that reprise::retry can wrap it.
[[nodiscard]] failure_facts retry_facts(const error& failure) noexcept;

}  // namespace reprise::couchbase
