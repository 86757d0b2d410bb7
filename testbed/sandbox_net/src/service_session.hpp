#pragma once

#include <optional>
#include <string>
#include <vector>

#include <reprise/sandbox/service_connection.hpp>

#include "peer_session.hpp"
#include "server_core.hpp"

namespace reprise::sandbox::detail {

// A connection to a node's management, query, search, analytics or views port. It moves the bytes
// of a service_connection, and produces more of a streamed body only while the peer reads.
class service_session final : public peer_session {
public:
    service_session(
        server_core& core, std::uint64_t key, std::shared_ptr<channel> link, const port_role& role)
        : peer_session(core, key, std::move(link)), role_(role) {}

    void on_open(const std::string& certificate_user) override;
    void on_bytes(base::byte_view bytes) override;
    void on_written() override { after_call(); }
    void on_due(time_point now) override;
    void on_disturbance() override;

    // The configuration may have changed. Only streaming sessions get this call.
    void on_configuration();

private:
    // Whether a disturbance keeps the node silent.
    bool is_silent() const noexcept;
    void after_call();

    port_role role_;
    std::optional<service_connection> connection_;
    // Bytes received while the node was silent. Bounded, because the peer must wait for answers.
    std::vector<std::byte> held_;
};

}  // namespace reprise::sandbox::detail
