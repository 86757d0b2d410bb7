#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/engine/engine_options.hpp>
#include <reprise/wire/error_map.hpp>
#include <reprise/wire/frame.hpp>
#include <reprise/wire/hello_feature.hpp>
#include <reprise/wire/sasl.hpp>

namespace reprise::engine {

// Why the bootstrap of a connection failed.
enum class bootstrap_failure : std::uint8_t {
    none,
    hello_refused,
    error_map_corrupt,      // reconnect without XERROR
    mechanism_unavailable,  // no known mechanism offered; the credentials may be right
    only_plain_offered,     // the server offers only PLAIN, which is not allowed here
    token_unprotected,      // a bearer token needs verified TLS
    credentials_refused,    // 0x20 to a mechanism that the server had offered
    proof_refused,          // SCRAM's own refusal: e=invalid-proof, e=unknown-user, ...
    signature_wrong,        // the server does not know the password
    signature_missing,      // the server did not prove that it knows the password
    nonce_mismatch,         // the server's nonce does not extend ours: a replay or a forgery
    iterations_too_few,     // fewer iterations of key stretching than RFC 7677 allows
    iterations_too_many,    // more iterations than the options allow
    key_not_derived,        // the password could not be stretched
    sasl_failed,            // any other failure of SASL
    bucket_no_access,       // select bucket: 0x24
    bucket_not_found,       // select bucket: 0x01
    collections_refused,    // select bucket: 0x83; reconnect without collections
    select_failed,          // select bucket: anything else
    unexpected_answer,      // an answer to a request that was not sent
    malformed_answer,       // an answer that cannot be decoded
};

[[nodiscard]] std::string_view to_string(bootstrap_failure failure) noexcept;
// Whether one of the two sides refused the login. This sets the authentication state of the node.
[[nodiscard]] bool is_login_refusal(bootstrap_failure failure) noexcept;
// Whether the server accepted our proof without giving its own. A refusal (`e=`) proves nothing
// either.
[[nodiscard]] bool is_server_unproved(bootstrap_failure failure) noexcept;

struct bootstrap_options {
    const engine_options& client;  // outlive the machine
    credentials identity{};
    std::string agent_key{};             // built by wire::make_agent_key
    wire::hello_feature_set features{};  // the features to ask for
    std::string bucket{};                // empty: no bucket is selected
    std::string nonce{};                 // fresh for each connection
};

// Negotiates everything that a new connection needs before operations may use it:
//
//     HELLO -> GET_ERROR_MAP (if XERROR was granted) -> SASL list, auth, step -> SELECT_BUCKET
//           -> GET_CLUSTER_CONFIG
//
// Sends one request at a time. Call `start` once, then `on_response` for each answer, until the
// machine is done or has failed. If SCRAM needs a key (`wanted_key`), call `on_key` between AUTH
// and STEP.
class bootstrap_fsm {
public:
    enum class state : std::uint8_t {
        fresh,
        hello,
        error_map,
        sasl_list,
        sasl_auth,
        sasl_key,  // waits for the stretched password
        sasl_step,
        select_bucket,
        configuration,
        done,
        failed,
    };

    explicit bootstrap_fsm(bootstrap_options options);

    // Appends the first request to `out`.
    void start(std::vector<std::byte>& out);
    // Takes one answer and appends the next request, if there is one.
    void on_response(const wire::frame_view& frame, std::vector<std::byte>& out);
    // The key that must be derived before the bootstrap can continue. Null if there is none.
    [[nodiscard]] const wire::key_derivation* wanted_key() const noexcept {
        return state_ == state::sasl_key ? &wanted_key_ : nullptr;
    }
    // Supplies that key. An empty key means that it could not be derived; `why_not` gives the
    // reason.
    void on_key(std::string_view key, std::string_view why_not, std::vector<std::byte>& out);

    [[nodiscard]] state current() const noexcept { return state_; }
    [[nodiscard]] bool is_done() const noexcept { return state_ == state::done; }
    // The opaque of the last request. The first request has 1.
    [[nodiscard]] std::uint32_t last_opaque() const noexcept { return opaque_; }
    [[nodiscard]] bool has_failed() const noexcept { return state_ == state::failed; }
    [[nodiscard]] bootstrap_failure failure() const noexcept { return failure_; }
    // The cause of the failure as a sentence for people, or the warnings of a successful bootstrap.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    [[nodiscard]] wire::hello_feature_set granted() const noexcept { return granted_; }
    // Whether both sides are proved as far as the options require it. Before that, nothing that the
    // server sends may change anything but this connection.
    [[nodiscard]] bool is_authenticated() const noexcept { return is_authenticated_; }
    // Whether the server has received a proof of the password. Each one is material for guessing
    // it.
    [[nodiscard]] bool has_sent_proof() const noexcept { return has_sent_proof_; }
    [[nodiscard]] bool is_bucket_selected() const noexcept { return is_bucket_selected_; }
    // Null if the server sent none. It arrives before the login: see is_authenticated.
    [[nodiscard]] const std::shared_ptr<const wire::error_map>& error_map() const noexcept {
        return error_map_;
    }
    // The text of the configuration, inflated. Empty if the node has none.
    [[nodiscard]] const std::string& configuration() const noexcept { return configuration_; }
    // Why the node has no configuration, for people.
    [[nodiscard]] const std::string& configuration_problem() const noexcept {
        return configuration_problem_;
    }

private:
    template <class Message>
    void send(state next, wire::opcode op, const Message& message, std::vector<std::byte>& out);
    void fail(bootstrap_failure failure, std::string text);
    void warn(std::string text);

    void send_hello(std::vector<std::byte>& out);
    void on_hello(const wire::frame_view& frame, std::vector<std::byte>& out);
    void on_error_map(const wire::frame_view& frame, std::vector<std::byte>& out);
    void after_hello(std::vector<std::byte>& out);
    void begin_sasl(std::vector<std::byte>& out);
    [[nodiscard]] bool may_send_secrets() const noexcept;
    void fail_plain();
    void fail_login(const wire::sasl_error& error);
    void on_sasl_list(const wire::frame_view& frame, std::vector<std::byte>& out);
    void send_auth(std::vector<std::byte>& out);
    void on_sasl(const wire::frame_view& frame, std::vector<std::byte>& out);
    void on_sasl_refused(const wire::frame_view& frame, std::vector<std::byte>& out);
    void after_sasl(std::vector<std::byte>& out);
    void select(std::vector<std::byte>& out);
    void on_selected(const wire::frame_view& frame, std::vector<std::byte>& out);
    void on_configuration(const wire::frame_view& frame);

    bootstrap_options options_;
    state state_ = state::fresh;
    bootstrap_failure failure_ = bootstrap_failure::none;
    std::string text_;
    std::uint32_t opaque_ = 0;
    wire::opcode expected_ = wire::opcode::hello;
    wire::hello_feature_set granted_;
    bool is_list_known_ = false;
    bool is_authenticated_ = false;
    bool has_sent_proof_ = false;
    bool is_bucket_selected_ = false;
    std::vector<wire::sasl_mechanism> candidates_;  // still to be tried, the next one first
    std::optional<wire::sasl_client> sasl_;
    wire::key_derivation wanted_key_;
    std::shared_ptr<const wire::error_map> error_map_;
    std::string configuration_;
    std::string configuration_problem_;
};

// Returns the value of a frame, inflated if its datatype is Snappy. Empty if inflating fails.
[[nodiscard]] std::optional<std::string> inflated_text(const wire::frame_view& frame);

}  // namespace reprise::engine
