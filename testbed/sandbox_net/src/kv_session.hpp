#pragma once

#include <optional>
#include <string>

#include <reprise/sandbox/connection.hpp>

#include "peer_session.hpp"
#include "server_core.hpp"

namespace reprise::sandbox::detail {

// A key-value connection: passes bytes to the cluster's connection and sends its answers.
class kv_session final : public peer_session {
public:
    kv_session(
        server_core& core, std::uint64_t key, std::shared_ptr<channel> link, port_role role,
        std::string peer)
        : peer_session(core, key, std::move(link)), role_(role), peer_(std::move(peer)) {}

    void on_open(const std::string& certificate_user) override;
    void on_bytes(base::byte_view bytes) override;
    void on_written() override;
    void on_due(time_point now) override;
    void on_disturbance() override;
    void release() noexcept override;

    // Something that concerns this connection happened in the cluster.
    void on_wakeup(time_point now);

private:
    void after_call();

    port_role role_;
    std::string peer_;
    std::optional<connection> connection_;
};

}  // namespace reprise::sandbox::detail
