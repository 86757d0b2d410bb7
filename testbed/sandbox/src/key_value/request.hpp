#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/base/bytes.hpp>
#include <reprise/wire/datatype.hpp>
#include <reprise/wire/document_key.hpp>
#include <reprise/wire/frame.hpp>
#include <reprise/wire/framing_extras.hpp>
#include <reprise/wire/hello_feature.hpp>
#include <reprise/wire/message.hpp>
#include <reprise/wire/session_messages.hpp>
#include <reprise/wire/wire_error.hpp>

#include "cluster_state.hpp"
#include "key_value/sasl_session.hpp"

namespace reprise::sandbox::detail {

// The configurations that a peer has received.
struct configuration_progress {
    // The newest one sent in full. At the peer's request it is not repeated in not_my_vbucket
    // bodies.
    std::optional<wire::configuration_revision> sent;
    // The newest one announced, in full or by revision. Newer ones are pushed to subscribers.
    wire::configuration_revision announced;

    // Only changes from now on are new to the peer.
    void restart(const known_configuration& current) {
        sent.reset();
        announced = current.is_known() ? current.revision() : wire::configuration_revision{};
    }
    void on_sent(const wire::configuration_revision& revision) {
        sent = revision;
        announced = revision;
    }
};

// The negotiated state of a connection.
struct conversation {
    wire::transport over = wire::transport::plain;
    bool is_certificate_login = false;
    wire::hello_feature_set features;
    wire::agent_identity agent;
    std::optional<identity> user;
    sasl_session sasl;
    // Set and cleared together; valid until the bucket is dropped, which closes the connection.
    bucket_record* bucket = nullptr;
    node_bucket* local = nullptr;
    // The user's privileges anywhere in the bucket.
    privilege bucket_privileges = privilege::none;
    configuration_progress bucket_progress;
    configuration_progress global_progress;
    // Answers are outstanding, so HELLO and SELECT_BUCKET are refused.
    bool has_commands_in_flight = false;

    bool has(wire::hello_feature feature) const noexcept { return features.contains(feature); }
    // Call it after the user, the bucket or the user's roles change.
    void note_rights() {
        bucket_privileges = user && bucket != nullptr ? user->rights.in_bucket(bucket->options.name)
                                                      : privilege::none;
    }
    wire::key_form key_form() const noexcept {
        return has(wire::hello_feature::collections) ? wire::key_form::collection_prefixed
                                                     : wire::key_form::bare;
    }
};

struct answer_parts {
    wire::status status = wire::status::success;
    std::uint64_t cas = 0;
    wire::datatype datatype = wire::datatype::raw;
    base::byte_view extras{};
    base::byte_view key{};
    base::byte_view value{};
};

// One request while it is handled, and the functions that answer it. A handler answers exactly once
// (STAT: several frames) or closes the connection.
class request {
public:
    request(
        cluster_state& owner, node_record& at, conversation& agreed, const wire::frame_view& given,
        time_point time, audit_entry& log, std::vector<std::byte>& output) noexcept
        : cluster(owner),
          node(at),
          conv(agreed),
          frame(given),
          now(time),
          audit(log),
          out_(output) {}

    cluster_state& cluster;
    node_record& node;
    conversation& conv;
    const wire::frame_view& frame;
    const time_point now;
    audit_entry& audit;
    wire::request_frame_infos infos;
    // The privilege that the user needs for the document.
    privilege needs = privilege::none;
    // Set if the request became a pending durable write: its answer is sent once the write is
    // applied.
    std::uint64_t pending_id = 0;

    wire::opcode op() const noexcept { return frame.op(); }
    bool is_closing() const noexcept { return is_closing_; }
    // Closes the connection after the answers so far.
    void close() noexcept { is_closing_ = true; }

    // A success, or any answer whose body is not an error body.
    void answer(const answer_parts& parts);
    // The request itself is invalid: the status is sent unchanged.
    void reject(wire::status code, std::string_view text = {});
    void reject(wire::wire_errc error);
    // The request failed during execution: connections without Xerror get the equivalent older
    // status, or are closed if there is none.
    void fail(wire::status code, std::string_view text = {});
    // 0x07 with the node's configuration, unless the peer has it and asked not to receive it again.
    void not_my_vbucket();
    // 0x88 or 0x8c with the manifest uid.
    void unknown_name(wire::status code);
    // Answers with a configuration as value; empty if `known` is not older. Records what was sent.
    void answer_configuration(
        const known_configuration& configuration, configuration_progress& progress,
        const std::optional<wire::configuration_revision>& known);
    // An answer that a fault rule created.
    void answer_fault(const fault_status& fault);

private:
    void error(wire::status code, const wire::error_context& context);
    void configuration_body(const known_configuration& configuration, answer_parts& parts) const;

    std::vector<std::byte>& out_;
    bool is_closing_ = false;
};

// The older status that connections without Xerror get instead; empty: the server disconnects.
std::optional<wire::status> status_without_xerror(
    wire::opcode op, wire::status code, bool has_collections) noexcept;

}  // namespace reprise::sandbox::detail
