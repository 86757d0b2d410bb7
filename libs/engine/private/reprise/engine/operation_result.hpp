#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <reprise/base/slice.hpp>
#include <reprise/engine/http_operation.hpp>
#include <reprise/engine/scan_request.hpp>
#include <reprise/engine/vocabulary.hpp>
#include <reprise/wire/datatype.hpp>
#include <reprise/wire/ids.hpp>
#include <reprise/wire/message.hpp>

namespace reprise::engine {

// The result of one sub-document path, in the order of the specs.
struct subdoc_result {
    std::error_code ec{};      // of this path; no error: success
    std::uint16_t status = 0;  // as sent by the server
    base::slice value{};
};

// The result of an operation. It owns its data, except for the bucket's name, and may be moved to
// another thread.
struct operation_result {
    // No error means success. Single paths of a lookup may still have failed.
    std::error_code ec{};
    // Set exactly when `ec` is.
    std::shared_ptr<const error_info> error{};

    std::uint64_t cas = 0;
    std::uint32_t flags = 0;
    std::uint32_t expiry = 0;  // exists only
    wire::datatype datatype = wire::datatype::raw;
    base::slice value{};        // inflated if it was sent compressed
    std::uint64_t counter = 0;  // increment, decrement
    bool is_present = false;    // exists: the document is present and alive
    bool is_deleted = false;    // sub-document access to a tombstone
    std::optional<wire::mutation_token> token{};
    wire::vbucket_id vbucket{};  // of the key; belongs to the token
    // Its bucket's name, which belongs to the token as well. Lives as long as the engine.
    const std::string* bucket = nullptr;
    std::vector<subdoc_result> paths{};
    // Time that the server spent, if it reported it.
    std::optional<std::chrono::microseconds> server_duration{};

    // Set for HTTP operations, and only for them.
    std::unique_ptr<http_result> http{};
    // Set for range scans, and only for them, with an error or without.
    std::unique_ptr<scan_result> scan{};

    std::uint32_t retry_attempts = 0;
    // Null if nothing was retried.
    std::shared_ptr<const retry_history> history{};

    [[nodiscard]] bool has_value() const noexcept { return !ec; }
};

}  // namespace reprise::engine
