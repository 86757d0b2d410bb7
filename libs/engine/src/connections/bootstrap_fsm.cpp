#include "connections/bootstrap_fsm.hpp"

#include <algorithm>
#include <utility>

#include <reprise/base/enum_table.hpp>
#include <reprise/wire/cluster_messages.hpp>
#include <reprise/wire/compression.hpp>
#include <reprise/wire/error_context.hpp>
#include <reprise/wire/session_messages.hpp>

#include "connections/connection_problem.hpp"
#include "connections/opaque_table.hpp"

namespace reprise::engine {
namespace {

constexpr std::size_t text_size_max_bytes = std::size_t{8} * 1024 * 1024;

std::string refusal_text(std::string_view what, const wire::frame_view& frame) {
    std::string text(what);
    text += " answered with ";
    text += wire::to_string(frame.status());
    if (const wire::error_context said = wire::error_context_of(frame); !said.context.empty()) {
        text += ": " + said.context;
    }
    return text;
}

// Verified TLS has already proved the server's identity, and users of external directories can only
// log in with PLAIN.
wire::plain_use plain_use_of(const engine_options& options) noexcept {
    if (is_server_verified(options)) {
        return wire::plain_use::preferred;
    }
    return options.allow_plain_without_tls ? wire::plain_use::last_resort
                                           : wire::plain_use::refused;
}

}  // namespace

std::optional<std::string> inflated_text(const wire::frame_view& frame) {
    if (!wire::has(frame.datatype(), wire::datatype::snappy)) {
        return std::string(base::as_text(frame.value()));
    }
    const auto inflated = wire::inflate(frame.value(), text_size_max_bytes);
    if (!inflated) {
        return std::nullopt;
    }
    return std::string(base::as_text(*inflated));
}

std::string_view to_string(bootstrap_failure failure) noexcept {
    static constexpr base::enumerator_texts<bootstrap_failure> texts({
        {bootstrap_failure::none, "none"},
        {bootstrap_failure::hello_refused, "HELLO refused"},
        {bootstrap_failure::error_map_corrupt, "corrupt error map"},
        {bootstrap_failure::mechanism_unavailable, "no usable SASL mechanism"},
        {bootstrap_failure::only_plain_offered, "only PLAIN offered"},
        {bootstrap_failure::token_unprotected, "token not protected"},
        {bootstrap_failure::credentials_refused, "credentials refused"},
        {bootstrap_failure::proof_refused, "proof refused"},
        {bootstrap_failure::signature_wrong, "wrong server signature"},
        {bootstrap_failure::signature_missing, "no server signature"},
        {bootstrap_failure::nonce_mismatch, "nonce mismatch"},
        {bootstrap_failure::iterations_too_few, "too few iterations"},
        {bootstrap_failure::iterations_too_many, "too many iterations"},
        {bootstrap_failure::key_not_derived, "key not derived"},
        {bootstrap_failure::sasl_failed, "SASL failed"},
        {bootstrap_failure::bucket_no_access, "no access to the bucket"},
        {bootstrap_failure::bucket_not_found, "bucket not on this node"},
        {bootstrap_failure::collections_refused, "the bucket has no collections"},
        {bootstrap_failure::select_failed, "select bucket failed"},
        {bootstrap_failure::unexpected_answer, "unexpected answer"},
        {bootstrap_failure::malformed_answer, "malformed answer"},
    });
    return texts[failure];
}

bool is_login_refusal(bootstrap_failure failure) noexcept {
    return failure == bootstrap_failure::credentials_refused || is_server_unproved(failure);
}

bool is_server_unproved(bootstrap_failure failure) noexcept {
    return failure == bootstrap_failure::proof_refused ||
           failure == bootstrap_failure::signature_wrong ||
           failure == bootstrap_failure::signature_missing;
}

bootstrap_fsm::bootstrap_fsm(bootstrap_options options) : options_(std::move(options)) {}

template <class Message>
void bootstrap_fsm::send(
    state next, wire::opcode op, const Message& message, std::vector<std::byte>& out) {
    base::byte_writer writer(out);
    wire::request_header header;
    header.opaque = ++opaque_;
    if (const auto encoded = message.encode(writer, header); !encoded) {
        fail(
            bootstrap_failure::malformed_answer,
            "cannot encode the request: " + std::string(wire::to_string(encoded.error())));
        return;
    }
    expected_ = op;
    state_ = next;
}

void bootstrap_fsm::fail(bootstrap_failure failure, std::string text) {
    state_ = state::failed;
    failure_ = failure;
    text_ = std::move(text);
}

void bootstrap_fsm::warn(std::string text) {
    text_ += (text_.empty() ? "" : "; ") + std::move(text);
}

void bootstrap_fsm::start(std::vector<std::byte>& out) {
    if (!options_.client.hello_after_authentication) {
        send_hello(out);
    } else {
        begin_sasl(out);
    }
}

void bootstrap_fsm::on_response(const wire::frame_view& frame, std::vector<std::byte>& out) {
    if (frame.opaque() == 0 || frame.opaque() > opaque_) {
        return fail(bootstrap_failure::unexpected_answer, never_issued_text(frame.opaque()));
    }
    if (frame.opaque() != opaque_ || frame.op() != expected_) {
        fail(
            bootstrap_failure::unexpected_answer,
            "an answer to " + std::string(wire::to_string(frame.op())) + " while waiting for " +
                std::string(wire::to_string(expected_)));
        return;
    }
    switch (state_) {
        case state::hello:
            return on_hello(frame, out);
        case state::error_map:
            return on_error_map(frame, out);
        case state::sasl_list:
            return on_sasl_list(frame, out);
        case state::sasl_auth:
        case state::sasl_step:
            return on_sasl(frame, out);
        case state::select_bucket:
            return on_selected(frame, out);
        case state::configuration:
            return on_configuration(frame);
        case state::fresh:
        case state::sasl_key:
        case state::done:
        case state::failed:
            return fail(bootstrap_failure::unexpected_answer, "no request was pending");
    }
}

void bootstrap_fsm::send_hello(std::vector<std::byte>& out) {
    wire::hello_request hello;
    hello.agent = options_.agent_key;
    hello.features = options_.features;
    send(state::hello, wire::opcode::hello, hello, out);
}

void bootstrap_fsm::on_hello(const wire::frame_view& frame, std::vector<std::byte>& out) {
    if (frame.status() != wire::status::success) {
        return fail(bootstrap_failure::hello_refused, refusal_text("HELLO", frame));
    }
    const auto hello = wire::hello_response::decode(frame);
    if (!hello) {
        return fail(bootstrap_failure::malformed_answer, std::string(to_string(hello.error())));
    }
    // Ignores features that the client did not ask for, even if the server grants them.
    granted_ = hello->features & options_.features;
    if (granted_.contains(wire::hello_feature::xerror)) {
        send(state::error_map, wire::opcode::get_error_map, wire::get_error_map_request{}, out);
    } else {
        after_hello(out);
    }
}

void bootstrap_fsm::on_error_map(const wire::frame_view& frame, std::vector<std::byte>& out) {
    if (frame.status() != wire::status::success) {
        warn(refusal_text("GET_ERROR_MAP", frame) + "; continuing without a map");
        return after_hello(out);
    }
    wire::parse_error_map_options parsing;
    parsing.is_compressed = wire::has(frame.datatype(), wire::datatype::snappy);
    auto parsed = wire::parse_error_map(base::as_text(frame.value()), parsing);
    if (parsed) {
        error_map_ = std::make_shared<const wire::error_map>(std::move(*parsed));
    } else if (wire::is_corruption(parsed.error().code)) {
        return fail(bootstrap_failure::error_map_corrupt, wire::to_string(parsed.error()));
    } else {
        warn("empty error map; continuing without one");
    }
    after_hello(out);
}

void bootstrap_fsm::after_hello(std::vector<std::byte>& out) {
    if (!options_.client.hello_after_authentication) {
        begin_sasl(out);
    } else {
        select(out);
    }
}

void bootstrap_fsm::begin_sasl(std::vector<std::byte>& out) {
    if (has_client_certificate(options_.client)) {
        is_authenticated_ = true;
        return after_sasl(out);
    }
    send(
        state::sasl_list, wire::opcode::sasl_list_mechanisms,
        wire::empty_request{wire::opcode::sasl_list_mechanisms}, out);
}

// Whether PLAIN and tokens may be sent. Any server that answers can read them.
bool bootstrap_fsm::may_send_secrets() const noexcept {
    return is_server_verified(options_.client) || options_.client.allow_plain_without_tls;
}

void bootstrap_fsm::fail_plain() {
    fail(
        bootstrap_failure::only_plain_offered,
        options_.client.transport == wire::transport::tls
            ? "the server offers only PLAIN, which would reveal the password to a server whose "
              "certificate is not verified: verify it or set allow_plain_without_tls"
            : "the server offers only PLAIN, which would send the password in clear text: use "
              "couchbases:// or set allow_plain_without_tls");
}

void bootstrap_fsm::on_sasl_list(const wire::frame_view& frame, std::vector<std::byte>& out) {
    const bool is_bearer = !options_.identity.bearer_token.empty();
    if (is_bearer && !may_send_secrets()) {
        return fail(
            bootstrap_failure::token_unprotected,
            "a bearer token is sent over verified TLS only: use couchbases:// or set "
            "allow_plain_without_tls");
    }
    is_list_known_ = frame.status() == wire::status::success;
    if (!is_list_known_) {
        warn(refusal_text("SASL list", frame));
        candidates_ =
            is_bearer ? std::vector{wire::sasl_mechanism::oauthbearer}
                      : std::vector{
                            wire::sasl_mechanism::scram_sha512, wire::sasl_mechanism::scram_sha256,
                            wire::sasl_mechanism::scram_sha1};
        return send_auth(out);
    }
    const auto offered = wire::parse_mechanism_list(base::as_text(frame.value()));
    if (is_bearer) {
        if (std::ranges::find(offered, wire::sasl_mechanism::oauthbearer) != offered.end()) {
            candidates_ = {wire::sasl_mechanism::oauthbearer};
        }
    } else if (const auto best = wire::choose_mechanism(offered, plain_use_of(options_.client))) {
        candidates_ = {*best};
    } else if (std::ranges::find(offered, wire::sasl_mechanism::plain) != offered.end()) {
        return fail_plain();
    }
    if (candidates_.empty()) {
        return fail(
            bootstrap_failure::mechanism_unavailable,
            "the server offers no usable SASL mechanism, only \"" +
                wire::to_mechanism_list(offered) + "\"");
    }
    send_auth(out);
}

void bootstrap_fsm::send_auth(std::vector<std::byte>& out) {
    const wire::sasl_mechanism mechanism = candidates_.front();
    candidates_.erase(candidates_.begin());
    sasl_.emplace(
        mechanism,
        wire::sasl_credentials{
            options_.identity.username, options_.identity.password, options_.identity.bearer_token},
        options_.nonce,
        wire::scram_client_options{.iterations_max = options_.client.scram_iterations_max});
    const auto first = sasl_->start();
    if (!first) {
        return fail_login(first.error());
    }
    wire::sasl_request request;
    request.op = wire::opcode::sasl_auth;
    request.mechanism = wire::to_string(mechanism);
    request.data = base::as_bytes(*first);
    send(state::sasl_auth, wire::opcode::sasl_auth, request, out);
}

void bootstrap_fsm::on_sasl(const wire::frame_view& frame, std::vector<std::byte>& out) {
    const std::string_view said = base::as_text(frame.value());
    const bool is_about_login = frame.status() == wire::status::success ||
                                frame.status() == wire::status::auth_continue ||
                                frame.status() == wire::status::auth_error;
    if (is_about_login && wire::is_scram(sasl_->mechanism())) {
        if (const auto refusal = wire::scram_refusal(said)) {
            return fail(
                bootstrap_failure::proof_refused, "the server refused the login: e=" + *refusal);
        }
    }
    if (frame.status() == wire::status::success) {
        if (const auto proved = sasl_->on_success(said); !proved) {
            // The server accepted the login without proving itself, whatever is wrong with its last
            // message.
            const bool is_wrong = proved.error().code == wire::sasl_errc::signature_mismatch;
            return fail_login(
                {is_wrong ? wire::sasl_errc::signature_mismatch
                          : wire::sasl_errc::signature_missing,
                 {}});
        }
        is_authenticated_ = true;
        sasl_.reset();
        return after_sasl(out);
    }
    if (frame.status() == wire::status::auth_continue) {
        auto wanted = sasl_->on_challenge(said);
        if (!wanted) {
            return fail_login(wanted.error());
        }
        wanted_key_ = std::move(*wanted);
        state_ = state::sasl_key;
        return;
    }
    on_sasl_refused(frame, out);
}

void bootstrap_fsm::on_key(
    std::string_view key, std::string_view why_not, std::vector<std::byte>& out) {
    wire::wipe_secret(wanted_key_.password);
    if (key.empty()) {
        return fail(bootstrap_failure::key_not_derived, std::string(why_not));
    }
    const auto answer = sasl_->on_key(key);
    if (!answer) {
        return fail_login(answer.error());
    }
    wire::sasl_request request;
    request.op = wire::opcode::sasl_step;
    request.mechanism = wire::to_string(sasl_->mechanism());
    request.data = base::as_bytes(*answer);
    has_sent_proof_ = true;
    send(state::sasl_step, wire::opcode::sasl_step, request, out);
}

// Names the cause of a login that the client itself gave up.
void bootstrap_fsm::fail_login(const wire::sasl_error& error) {
    switch (error.code) {
        case wire::sasl_errc::signature_mismatch:
            return fail(
                bootstrap_failure::signature_wrong,
                "server signature is wrong: this server does not know the password");
        case wire::sasl_errc::signature_missing:
            return fail(
                bootstrap_failure::signature_missing,
                "server sent no signature: it did not prove that it knows the password");
        case wire::sasl_errc::nonce_mismatch:
            return fail(bootstrap_failure::nonce_mismatch, "server nonce does not extend ours");
        case wire::sasl_errc::iterations_too_few:
            return fail(bootstrap_failure::iterations_too_few, error.detail);
        case wire::sasl_errc::iterations_too_many:
            return fail(
                bootstrap_failure::iterations_too_many,
                error.detail + "; scram_iterations_max allows more");
        case wire::sasl_errc::malformed_message:
        case wire::sasl_errc::repeated_attribute:
        case wire::sasl_errc::unknown_attribute:
        case wire::sasl_errc::username_invalid:
        case wire::sasl_errc::nonce_invalid:
        case wire::sasl_errc::salt_invalid:
        case wire::sasl_errc::iterations_invalid:
        case wire::sasl_errc::proof_invalid:
        case wire::sasl_errc::credentials_refused:
        case wire::sasl_errc::server_refused:
        case wire::sasl_errc::token_missing:
        case wire::sasl_errc::out_of_order:
            break;
    }
    fail(bootstrap_failure::sasl_failed, wire::to_string(error));
}

void bootstrap_fsm::on_sasl_refused(const wire::frame_view& frame, std::vector<std::byte>& out) {
    // 0x20 also means "mechanism not offered". Without the list of mechanisms it is no evidence
    // against the password until every mechanism has been tried, and not even then.
    const bool is_refusal = frame.status() == wire::status::auth_error;
    if (is_refusal && !is_list_known_ && state_ == state::sasl_auth && !candidates_.empty()) {
        return send_auth(out);
    }
    const bool was_understood = is_list_known_ || state_ == state::sasl_step;
    fail(
        is_refusal && was_understood ? bootstrap_failure::credentials_refused
                                     : bootstrap_failure::sasl_failed,
        refusal_text("SASL", frame));
}

void bootstrap_fsm::after_sasl(std::vector<std::byte>& out) {
    if (!options_.client.hello_after_authentication) {
        select(out);
    } else {
        send_hello(out);
    }
}

void bootstrap_fsm::select(std::vector<std::byte>& out) {
    if (options_.bucket.empty()) {
        return send(
            state::configuration, wire::opcode::get_cluster_config,
            wire::get_cluster_config_request{}, out);
    }
    wire::select_bucket_request request;
    request.bucket = options_.bucket;
    send(state::select_bucket, wire::opcode::select_bucket, request, out);
}

void bootstrap_fsm::on_selected(const wire::frame_view& frame, std::vector<std::byte>& out) {
    switch (frame.status()) {
        case wire::status::success:
            is_bucket_selected_ = true;
            return send(
                state::configuration, wire::opcode::get_cluster_config,
                wire::get_cluster_config_request{}, out);
        case wire::status::eaccess:
            return fail(bootstrap_failure::bucket_no_access, refusal_text("SELECT_BUCKET", frame));
        case wire::status::key_enoent:
            return fail(bootstrap_failure::bucket_not_found, refusal_text("SELECT_BUCKET", frame));
        case wire::status::not_supported:
            // A bucket without collections refuses connections that negotiated them.
            return fail(
                granted_.contains(wire::hello_feature::collections)
                    ? bootstrap_failure::collections_refused
                    : bootstrap_failure::select_failed,
                refusal_text("SELECT_BUCKET", frame));
        default:  // whatever else a server may answer
            return fail(bootstrap_failure::select_failed, refusal_text("SELECT_BUCKET", frame));
    }
}

// A node without a configuration is still usable: the client polls it for one.
void bootstrap_fsm::on_configuration(const wire::frame_view& frame) {
    state_ = state::done;
    if (frame.status() != wire::status::success) {
        configuration_problem_ = configuration_refusal(frame.status());
    } else if (auto text = inflated_text(frame)) {
        configuration_ = std::move(*text);
        configuration_problem_ = configuration_.empty() ? "the server gave no configuration" : "";
    } else {
        configuration_problem_ = "the server's configuration cannot be inflated";
    }
}

}  // namespace reprise::engine
