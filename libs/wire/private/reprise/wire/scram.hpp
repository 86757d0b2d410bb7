#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace reprise::wire {

enum class sasl_mechanism : std::uint8_t {
    plain,       ///< sends the password: only over TLS
    scram_sha1,  ///< the three SCRAM mechanisms never send the password
    scram_sha256,
    scram_sha512,  ///< the one that servers prefer
    oauthbearer    ///< sends a token: only over TLS
};

/// Returns the wire spelling, for example "SCRAM-SHA512".
std::string_view to_string(sasl_mechanism mechanism) noexcept;
/// Ignores letter case, as servers do. Returns nothing for an unknown name.
std::optional<sasl_mechanism> parse_sasl_mechanism(std::string_view name) noexcept;
bool is_scram(sasl_mechanism mechanism) noexcept;
/// The size of the mechanism's digest in bytes: 20, 32 or 64, or 0 if it is not a SCRAM mechanism.
std::size_t scram_digest_size(sasl_mechanism mechanism) noexcept;

enum class sasl_errc : std::uint8_t {
    malformed_message = 1,  ///< violates the mechanism's syntax
    repeated_attribute,     ///< an attribute appears twice
    unknown_attribute,      ///< an attribute does not belong in this message
    username_invalid,       ///< empty, contains a NUL, or has an invalid `=xx` escape
    nonce_invalid,          ///< empty, too long, or contains a character that is not allowed
    nonce_mismatch,         ///< the peer's nonce does not start with ours
    salt_invalid,           ///< not base64, or empty
    iterations_invalid,     ///< not a number
    /// Below the minimum: guessing the password from a recorded login would be too cheap.
    iterations_too_few,
    /// Above the maximum: a server must not decide how long the client computes.
    iterations_too_many,
    proof_invalid,        ///< not base64, or not of digest length
    credentials_refused,  ///< the proof, password or token is wrong
    server_refused,       ///< the server's last message contains `e=`
    signature_missing,    ///< the server reported success without its signature
    signature_mismatch,   ///< the server does not know the password: do not trust it
    token_missing,        ///< no bearer token
    out_of_order          ///< the call is not allowed in this state
};

std::string_view to_string(sasl_errc code) noexcept;

struct sasl_error {
    sasl_errc code = sasl_errc::malformed_message;
    /// A readable explanation. Never contains a password, proof or token.
    std::string detail;
};

std::string to_string(const sasl_error& error);

/// Whether the error is a syntax error (status 0x04) rather than wrong credentials (status 0x20).
bool is_malformed(sasl_errc code) noexcept;

/// Limits for the PBKDF2 iterations that a server may request. RFC 7677 requires at least 4096;
/// Couchbase uses 15,000.
inline constexpr std::uint32_t scram_iterations_min = 4096;
inline constexpr std::uint32_t scram_iterations_max = 100'000;
/// The highest maximum that you can set. It takes some seconds to compute.
inline constexpr std::uint32_t scram_iterations_limit = 10'000'000;
/// A longer message counts as malformed. In bytes.
inline constexpr std::size_t scram_message_size_max = 4096;

/// Encodes random bytes as a nonce, in lower-case hexadecimal.
std::string encode_nonce(std::span<const std::byte> random);

/// The inputs for deriving a key from a password. It holds a secret: see wipe_secret.
struct key_derivation {
    sasl_mechanism mechanism = sasl_mechanism::scram_sha512;
    std::string password{};
    std::string salt{};            ///< raw bytes
    std::uint32_t iterations = 0;  ///< of PBKDF2

    friend bool operator==(const key_derivation&, const key_derivation&) = default;
};

/// Returns the salted password. It takes milliseconds or more, depending on the iterations, so do
/// not call it on an event loop. It may be called on any thread. Returns an empty string if the
/// crypto library fails.
std::string derive_key(const key_derivation& wanted);

/// Overwrites a secret that is no longer needed, in a way that the compiler cannot optimise away.
void wipe_secret(std::string& secret) noexcept;

/// A cache of derived keys by mechanism, salt, iterations and password. It holds at most `capacity`
/// keys, evicts the least recently used one and wipes what it evicts. It is not synchronised: use
/// one per I/O thread.
class salted_password_cache {
public:
    explicit salted_password_cache(std::size_t capacity = 32);
    ~salted_password_cache();
    salted_password_cache(const salted_password_cache&) = delete;
    salted_password_cache& operator=(const salted_password_cache&) = delete;

    /// Returns nothing if the key is not in the cache.
    std::optional<std::string> find(const key_derivation& wanted);
    void insert(const key_derivation& wanted, std::string salted_password);

    std::size_t size() const noexcept { return entries_.size(); }

private:
    struct entry {
        std::string name;
        std::string salted_password;
    };
    std::list<entry> entries_;  // most recently used first; with so few, a linear search is fastest
    std::size_t capacity_;
};

/// Returns the value of the server's `e=` if this message is a SCRAM rejection, for example
/// "invalid-proof" or "unknown-user". It has at most 64 characters, all printable.
std::optional<std::string> scram_refusal(std::string_view server_message);

struct scram_client_options {
    /// Other iteration counts are rejected with their own errors, before any computation.
    std::uint32_t iterations_min = scram_iterations_min;
    std::uint32_t iterations_max = scram_iterations_max;
};

/// The client's side of RFC 5802 without channel binding. Call first_message, on_challenge, on_key
/// and on_final once each, in this order. Any error ends the exchange.
class scram_client {
public:
    scram_client(
        sasl_mechanism mechanism, std::string username, std::string password,
        std::string client_nonce, const scram_client_options& options = {});
    ~scram_client();
    scram_client(scram_client&&) noexcept = default;
    scram_client& operator=(scram_client&&) noexcept = default;

    /// Returns `n,,n=user,r=nonce`.
    std::expected<std::string, sasl_error> first_message();
    /// Takes r=, s= and i= in any order and returns the key that the answer needs.
    std::expected<key_derivation, sasl_error> on_challenge(std::string_view server_first);
    /// Takes that key (see derive_key) and returns `c=biws,r=...,p=...`.
    std::expected<std::string, sasl_error> on_key(std::string_view salted_password);
    /// Takes `v=`. Succeeds only if the server proves that it knows the password.
    std::expected<void, sasl_error> on_final(std::string_view server_final);

private:
    enum class state : std::uint8_t { fresh, challenged, keyless, proved, done, failed };

    sasl_mechanism mechanism_;
    std::string username_;
    std::string password_;
    std::string nonce_;  // ours; the server's is appended once known
    scram_client_options options_;
    state state_ = state::fresh;
    std::string first_bare_;
    std::string server_first_;
    std::string server_signature_;
};

/// A server's record of a password.
struct scram_credential {
    std::string salt;              ///< raw bytes, of any length
    std::uint32_t iterations = 0;  ///< of PBKDF2
    std::string stored_key;        ///< verifies the client
    std::string server_key;        ///< signs for the server
};

/// `iterations` must be at least 1. Strict clients reject fewer than 4096.
scram_credential make_scram_credential(
    sasl_mechanism mechanism, std::string_view password, std::string salt,
    std::uint32_t iterations);

/// Returns a credential that no password matches, so that a client cannot distinguish unknown users
/// from known ones. The salt is derived from the name and a secret of the server, so it does not
/// change.
scram_credential make_decoy_credential(
    sasl_mechanism mechanism, std::string_view username, std::string_view server_secret,
    std::uint32_t iterations);

/// The server's side of RFC 5802: on_first returns the user name to look up, challenge takes that
/// user's credential (or a decoy), and on_final decides.
class scram_server {
public:
    /// `server_nonce` must be new and random, like the client's.
    scram_server(sasl_mechanism mechanism, std::string server_nonce);

    /// Returns the unescaped user name. Its errors are malformed messages (status 0x04).
    std::expected<std::string, sasl_error> on_first(std::string_view client_first);
    /// Returns `r=...,s=...,i=...`. Call it after on_first succeeded.
    std::string challenge(scram_credential credential);
    /// Returns `v=...` on success. credentials_refused means status 0x20, any other error 0x04.
    std::expected<std::string, sasl_error> on_final(std::string_view client_final);

private:
    enum class state : std::uint8_t { fresh, named, challenged, done, failed };

    sasl_mechanism mechanism_;
    std::string nonce_;
    state state_ = state::fresh;
    std::string first_bare_;
    std::string server_first_;
    scram_credential credential_;
};

}  // namespace reprise::wire
