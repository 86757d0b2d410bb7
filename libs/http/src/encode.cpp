#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include <reprise/http/encode.hpp>

namespace reprise::http {

namespace {

constexpr std::array<std::pair<int, std::string_view>, 25> reasons{{
    {100, "Continue"},
    {101, "Switching Protocols"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {204, "No Content"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {304, "Not Modified"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {411, "Length Required"},
    {413, "Content Too Large"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {505, "HTTP Version Not Supported"},
}};

constexpr std::array<std::string_view, 4> reserved_names{
    "Host", "Content-Length", "Transfer-Encoding", "Connection"};

bool is_token(std::string_view text) noexcept {
    constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
    return !text.empty() && std::ranges::all_of(text, [&](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
               (letter >= '0' && letter <= '9') || marks.find(letter) != std::string_view::npos;
    });
}

bool is_field_value(std::string_view text) noexcept {
    return std::ranges::all_of(text, [](char letter) {
        const auto byte = static_cast<unsigned char>(letter);
        return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
    });
}

bool is_target(std::string_view text) noexcept {
    return !text.empty() && std::ranges::all_of(text, [](char letter) {
        const auto byte = static_cast<unsigned char>(letter);
        return byte > 0x20 && byte < 0x7f;
    });
}

std::expected<void, http_errc> check_headers(const header_list* headers) noexcept {
    if (headers == nullptr) {
        return {};
    }
    for (const header& field : *headers) {
        if (!is_token(field.name)) {
            return std::unexpected(http_errc::header_name_invalid);
        }
        if (!is_field_value(field.value)) {
            return std::unexpected(http_errc::header_value_invalid);
        }
        if (std::ranges::any_of(reserved_names, [&](std::string_view name) {
                return equal_ignoring_case(name, field.name);
            })) {
            return std::unexpected(http_errc::header_reserved);
        }
    }
    return {};
}

void append_text(std::vector<std::byte>& out, std::string_view text) {
    const base::byte_view bytes = base::as_bytes(text);
    out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_fields(std::string& text, const header_list* headers) {
    if (headers == nullptr) {
        return;
    }
    for (const header& field : *headers) {
        text.append(field.name).append(": ").append(field.value).append("\r\n");
    }
}

constexpr bool has_no_body(int status) noexcept {
    return status < 200 || status == 204 || status == 304;
}

}  // namespace

std::expected<void, http_errc> encode_request(
    std::vector<std::byte>& out, const outgoing_request& request) {
    if (!is_token(request.method)) {
        return std::unexpected(http_errc::method_invalid);
    }
    if (!is_target(request.target)) {
        return std::unexpected(http_errc::target_invalid);
    }
    if (!is_field_value(request.host)) {
        return std::unexpected(http_errc::header_value_invalid);
    }
    if (const auto checked = check_headers(request.headers); !checked) {
        return checked;
    }
    std::string text;
    text.append(request.method).append(" ").append(request.target).append(" HTTP/1.1\r\nHost: ");
    text.append(request.host).append("\r\n");
    append_fields(text, request.headers);
    if (!request.body.empty() || request.method == "POST" || request.method == "PUT" ||
        request.method == "PATCH") {
        text.append("Content-Length: ").append(std::to_string(request.body.size())).append("\r\n");
    }
    if (request.end == connection_end::close) {
        text.append("Connection: close\r\n");
    }
    text.append("\r\n");
    append_text(out, text);
    out.insert(out.end(), request.body.begin(), request.body.end());
    return {};
}

std::expected<void, http_errc> encode_response(
    std::vector<std::byte>& out, const outgoing_response& response) {
    if (response.status < 100 || response.status > 999) {
        return std::unexpected(http_errc::status_invalid);
    }
    if (const auto checked = check_headers(response.headers); !checked) {
        return checked;
    }
    const bool is_bodiless = has_no_body(response.status);
    std::string text = "HTTP/1.1 ";
    text.append(std::to_string(response.status)).append(" ");
    text.append(reason_phrase(response.status)).append("\r\n");
    append_fields(text, response.headers);
    if (!is_bodiless && response.framing == body_framing::chunked) {
        text.append("Transfer-Encoding: chunked\r\n");
    } else if (!is_bodiless) {
        text.append("Content-Length: ").append(std::to_string(response.body.size())).append("\r\n");
    }
    if (response.end == connection_end::close) {
        text.append("Connection: close\r\n");
    }
    text.append("\r\n");
    append_text(out, text);
    if (is_bodiless) {
        return {};
    }
    if (response.framing == body_framing::chunked) {
        encode_chunk(out, response.body);
    } else {
        out.insert(out.end(), response.body.begin(), response.body.end());
    }
    return {};
}

void encode_chunk(std::vector<std::byte>& out, base::byte_view data) {
    if (data.empty()) {
        return;
    }
    std::array<char, 20> digits{};
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), data.size(), 16).ptr;
    append_text(out, {digits.data(), static_cast<std::size_t>(end - digits.data())});
    append_text(out, "\r\n");
    out.insert(out.end(), data.begin(), data.end());
    append_text(out, "\r\n");
}

void encode_last_chunk(std::vector<std::byte>& out) {
    append_text(out, "0\r\n\r\n");
}

std::string_view reason_phrase(int status) noexcept {
    for (const auto& [code, reason] : reasons) {
        if (code == status) {
            return reason;
        }
    }
    return "Unknown";
}

}  // namespace reprise::http
