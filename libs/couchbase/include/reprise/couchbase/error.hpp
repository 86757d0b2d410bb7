#pragma once

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

// What this side refuses before anything is tried. Category "reprise.client".
enum class client_errc : int {
    // A blocking call from the thread that would have to finish it. Use the asynchronous form.
    blocking_call_in_loop = 1,
    // Too many operations were handed over and not yet taken; see
    // cluster_options::submission_count_max. Nothing was sent; a retry may help.
    submission_queue_full,
    // The text given to connect is no connection string, or sets what this client does not have;
    // the message names the wrong part.
    connection_string_invalid,
    // An option contradicts another one or cannot be used; the message names it.
    option_invalid,
    // A certificate or key could not be read; the message says which and why.
    certificate_unreadable,
    // This process was forked from the one that made the client: its thread and its connections
    // belong to the parent. Make a new client here.
    used_after_fork,
    // The system gave no thread or no file descriptor to make a client with; the message says what
    // it said. A retry may help.
    no_resources,
};

[[nodiscard]] const std::error_category& client_category() noexcept;
[[nodiscard]] std::error_code make_error_code(client_errc error) noexcept;
// The enumerator's name.
[[nodiscard]] std::string_view to_string(client_errc error) noexcept;

// Why a call failed. A value; copies share their content. Never empty: an `error` exists only where
// something went wrong. Compare with `error.code() == errc::document_not_found`; for groups with
// `error_condition::timeout`.
class error {
public:
    // Takes what the engine found out; `info` must not be null.
    explicit error(std::shared_ptr<const error_info> info) noexcept : info_(std::move(info)) {}
    // The same of an HTTP service, with the service's own number; 0: it gave none.
    error(std::shared_ptr<const error_info> info, std::uint32_t service_code) noexcept
        : info_(std::move(info)), service_code_(service_code), is_of_service_(true) {}
    // An error without a request behind it. `detail` is for people.
    error(std::error_code code, std::string detail);

    [[nodiscard]] std::error_code code() const noexcept { return info_->code; }
    // One paragraph for people: what failed, why, where, and each attempt on a line of its own.
    [[nodiscard]] std::string message() const;

    // True: the server may have acted although the call failed. Never true for reads.
    [[nodiscard]] bool is_ambiguous() const noexcept { return info_->is_ambiguous; }
    // The first error's number in the answer of query or analytics, e.g. 12009; 0: none. The
    // HTTP status is info().status, the service's words are info().server_context.
    [[nodiscard]] std::uint32_t service_code() const noexcept { return service_code_; }
    // Retries made; the first attempt is none.
    [[nodiscard]] std::uint32_t retry_attempts() const noexcept { return info_->retry_attempts; }
    // Why it was tried again, each reason once.
    [[nodiscard]] retry_reason_set retry_reasons() const noexcept { return info_->retry_reasons; }
    // One entry for each failed attempt (the first 8 and the last 24), null if nothing was retried.
    // Lives as long as this error or a copy of it.
    [[nodiscard]] const retry_history* history() const noexcept { return info_->history.get(); }
    // Names, status, the server's own words, identity of the last attempt.
    [[nodiscard]] const error_info& info() const noexcept { return *info_; }

private:
    std::shared_ptr<const error_info> info_;
    std::uint32_t service_code_ = 0;
    bool is_of_service_ = false;
};

// `message()`.
std::ostream& operator<<(std::ostream& out, const error& failure);

// Lets any call be wrapped in reprise::retry (found by argument-dependent lookup).
[[nodiscard]] failure_facts retry_facts(const error& failure) noexcept;

}  // namespace reprise::couchbase

template <>
struct std::is_error_code_enum<reprise::couchbase::client_errc> : std::true_type {};
