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
    plain,       // the password as it is: over TLS only
    scram_sha1,  // the three SCRAMs never send the password
    scram_sha256,
    scram_sha512,  // what servers offer first
    oauthbearer    // a token: over TLS only
};

// The wire spelling: "SCRAM-SHA512".
std::string_view to_string(sasl_mechanism mechanism) noexcept;
// In any case of letters, as servers do. Empty if unknown.
std::optional<sasl_mechanism> parse_sasl_mechanism(std::string_view name) noexcept;
bool is_scram(sasl_mechanism mechanism) noexcept;
// Bytes of the mechanism's digest: 20, 32 or 64; 0 if it is no SCRAM.
std::size_t scram_digest_size(sasl_mechanism mechanism) noexcept;

enum class sasl_errc : std::uint8_t {
    malformed_message = 1,  // does not follow the mechanism's syntax
    repeated_attribute,     // an attribute given twice
    unknown_attribute,      // an attribute that does not belong into this message
    username_invalid,       // empty, with a NUL, or a bad `=xx` escape
    nonce_invalid,          // empty, too long, or with a character a nonce must not have
    nonce_mismatch,         // the peer's nonce does not continue ours
    salt_invalid,           // not base64, or empty
    iterations_invalid,     // no number
    iterations_too_few,     // below the minimum: a recorded login could be guessed too cheaply
    iterations_too_many,    // above the maximum: a server must not choose how long we compute
    proof_invalid,          // not base64 of digest length
    credentials_refused,    // the proof, password or token is wrong
    server_refused,         // the server's last message carries `e=`
    signature_missing,      // success without the server's signature
    signature_mismatch,     // the server does not know the password: do not trust it
    token_missing,          // no bearer token
    out_of_order            // this call does not belong here
};

std::string_view to_string(sasl_errc code) noexcept;

struct sasl_error {
    sasl_errc code = sasl_errc::malformed_message;
    // For people. Never contains a password, proof or token.
    std::string detail;
};

std::string to_string(const sasl_error& error);

// A syntax error (status 0x04), as opposed to wrong credentials (status 0x20).
bool is_malformed(sasl_errc code) noexcept;

// Rounds of PBKDF2 that a server may ask for: RFC 7677 demands 4096 or more; Couchbase uses 15,000.
inline constexpr std::uint32_t scram_iterations_min = 4096;
inline constexpr std::uint32_t scram_iterations_max = 100'000;
// The highest maximum that can be set: some seconds of computing.
inline constexpr std::uint32_t scram_iterations_limit = 10'000'000;
// Longer messages are malformed. Bytes.
inline constexpr std::size_t scram_message_size_max = 4096;

// Random bytes as text fit for a nonce (lower-case hexadecimal).
std::string encode_nonce(std::span<const std::byte> random);

// A key to be stretched from a password. A plain value with a secret: see wipe_secret.
struct key_derivation {
    sasl_mechanism mechanism = sasl_mechanism::scram_sha512;
    std::string password{};
    std::string salt{};            // octets
    std::uint32_t iterations = 0;  // rounds of PBKDF2

    friend bool operator==(const key_derivation&, const key_derivation&) = default;
};

// The salted password. Takes milliseconds, or as long as the rounds last: nothing for an event
// loop. Any thread. Empty: the library behind it failed.
std::string derive_key(const key_derivation& wanted);

// Overwrites what is no longer needed, in a way that a compiler does not remove.
void wipe_secret(std::string& secret) noexcept;

// Keys that were derived, by mechanism, salt, iterations and password. Holds at most `capacity` of
// them and drops the one not used for longest. Wipes what it drops. Not synchronised: one per I/O
// thread.
class salted_password_cache {
public:
    explicit salted_password_cache(std::size_t capacity = 32);
    ~salted_password_cache();
    salted_password_cache(const salted_password_cache&) = delete;
    salted_password_cache& operator=(const salted_password_cache&) = delete;

    // Empty if it is not known.
    std::optional<std::string> find(const key_derivation& wanted);
    void insert(const key_derivation& wanted, std::string salted_password);

    std::size_t size() const noexcept { return entries_.size(); }

private:
    struct entry {
        std::string name;
        std::string salted_password;
    };
    std::list<entry> entries_;  // most recently used first; a handful, so a scan is cheapest
    std::size_t capacity_;
};

// A server's `e=`, if this message is SCRAM's own refusal: "invalid-proof", "unknown-user", ... At
// most 64 characters, all of them printable.
std::optional<std::string> scram_refusal(std::string_view server_message);

struct scram_client_options {
    // Other iteration counts are refused by name, before any work.
    std::uint32_t iterations_min = scram_iterations_min;
    std::uint32_t iterations_max = scram_iterations_max;
};

// RFC 5802 without channel binding, client side: first_message, on_challenge, on_key, on_final, in
// this order and once each. Any error ends it.
class scram_client {
public:
    scram_client(
        sasl_mechanism mechanism, std::string username, std::string password,
        std::string client_nonce, const scram_client_options& options = {});
    ~scram_client();
    scram_client(scram_client&&) noexcept = default;
    scram_client& operator=(scram_client&&) noexcept = default;

    // `n,,n=user,r=nonce`.
    std::expected<std::string, sasl_error> first_message();
    // Takes r=, s=, i= in any order; says which key the answer needs.
    std::expected<key_derivation, sasl_error> on_challenge(std::string_view server_first);
    // Takes that key (see derive_key); gives `c=biws,r=...,p=...`.
    std::expected<std::string, sasl_error> on_key(std::string_view salted_password);
    // Takes `v=`; passes only if the server proved that it knows the password.
    std::expected<void, sasl_error> on_final(std::string_view server_final);

private:
    enum class state : std::uint8_t { fresh, challenged, keyless, proved, done, failed };

    sasl_mechanism mechanism_;
    std::string username_;
    std::string password_;
    std::string nonce_;  // ours; with the server's behind it once that is known
    scram_client_options options_;
    state state_ = state::fresh;
    std::string first_bare_;
    std::string server_first_;
    std::string server_signature_;
};

// What a server keeps of a password.
struct scram_credential {
    std::string salt;              // octets, any number of them
    std::uint32_t iterations = 0;  // rounds of PBKDF2
    std::string stored_key;        // proves the client
    std::string server_key;        // proves the server
};

// `iterations`: 1 or more; strict clients refuse fewer than 4096.
scram_credential make_scram_credential(
    sasl_mechanism mechanism, std::string_view password, std::string salt,
    std::uint32_t iterations);

// A credential no password fits, so that unknown users cannot be told from known ones: the salt is
// derived from the name and a secret of the server and thus stays the same.
scram_credential make_decoy_credential(
    sasl_mechanism mechanism, std::string_view username, std::string_view server_secret,
    std::uint32_t iterations);

// RFC 5802, server side: on_first gives the user name to look up, challenge takes that user's
// credential (or a decoy), on_final decides.
class scram_server {
public:
    // `server_nonce`: as for the client, fresh and random.
    scram_server(sasl_mechanism mechanism, std::string server_nonce);

    // The user name, unescaped. Errors are malformed messages (status 0x04).
    std::expected<std::string, sasl_error> on_first(std::string_view client_first);
    // `r=...,s=...,i=...`. Call after on_first succeeded.
    std::string challenge(scram_credential credential);
    // `v=...` on success. credentials_refused is status 0x20, everything else 0x04.
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
