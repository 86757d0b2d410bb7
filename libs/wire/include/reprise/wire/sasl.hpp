#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <reprise/wire/scram.hpp>

namespace reprise::wire {

// What a client proves its identity with. A plain value; keep it out of logs.
struct sasl_credentials {
    std::string username;
    std::string password;
    // For OAUTHBEARER; then user name and password are not used.
    std::string bearer_token;
};

// Names separated by blanks, as the server lists them; names we do not know are left out.
std::vector<sasl_mechanism> parse_mechanism_list(std::string_view list);
std::string to_mechanism_list(std::span<const sasl_mechanism> mechanisms);

// Whether the password may be sent as it is.
enum class plain_use : std::uint8_t {
    refused,
    last_resort,  // only if no SCRAM is offered
    preferred,    // within verified TLS: users of external directories have nothing else
};

// The strongest SCRAM, or PLAIN as far as it may be used; empty if nothing fits. OAUTHBEARER is
// never chosen: it needs a token, not a password.
std::optional<sasl_mechanism> choose_mechanism(
    std::span<const sasl_mechanism> offered, plain_use plain) noexcept;

// The single messages of PLAIN and OAUTHBEARER.
std::string encode_plain(std::string_view username, std::string_view password);
std::string encode_oauthbearer(std::string_view token);

// One authentication from the client's side, for any mechanism.
//
//   start() -> AUTH request -> 0x21: on_challenge(data) -> derive_key -> on_key -> STEP request
//                           -> 0x00: on_success(data), which must pass before the server is trusted
//
// A refusal by status (0x20, ...) is not its business. After an error it must not be used again.
class sasl_client {
public:
    // `client_nonce`: printable characters without comma, fresh and random for each SCRAM
    // authentication, see encode_nonce; not used by the other mechanisms.
    sasl_client(
        sasl_mechanism mechanism, sasl_credentials credentials, std::string client_nonce,
        const scram_client_options& options = {});

    sasl_mechanism mechanism() const noexcept { return mechanism_; }

    // The first message. Refused: empty or impossible credentials, bad nonce.
    std::expected<std::string, sasl_error> start();
    // The key that the answer to a challenge needs; an error for single-step mechanisms.
    std::expected<key_derivation, sasl_error> on_challenge(std::string_view data);
    // The answer to the challenge, with that key.
    std::expected<std::string, sasl_error> on_key(std::string_view salted_password);
    // Checks the server's last message: for SCRAM its signature must be there and be right.
    std::expected<void, sasl_error> on_success(std::string_view data);

private:
    sasl_mechanism mechanism_;
    sasl_credentials credentials_;
    std::optional<scram_client> scram_;
};

// What a server reads from the single-step mechanisms.
struct plain_message {
    std::string authorization_id;  // empty in practice
    std::string username;
    std::string password;
};

// A trailing NUL after the password is tolerated.
std::expected<plain_message, sasl_error> decode_plain(std::string_view data);

// The bearer token. `Bearer` in any case; other fields are ignored.
std::expected<std::string, sasl_error> decode_oauthbearer(std::string_view data);

// Whether two secrets are equal, in time that depends on their sizes only.
bool is_same_secret(std::string_view given, std::string_view expected) noexcept;

}  // namespace reprise::wire
