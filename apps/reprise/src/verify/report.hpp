#pragma once

/// What `reprise verify` prints and writes.

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "verify/outcome.hpp"

namespace reprise::app {

struct verify_row {
    std::string_view name;
    check_outcome outcome{};
    std::chrono::duration<double, std::milli> time{};
};

/// What was verified, without secrets: no password and no user.
struct verify_subject {
    std::string connection{};
    std::string bucket{};
    std::string scope{};
    std::string collection{};
    std::chrono::seconds load{0};  ///< 0: no load.
    bool is_embedded = false;      ///< The sandbox that the command started.
    std::string server_version{};  ///< Empty if it is not known.
};

struct verify_result {
    verify_subject subject{};
    std::vector<verify_row> rows{};
    std::vector<std::string> left{};  ///< Names of what could not be removed.
    bool is_interrupted = false;

    /// No check failed and nothing is left.
    [[nodiscard]] bool is_good() const noexcept;
};

/// "24 of 24 held, 2 skipped"
[[nodiscard]] std::string summary_of(const verify_result& result);
/// A table of the checks, and the summary.
[[nodiscard]] std::string to_text(const verify_result& result);
/// Everything: versions, subject, checks with their errors and the attempts of these. Like logs, it
/// contains neither keys of documents nor credentials.
[[nodiscard]] std::string to_json(const verify_result& result);

}  // namespace reprise::app
