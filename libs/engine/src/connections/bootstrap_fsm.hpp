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

// Why a connection did not get through its bootstrap.
enum class bootstrap_failure : std::uint8_t {
    none,
    hello_refused,
    error_map_corrupt,      // make it again without XERROR
    mechanism_unavailable,  // nothing offered that we know; says nothing about the credentials
    only_plain_offered,     // nothing but PLAIN, which may not be used here
    token_unprotected,      // a bearer token, and no verified TLS to send it through
    credentials_refused,    // 0x20 to a mechanism the server had offered
    proof_refused,          // SCRAM's own refusal: e=invalid-proof, e=unknown-user, ...
    signature_wrong,        // the server does not know the password
    signature_missing,      // the server did not prove that it knows the password
    nonce_mismatch,         // the server's nonce does not extend ours: an old answer, or a forgery
    iterations_too_few,     // fewer rounds of key stretching than RFC 7677 allows
    iterations_too_many,    // more than the options allow
    key_not_derived,        // the password could not be stretched
    sasl_failed,            // any other trouble at SASL
    bucket_no_access,       // select bucket: 0x24
    bucket_not_found,       // select bucket: 0x01
    select_failed,          // select bucket: anything else
    unexpected_answer,      // an answer to something that was not asked
    malformed_answer,       // an answer that cannot be read
};

[[nodiscard]] std::string_view to_string(bootstrap_failure failure) noexcept;
// The login itself was refused, by one side or the other: the node's authentication state.
[[nodiscard]] bool is_login_refusal(bootstrap_failure failure) noexcept;
// The server took our proof and gave none of its own. Its refusal (`e=`) proves nothing either.
[[nodiscard]] bool is_server_unproved(bootstrap_failure failure) noexcept;

struct bootstrap_options {
    std::string agent_key{};             // as wire::make_agent_key builds it
    wire::hello_feature_set features{};  // what to ask for
    hello_order hello = hello_order::first;
    credentials identity{};
    std::string bucket{};  // empty: none is selected
    std::string nonce{};   // fresh for each connection
    bool is_over_tls = false;
    bool is_tls_verified = false;  // meaningful over TLS
    bool allow_plain_without_tls = false;
    wire::scram_client_options scram{};
};

// Everything a new connection has to say before operations may use it:
//
//     HELLO -> GET_ERROR_MAP (if XERROR was granted) -> SASL list, auth, step -> SELECT_BUCKET
//           -> GET_CLUSTER_CONFIG
//
// One request at a time. `start` once, then `on_response` for each answer, until done or failed.
// Where SCRAM needs a key (`wanted_key`), `on_key` comes between AUTH and STEP.
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

    // Appends the first request.
    void start(std::vector<std::byte>& out);
    // Takes one answer and appends the next request, if there is one.
    void on_response(const wire::frame_view& frame, std::vector<std::byte>& out);
    // What must be derived before it goes on; null: nothing.
    [[nodiscard]] const wire::key_derivation* wanted_key() const noexcept {
        return state_ == state::sasl_key ? &wanted_key_ : nullptr;
    }
    // That key; empty: there is none, for this reason.
    void on_key(std::string_view key, std::string_view why_not, std::vector<std::byte>& out);

    [[nodiscard]] state current() const noexcept { return state_; }
    [[nodiscard]] bool is_done() const noexcept { return state_ == state::done; }
    // Of the last request; the first one has 1.
    [[nodiscard]] std::uint32_t last_opaque() const noexcept { return opaque_; }
    [[nodiscard]] bool has_failed() const noexcept { return state_ == state::failed; }
    [[nodiscard]] bootstrap_failure failure() const noexcept { return failure_; }
    // The whole cause in one sentence, for people; also the warnings of a bootstrap that went on.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    [[nodiscard]] wire::hello_feature_set granted() const noexcept { return granted_; }
    // Both sides are proved as far as the options demand it. Nothing that the server says before
    // may change anything but this connection.
    [[nodiscard]] bool is_authenticated() const noexcept { return is_authenticated_; }
    [[nodiscard]] bool is_bucket_selected() const noexcept { return is_bucket_selected_; }
    // Null if the server gave none. Given before the login: see is_authenticated.
    [[nodiscard]] const std::shared_ptr<const wire::error_map>& error_map() const noexcept {
        return error_map_;
    }
    // The configuration's text, inflated; empty if the node has none.
    [[nodiscard]] const std::string& configuration() const noexcept { return configuration_; }
    // Why it has none, in words.
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
    bool is_bucket_selected_ = false;
    std::vector<wire::sasl_mechanism> candidates_;  // to be tried, the next one first
    std::optional<wire::sasl_client> sasl_;
    wire::key_derivation wanted_key_;
    std::shared_ptr<const wire::error_map> error_map_;
    std::string configuration_;
    std::string configuration_problem_;
};

// The value of a frame, inflated if it has the Snappy bit; nothing if that fails.
[[nodiscard]] std::optional<std::string> inflated_text(const wire::frame_view& frame);

}  // namespace reprise::engine
