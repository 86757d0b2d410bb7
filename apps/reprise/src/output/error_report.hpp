#pragma once

/// Errors of the client as the program reports them: exit code, text and JSON.

#include <expected>
#include <string>
#include <system_error>
#include <utility>

#include <reprise/couchbase.hpp>

#include "output/output.hpp"

namespace reprise::app {

/// The class of an error, for scripts.
[[nodiscard]] exit_code exit_code_of(const std::error_code& code) noexcept;

/// A JSON object: the error's symbolic name, number and category, the exit code, and every attempt.
[[nodiscard]] std::string to_json(const couchbase::error& error);

/// The same for a failure that is not the client's: its name is that of the exit code.
[[nodiscard]] std::string error_json(exit_code code, std::string_view message);

/// The client could not do it. `what()` is the error's whole text.
class operation_failure : public failure {
public:
    explicit operation_failure(couchbase::error error)
        : failure(error.message(), exit_code_of(error.code())), error_(std::move(error)) {}
    [[nodiscard]] const couchbase::error& error() const noexcept { return error_; }

private:
    couchbase::error error_;
};

/// The result of a call; throws `operation_failure` if it has none.
template <class Result>
[[nodiscard]] Result take(std::expected<Result, couchbase::error>&& result) {
    if (!result) {
        throw operation_failure(std::move(result.error()));
    }
    return std::move(*result);
}

}  // namespace reprise::app
