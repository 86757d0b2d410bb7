#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/json/write.hpp>
#include <reprise/services/service_call.hpp>

namespace reprise::services::detail {

// Writes one JSON object as the body of a request. Errors are sticky: write all members, then check
// once.
class request_body {
public:
    request_body() : writer_(text_) { writer_.begin_object(); }

    // Omitted if empty.
    void text(std::string_view name, std::string_view value);
    void flag(std::string_view name, bool value);
    // Omitted if false.
    void flag_if_set(std::string_view name, bool value);
    void number(std::string_view name, std::uint64_t value);
    // For numbers that the service expects as strings.
    void number_text(std::string_view name, std::optional<std::uint64_t> value);
    void duration(std::string_view name, std::optional<std::chrono::milliseconds> value);
    // Writes raw JSON after checking it.
    void json(std::string_view name, std::string_view value);
    void args(std::span<const std::string> values);
    // Adds `$` to names that lack it.
    void parameters(std::span<const named_json> values);
    void members(std::span<const named_json> values);

    // Checks that the key does not repeat. The caller writes the value.
    json::writer& key(std::string_view name);
    void fail(service_call_errc code, std::string_view what);

    // Returns the whole object, or the first error.
    std::expected<std::string, service_call_error> finish();

private:
    void element(std::string_view what, std::string_view value);

    std::string text_;
    json::writer writer_;
    std::set<std::string, std::less<>> names_;
    std::optional<service_call_error> failure_;
};

// Returns the highest mark of each vbucket, ordered by bucket and vbucket.
std::vector<mutation_mark> newest_marks(std::span<const mutation_mark> marks);

// Creates a call with a JSON body.
service_call_result make_post(
    wire::service to, std::string target, request_body& body, std::string_view rows_member);

}  // namespace reprise::services::detail
