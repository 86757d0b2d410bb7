#include "http_operations/outgoing_request.hpp"

#include <algorithm>

#include <reprise/http/authorization.hpp>
#include <reprise/http/encode.hpp>

namespace reprise::engine {
namespace {

void authorize(http::header_list& headers, const credentials& identity) {
    headers.push_back(
        {"Authorization", identity.bearer_token.empty()
                              ? http::make_basic_authorization(identity.username, identity.password)
                              : "Bearer " + identity.bearer_token});
}

}  // namespace

std::expected<void, std::string> encode_call(
    http_connection& connection, const service_call& call, const engine_context& context) {
    REPRISE_ASSERT(connection.may_carry_credentials);
    http::header_list headers = call.headers;
    if (!call.content_type.empty()) {
        headers.push_back({"Content-Type", call.content_type});
    }
    if (!has_client_certificate(context.options)) {
        authorize(headers, context.client.identity.get());
    }
    headers.push_back({"User-Agent", context.options.agent});
    http::outgoing_request request;
    request.method = call.method;
    request.target = call.target;
    request.host = connection.pool->endpoint->name;
    request.headers = &headers;
    request.body = base::as_bytes(call.body);
    connection.outgoing.clear();
    connection.written = 0;
    connection.is_handed = false;
    connection.has_answer_begun = false;
    if (const auto encoded = http::encode_request(connection.outgoing, request); !encoded) {
        connection.outgoing.clear();
        return std::unexpected(std::string(to_string(encoded.error())));
    }
    return {};
}

std::size_t read_size_for(const service_call& call, std::size_t rows_size_max) noexcept {
    constexpr std::size_t read_size_max = 8 * read_size_default;
    return call.rows_member.empty()
               ? read_size_default
               : std::clamp(rows_size_max / 2, read_size_default, read_size_max);
}

}  // namespace reprise::engine
