#include <reprise/services/service_call.hpp>

#include <algorithm>
#include <tuple>

#include <reprise/base/enum_table.hpp>
#include <reprise/json/parse.hpp>
#include <reprise/services/go_duration.hpp>

#include "request_body.hpp"

namespace reprise::services {

std::string_view to_string(service_call_errc code) noexcept {
    return base::name_of(code);
}

std::string to_string(const service_call_error& error) {
    return std::string(to_string(error.code)) + ": " + error.what;
}

std::chrono::milliseconds server_timeout(std::chrono::milliseconds timeout) noexcept {
    constexpr std::chrono::milliseconds head_start{500};
    return timeout > std::chrono::seconds(5) ? timeout - head_start : timeout;
}

std::string quote_identifier(std::string_view name) {
    std::string out = "`";
    for (const char letter : name) {
        out += letter;
        if (letter == '`') {
            out += letter;
        }
    }
    return out + '`';
}

namespace detail {

json::writer& request_body::key(std::string_view name) {
    if (!json::is_valid_utf8(name)) {
        fail(service_call_errc::text_not_utf8, name);
    }
    if (!names_.emplace(name).second) {
        fail(service_call_errc::name_repeated, name);
    }
    return writer_.key(name);
}

void request_body::fail(service_call_errc code, std::string_view what) {
    if (!failure_) {
        failure_ = service_call_error{code, std::string(what)};
    }
}

void request_body::text(std::string_view name, std::string_view value) {
    if (value.empty()) {
        return;
    }
    if (!json::is_valid_utf8(value)) {
        fail(service_call_errc::text_not_utf8, name);
    }
    key(name).value(value);
}

void request_body::flag(std::string_view name, bool value) {
    key(name).value(value);
}

void request_body::flag_if_set(std::string_view name, bool value) {
    if (value) {
        flag(name, true);
    }
}

void request_body::number(std::string_view name, std::uint64_t value) {
    key(name).value(value);
}

void request_body::number_text(std::string_view name, std::optional<std::uint64_t> value) {
    if (value) {
        key(name).value(std::to_string(*value));
    }
}

void request_body::duration(std::string_view name, std::optional<std::chrono::milliseconds> value) {
    if (value) {
        key(name).value(to_millisecond_text(*value));
    }
}

// Text that is not one whole JSON value could end the object early and add its own members.
void request_body::element(std::string_view what, std::string_view value) {
    if (!json::parse(value, {.depth_max = 256})) {
        fail(service_call_errc::value_not_json, what);
        return;
    }
    writer_.raw(value);
}

void request_body::json(std::string_view name, std::string_view value) {
    key(name);
    element(name, value);
}

void request_body::member(std::string_view name, const couchbase::json_fragment& value) {
    if (const auto problem = problem_of(name, value)) {
        fail(problem->code, problem->what);
    }
    json(name, value.text());
}

// Each element is named by its place in the list.
void request_body::list(std::string_view name, std::span<const couchbase::json_fragment> values) {
    if (values.empty()) {
        return;
    }
    key(name).begin_array();
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string what = std::string(name) + '[' + std::to_string(i) + ']';
        if (const auto problem = problem_of(what, values[i])) {
            fail(problem->code, problem->what);
        }
        element(what, values[i].text());
    }
    writer_.end_array();
}

void request_body::parameters(std::span<const couchbase::named_value> values) {
    for (const auto& [name, value] : values) {
        if (name.empty() || name == "$") {
            fail(service_call_errc::text_missing, "parameter name");
        }
        member(name.starts_with('$') ? name : '$' + name, value);
    }
}

void request_body::members(std::span<const couchbase::named_value> values) {
    for (const auto& [name, value] : values) {
        member(name, value);
    }
}

std::expected<std::string, service_call_error> request_body::finish() {
    writer_.end_object();
    if (failure_) {
        return std::unexpected(*std::move(failure_));
    }
    return std::move(text_);
}

std::optional<service_call_error> problem_of(
    std::string_view what, const couchbase::json_fragment& value) {
    if (!value.problem().empty()) {
        return service_call_error{
            service_call_errc::value_not_encoded, std::string(what) + ": " + value.problem()};
    }
    if (value.is_macro()) {
        return service_call_error{
            service_call_errc::option_out_of_place,
            std::string(what) + ": macros are for sub-documents only"};
    }
    return std::nullopt;
}

std::vector<couchbase::mutation_token> newest_of(const couchbase::mutation_state& state) {
    std::vector<couchbase::mutation_token> newest = state.tokens;
    const auto place = [](const couchbase::mutation_token& token) {
        return std::pair(std::string_view(token.bucket), token.vbucket);
    };
    std::ranges::sort(newest, [&](const auto& left, const auto& right) {
        return std::tuple(place(left), right.seqno, left.vbucket_uuid) <
               std::tuple(place(right), left.seqno, right.vbucket_uuid);
    });
    const auto repeated = std::ranges::unique(newest, {}, place);
    newest.erase(repeated.begin(), repeated.end());
    return newest;
}

std::optional<std::chrono::milliseconds> server_limit(
    std::optional<reprise::duration> timeout, const request_context& context) {
    if (!timeout) {
        timeout = context.timeout_default;
    }
    if (!timeout) {
        return std::nullopt;
    }
    using std::chrono::milliseconds;
    return server_timeout(
        std::max(std::chrono::duration_cast<milliseconds>(*timeout), milliseconds{1}));
}

std::string query_context(const request_context& context) {
    return context.bucket.empty() ? std::string()
                                  : "default:" + quote_identifier(context.bucket) + '.' +
                                        quote_identifier(context.scope);
}

service_call_result make_post(
    wire::service to, std::string target, request_body& body, std::string_view rows_member) {
    auto text = body.finish();
    if (!text) {
        return std::unexpected(std::move(text.error()));
    }
    service_call call;
    call.service = to;
    call.method = "POST";
    call.target = std::move(target);
    call.content_type = "application/json";
    call.body = *std::move(text);
    call.rows_member = rows_member;
    return call;
}

}  // namespace detail

}  // namespace reprise::services
