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

// The mechanisms that a port offers, strongest first.
std::vector<wire::sasl_mechanism> offered_mechanisms(
    const cluster_options& options, wire::transport over);

// The result of one step of an authentication.
struct sasl_step_result {
    wire::status status = wire::status::auth_error;
    std::string data;                // the server's message, or the context of an error
    std::optional<identity> winner;  // set if and only if status is success
};

// The server side of one authentication: auth, then steps as long as the answer is 0x21.
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

    // Whether a step is expected.
    bool is_waiting() const noexcept { return scram_.has_value(); }

private:
    sasl_step_result start_scram(
        cluster_state& cluster, wire::sasl_mechanism mechanism, std::string_view data);

    std::optional<wire::scram_server> scram_;
    wire::sasl_mechanism mechanism_{};
    std::string username_;
};

}  // namespace reprise::sandbox::detail
