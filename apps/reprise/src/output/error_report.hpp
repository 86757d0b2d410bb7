#pragma once

/// Errors of the client as the program reports them: exit code, text and JSON.

#include <expected>
#include <string>
#include <system_error>
#include <utility>

#include <reprise/couchbase.hpp>

#include "output/output.hpp"

namespace reprise::app {

/// The exit code for an error of the client.
[[nodiscard]] exit_code exit_code_of(const std::error_code& code) noexcept;

/// A JSON object: the error's symbolic name, number and category, the exit code, and every attempt.
[[nodiscard]] std::string to_json(const couchbase::error& error);

/// The same for a failure that does not come from the client: its name is that of the exit code.
[[nodiscard]] std::string error_json(exit_code code, std::string_view message);

/// An operation of the client failed. `what()` is the error's complete text.
class operation_failure : public failure {
public:
    explicit operation_failure(couchbase::error error)
        : failure(error.message(), exit_code_of(error.code())), error_(std::move(error)) {}
    [[nodiscard]] const couchbase::error& error() const noexcept { return error_; }

private:
    couchbase::error error_;
};

/// Returns the result of a call; throws `operation_failure` if it failed.
template <class Result>
[[nodiscard]] Result take(std::expected<Result, couchbase::error>&& result) {
    if (!result) {
        throw operation_failure(std::move(result.error()));
    }
    return std::move(*result);
}

}  // namespace reprise::app
