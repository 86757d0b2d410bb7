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
    // Write the user's JSON after checking it.
    void json(std::string_view name, std::string_view value);
    void list(std::string_view name, std::span<const couchbase::json_fragment> values);
    // Adds `$` to names that lack it.
    void parameters(std::span<const couchbase::named_value> values);
    void members(std::span<const couchbase::named_value> values);

    // Options common to query and analytics: context id, timeout, readonly and parameters.
    template <class Options>
    void statement_options(const Options& options, const request_context& context);

    // No member that is written later may have this name.
    void reserve(std::string_view name) { names_.emplace(name); }
    // Checks that the key does not repeat. The caller writes the value.
    json::writer& key(std::string_view name);
    void fail(service_call_errc code, std::string_view what);

    // Returns the whole object, or the first error.
    std::expected<std::string, service_call_error> finish();

private:
    void element(std::string_view what, std::string_view value);
    void member(std::string_view name, const couchbase::json_fragment& value);

    std::string text_;
    json::writer writer_;
    std::set<std::string, std::less<>> names_;
    std::optional<service_call_error> failure_;
};

// Why a value cannot be sent, or nothing.
std::optional<service_call_error> problem_of(
    std::string_view what, const couchbase::json_fragment& value);

// Returns the newest mutation of each vbucket, ordered by bucket and vbucket.
std::vector<couchbase::mutation_token> newest_of(const couchbase::mutation_state& state);

// The limit to send, if there is one.
std::optional<std::chrono::milliseconds> server_limit(
    std::optional<reprise::duration> timeout, const request_context& context);

// Where names of a statement are looked up, as the service expects it; empty: in the cluster.
std::string query_context(const request_context& context);

// Writes nothing for the server's default.
void write_consistency(request_body& body, couchbase::scan_consistency consistency);

// The context id of a request: the user's or the client's.
template <class Options>
const std::string& context_id(const Options& options, const request_context& context) {
    return options.client_context_id.empty() ? context.client_context_id
                                             : options.client_context_id;
}

template <class Options>
void request_body::statement_options(const Options& options, const request_context& context) {
    text("client_context_id", context_id(options, context));
    duration("timeout", server_limit(options.timeout, context));
    flag_if_set("readonly", options.readonly);
    list("args", options.positional);
    parameters(options.named);
}

// Creates a call with a JSON body.
service_call_result make_post(
    wire::service to, std::string target, request_body& body, std::string_view rows_member);

}  // namespace reprise::services::detail
