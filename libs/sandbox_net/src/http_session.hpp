#pragma once

#include <optional>
#include <string>

#include <reprise/http/request_parser.hpp>
#include <reprise/sandbox/management.hpp>

#include "peer_session.hpp"
#include "server_core.hpp"

namespace reprise::sandbox::detail {

// A peer of the management or control port. One request after the other; a streaming answer takes
// the connection over for good.
class http_session final : public peer_session {
public:
    http_session(
        server_core& core, std::uint64_t key, std::shared_ptr<channel> link, const port_role& role);

    void on_open(const std::string& certificate_user) override;
    void on_bytes(base::byte_view bytes) override;
    void on_written() override {}
    void on_due(time_point now) override;

    // The configuration may have changed. Only for streaming sessions.
    void on_configuration();

private:
    void answer_requests();
    void answer_management(const http::request& request);
    void answer_control(const http::request& request);
    void reply(int status, std::string_view content_type, std::string_view body, bool keep_alive);
    void refuse(http::http_errc error);

    port_role role_;
    std::string certificate_user_;
    http::request_parser parser_;
    std::optional<management_response::stream> stream_;
};

}  // namespace reprise::sandbox::detail
