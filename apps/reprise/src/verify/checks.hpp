#pragma once

/// The checks of `reprise verify`: what a cluster must do so that this client keeps its promises.
/// They use only documents, scopes and indexes of their own.

#include <span>
#include <string_view>

#include "verify/outcome.hpp"
#include "verify/session.hpp"

namespace reprise::app {

struct verify_check {
    std::string_view name;
    check_outcome (*run)(verify_session& session);
};

/// Groups, in the order in which they run. Those for connecting are first: without a connection the
/// others make no sense.
[[nodiscard]] std::span<const verify_check> connection_checks() noexcept;
[[nodiscard]] std::span<const verify_check> document_checks() noexcept;
[[nodiscard]] std::span<const verify_check> read_checks() noexcept;
[[nodiscard]] std::span<const verify_check> retry_checks() noexcept;
[[nodiscard]] std::span<const verify_check> service_checks() noexcept;
[[nodiscard]] std::span<const verify_check> management_checks() noexcept;

}  // namespace reprise::app
