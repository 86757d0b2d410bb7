#pragma once

#include <string>
#include <string_view>

#include <reprise/http/request_parser.hpp>

#include "peer_session.hpp"
#include "server_core.hpp"

namespace reprise::sandbox::detail {

// A connection to the control port. Handles one request at a time.
class http_session final : public peer_session {
public:
    http_session(server_core& core, std::uint64_t key, std::shared_ptr<channel> link);

    void on_open(const std::string& /*certificate_user*/) override {}
    void on_bytes(base::byte_view bytes) override;
    void on_written() override {}
    void on_due(time_point now) override;
    void on_disturbance() override {}

private:
    void answer_requests();
    void answer_control(const http::request& request);
    void reply(int status, std::string_view content_type, std::string_view body, bool keep_alive);
    void reply(
        int status, const http::header_list& headers, std::string_view body, bool keep_alive);
    void refuse(http::http_errc error);

    http::request_parser parser_;
};

}  // namespace reprise::sandbox::detail
