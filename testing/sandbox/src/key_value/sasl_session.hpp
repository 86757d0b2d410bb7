#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/wire/sasl.hpp>
#include <reprise/wire/scram.hpp>
#include <reprise/wire/status.hpp>

#include "cluster_state.hpp"

namespace reprise::sandbox::detail {

// Mechanisms a port offers, strongest first.
std::vector<wire::sasl_mechanism> offered_mechanisms(
    const cluster_options& options, wire::transport over);

// What a step of an authentication gives.
struct sasl_step_result {
    wire::status status = wire::status::auth_error;
    std::string data;                // the server's message, or the context of an error
    std::optional<identity> winner;  // set exactly when status is success
};

// The server's side of one authentication: auth, then steps as long as 0x21 is answered.
//
//     idle -> on_auth: success | failure -> idle
//             on_auth: 0x21 -> waiting -> on_step: success | failure -> idle
class sasl_session {
public:
    sasl_step_result on_auth(
        cluster_state& cluster, wire::transport over, std::string_view mechanism,
        std::string_view data);
    sasl_step_result on_step(
        cluster_state& cluster, std::string_view mechanism, std::string_view data);

    // A step is expected.
    bool is_waiting() const noexcept { return scram_.has_value(); }

private:
    sasl_step_result start_scram(
        cluster_state& cluster, wire::sasl_mechanism mechanism, std::string_view data);

    std::optional<wire::scram_server> scram_;
    wire::sasl_mechanism mechanism_{};
    std::string username_;
};

}  // namespace reprise::sandbox::detail
