#include "http_session.hpp"

#include <reprise/http/encode.hpp>
#include <reprise/json/parse.hpp>
#include <reprise/json/write.hpp>
#include <reprise/sandbox/control.hpp>
#include <reprise/sandbox/service_connection.hpp>

#include "control_access.hpp"

namespace reprise::sandbox::detail {

namespace {

constexpr std::string_view json_type = "application/json";
constexpr std::string_view text_type = "text/plain";

std::string error_json(std::string_view text) {
    return json::serialize(json::object{{"ok", false}, {"error", text}});
}

// Everything in the page is inline, and it may only send requests to this server.
http::header_list page_headers() {
    return {
        {"Content-Type", "text/html; charset=utf-8"},
        {"Cache-Control", "no-store"},
        {"X-Content-Type-Options", "nosniff"},
        {"X-Frame-Options", "DENY"},
        {"Referrer-Policy", "no-referrer"},
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
         "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'"},
    };
}

}  // namespace

http_session::http_session(server_core& core, std::uint64_t key, std::shared_ptr<channel> link)
    : peer_session(core, key, std::move(link)),
      parser_({.body_size_max_bytes = core.options().http_body_size_max_bytes}) {}

void http_session::on_bytes(base::byte_view bytes) {
    parser_.feed(bytes);
    answer_requests();
    core_.sessions().schedule(*this, own_due());
    core_.settle();
}

void http_session::on_due(time_point now) {
    if (!is_stalled(now)) {
        core_.sessions().schedule(*this, own_due());
    }
}

void http_session::answer_requests() {
    while (!is_ending_) {
        auto next = parser_.next();
        if (!next) {
            refuse(next.error());
            return;
        }
        if (!*next) {
            return;
        }
        answer_control(**next);
    }
}

void http_session::answer_control(const http::request& request) {
    if (const std::string_view why = find_foreign_site(request); !why.empty()) {
        reply(403, json_type, error_json(why), false);
        return;
    }
    if (!is_token(token_of(request), core_.addresses().control_token)) {
        reply(401, json_type, error_json("wrong or missing bearer token"), false);
        return;
    }
    const bool has_console = !core_.options().console_page.empty();
    if (has_console && path_of(request) == "/console" && request.method == "GET") {
        reply(200, page_headers(), core_.options().console_page, request.is_kept_alive);
        return;
    }
    if (path_of(request) != "/control") {
        reply(404, json_type, error_json("the only path is /control"), request.is_kept_alive);
        return;
    }
    if (request.method != "POST") {
        reply(405, json_type, error_json("the only method is POST"), request.is_kept_alive);
        return;
    }
    const auto command = json::parse(request.body);
    if (!command) {
        reply(400, json_type, error_json(to_string(command.error())), request.is_kept_alive);
        return;
    }
    core_.brain().on_time(core_.now());  // some commands start a time from here
    const json::value answer = handle_control(core_.brain(), command->root, &core_);
    core_.settle();  // changes take effect before the peer gets the answer
    reply(200, json_type, json::serialize(answer), request.is_kept_alive);
}

void http_session::reply(
    int status, std::string_view content_type, std::string_view body, bool keep_alive) {
    reply(status, http::header_list{{"Content-Type", std::string(content_type)}}, body, keep_alive);
}

void http_session::reply(
    int status, const http::header_list& headers, std::string_view body, bool keep_alive) {
    const auto encoded = http::encode_response(
        link_->output(),
        {.status = status,
         .headers = &headers,
         .body = base::as_bytes(body),
         .end = keep_alive ? http::connection_end::keep_alive : http::connection_end::close});
    if (!encoded) {
        // The status or the type cannot be encoded; report it to the peer.
        http::encode_response(link_->output(), {.status = 500}).value();
    }
    if (write_out() && !keep_alive) {
        end_gently();
    }
}

void http_session::refuse(http::http_errc error) {
    reply(http_status_of(error), text_type, std::string(to_string(error)) + "\n", false);
}

}  // namespace reprise::sandbox::detail
