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

/// The credentials with which a client authenticates. Keep them out of logs.
struct sasl_credentials {
    std::string username;
    std::string password;
    /// For OAUTHBEARER, which does not use the user name and password.
    std::string bearer_token;
};

/// Parses names separated by spaces, as the server lists them. Skips unknown names.
std::vector<sasl_mechanism> parse_mechanism_list(std::string_view list);
std::string to_mechanism_list(std::span<const sasl_mechanism> mechanisms);

/// When the password may be sent in plain text.
enum class plain_use : std::uint8_t {
    refused,
    last_resort,  ///< only if the server offers no SCRAM mechanism
    preferred,    ///< with verified TLS: users of external directories have no other mechanism
};

/// Returns the strongest SCRAM mechanism, or PLAIN where it may be used. Returns nothing if no
/// mechanism fits. Never returns OAUTHBEARER, which needs a token instead of a password.
std::optional<sasl_mechanism> choose_mechanism(
    std::span<const sasl_mechanism> offered, plain_use plain) noexcept;

/// Encode the only message of PLAIN and of OAUTHBEARER.
std::string encode_plain(std::string_view username, std::string_view password);
std::string encode_oauthbearer(std::string_view token);

/// The client's side of one authentication, for any mechanism.
///
///   start() -> AUTH request -> 0x21: on_challenge(data) -> derive_key -> on_key -> STEP request
///                           -> 0x00: on_success(data), which must pass before the server is
///                           trusted
///
/// The caller handles a rejection by status (0x20, ...). Do not use the object after an error.
class sasl_client {
public:
    /// `client_nonce` has printable characters without comma, and must be new and random for each
    /// SCRAM authentication (see encode_nonce). The other mechanisms do not use it.
    sasl_client(
        sasl_mechanism mechanism, sasl_credentials credentials, std::string client_nonce,
        const scram_client_options& options = {});

    sasl_mechanism mechanism() const noexcept { return mechanism_; }

    /// Returns the first message. Fails if the credentials are empty or not allowed, or the nonce
    /// is invalid.
    std::expected<std::string, sasl_error> start();
    /// Returns the key that the answer to the challenge needs. Fails for single-step mechanisms.
    std::expected<key_derivation, sasl_error> on_challenge(std::string_view data);
    /// Returns the answer to the challenge, computed with that key.
    std::expected<std::string, sasl_error> on_key(std::string_view salted_password);
    /// Checks the server's last message. For SCRAM it must contain a valid signature.
    std::expected<void, sasl_error> on_success(std::string_view data);

private:
    sasl_mechanism mechanism_;
    sasl_credentials credentials_;
    std::optional<scram_client> scram_;
};

/// Credentials decoded by a server from the single-step mechanisms.
struct plain_message {
    std::string authorization_id;  ///< empty in practice
    std::string username;
    std::string password;
};

/// Accepts a trailing NUL after the password.
std::expected<plain_message, sasl_error> decode_plain(std::string_view data);

/// Returns the bearer token. Accepts `Bearer` in any letter case and ignores other fields.
std::expected<std::string, sasl_error> decode_oauthbearer(std::string_view data);

/// Whether two secrets are equal. The time it takes depends only on their sizes.
bool is_same_secret(std::string_view given, std::string_view expected) noexcept;

}  // namespace reprise::wire
