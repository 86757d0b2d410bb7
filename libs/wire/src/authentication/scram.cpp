#include <reprise/wire/scram.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <reprise/base/base64.hpp>
#include <reprise/base/hex.hpp>

#include "authentication/crypto.hpp"
#include "authentication/scram_message.hpp"

namespace reprise::wire {

namespace {

using detail::sasl_failure;

struct mechanism_row {
    sasl_mechanism mechanism;
    std::string_view name;
    std::size_t digest_size;  // 0 if it is not a SCRAM mechanism
};

// In the order of sasl_mechanism.
constexpr std::array<mechanism_row, 5> mechanism_table{{
    {sasl_mechanism::plain, "PLAIN", 0},
    {sasl_mechanism::scram_sha1, "SCRAM-SHA1", 20},
    {sasl_mechanism::scram_sha256, "SCRAM-SHA256", 32},
    {sasl_mechanism::scram_sha512, "SCRAM-SHA512", 64},
    {sasl_mechanism::oauthbearer, "OAUTHBEARER", 0},
}};

// No channel binding, no authorization identity.
constexpr std::string_view gs2_header = "n,,";
constexpr std::string_view gs2_header_base64 = "biws";  // its base64 form

// Both have digest size.
std::string exclusive_or(std::string_view a, std::string_view b) {
    std::string out(a);
    for (std::size_t index = 0; index < out.size() && index < b.size(); ++index) {
        out[index] = static_cast<char>(out[index] ^ b[index]);
    }
    return out;
}

// RFC 5802, section 3.
struct scram_keys {
    std::string client_key;
    std::string stored_key;
    std::string server_key;
};

scram_keys derive_keys(sasl_mechanism mechanism, std::string_view salted_password) {
    scram_keys keys;
    keys.client_key = detail::hmac(mechanism, salted_password, "Client Key");
    keys.stored_key = detail::digest(mechanism, keys.client_key);
    keys.server_key = detail::hmac(mechanism, salted_password, "Server Key");
    return keys;
}

// Checks the limits before PBKDF2 starts, because the server chooses the count.
std::expected<std::uint32_t, sasl_error> read_iterations(
    std::string_view text, const scram_client_options& options) {
    const bool is_number = !text.empty() && std::ranges::all_of(text, [](char each) {
        return each >= '0' && each <= '9';
    });
    if (!is_number) {
        return sasl_failure(sasl_errc::iterations_invalid, "not a number");
    }
    std::uint32_t count = 0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), count);
    if (result.ec != std::errc{} || count > options.iterations_max) {
        return sasl_failure(
            sasl_errc::iterations_too_many,
            "the server requires more than " + std::to_string(options.iterations_max));
    }
    if (count == 0 || count < options.iterations_min) {
        return sasl_failure(
            sasl_errc::iterations_too_few,
            "the server requires fewer than " + std::to_string(options.iterations_min));
    }
    return count;
}

std::string name_of(const key_derivation& wanted) {
    std::string name(to_string(wanted.mechanism));
    name += ' ' + std::to_string(wanted.iterations) + ' ' + std::to_string(wanted.salt.size());
    name += ' ' + wanted.salt;
    // The password may change while a cache exists. Its digest in the name separates the results.
    return name += detail::digest(sasl_mechanism::scram_sha256, wanted.password);
}

// The content of the server's first message. `nonce` points into that message.
struct server_challenge {
    std::string_view nonce;
    std::string salt;
    std::uint32_t iterations = 0;
};

// Checks everything here, so that no key is derived for an invalid challenge.
std::expected<server_challenge, sasl_error> read_challenge(
    std::string_view server_first, std::string_view client_nonce,
    const scram_client_options& options) {
    const auto attributes = detail::scram_attributes::parse(server_first);
    if (!attributes) {
        return std::unexpected(attributes.error());
    }
    if (const auto allowed = attributes->allow_only("rsi"); !allowed) {
        return std::unexpected(allowed.error());
    }
    const auto nonce = attributes->find('r');
    const auto salt_text = attributes->find('s');
    const auto iterations_text = attributes->find('i');
    if (!nonce || !salt_text || !iterations_text) {
        return sasl_failure(sasl_errc::malformed_message, "challenge without r=, s= or i=");
    }
    if (!detail::is_nonce(*nonce)) {
        return sasl_failure(sasl_errc::nonce_invalid, "illegal character");
    }
    if (!nonce->starts_with(client_nonce) || nonce->size() == client_nonce.size()) {
        return sasl_failure(
            sasl_errc::nonce_mismatch, "the server's nonce does not start with ours");
    }
    auto salt = base::decode_base64(*salt_text);
    if (!salt || salt->empty()) {
        return sasl_failure(sasl_errc::salt_invalid, "not base64, or empty");
    }
    const auto iterations = read_iterations(*iterations_text, options);
    if (!iterations) {
        return std::unexpected(iterations.error());
    }
    return server_challenge{*nonce, std::move(*salt), *iterations};
}

}  // namespace

std::string_view to_string(sasl_mechanism mechanism) noexcept {
    return mechanism_table[static_cast<std::size_t>(mechanism)].name;
}

std::optional<sasl_mechanism> parse_sasl_mechanism(std::string_view name) noexcept {
    const auto is_same = [](char a, char b) {
        return (a >= 'a' && a <= 'z' ? static_cast<char>(a - 'a' + 'A') : a) == b;
    };
    for (const mechanism_row& row : mechanism_table) {
        if (std::ranges::equal(name, row.name, is_same)) {
            return row.mechanism;
        }
    }
    return std::nullopt;
}

std::size_t scram_digest_size(sasl_mechanism mechanism) noexcept {
    return mechanism_table[static_cast<std::size_t>(mechanism)].digest_size;
}

bool is_scram(sasl_mechanism mechanism) noexcept {
    return scram_digest_size(mechanism) != 0;
}

std::string encode_nonce(std::span<const std::byte> random) {
    return base::to_hex(random);
}

std::optional<std::string> scram_refusal(std::string_view server_message) {
    constexpr std::size_t shown_max = 64;
    const auto attributes = detail::scram_attributes::parse(server_message);
    const auto reason = attributes ? attributes->find('e') : std::nullopt;
    if (!reason) {
        return std::nullopt;
    }
    std::string shown(reason->substr(0, shown_max));
    std::ranges::replace_if(shown, [](char each) { return each < ' ' || each > '~'; }, '?');
    return shown;
}

std::string derive_key(const key_derivation& wanted) {
    return detail::pbkdf2(wanted.mechanism, wanted.password, wanted.salt, wanted.iterations);
}

void wipe_secret(std::string& secret) noexcept {
    detail::wipe(secret);
}

salted_password_cache::salted_password_cache(std::size_t capacity) : capacity_(capacity) {}

salted_password_cache::~salted_password_cache() {
    for (entry& each : entries_) {
        detail::wipe(each.salted_password);
    }
}

std::optional<std::string> salted_password_cache::find(const key_derivation& wanted) {
    const auto found = std::ranges::find(entries_, name_of(wanted), &entry::name);
    if (found == entries_.end()) {
        return std::nullopt;
    }
    entries_.splice(entries_.begin(), entries_, found);
    return entries_.front().salted_password;
}

void salted_password_cache::insert(const key_derivation& wanted, std::string salted_password) {
    if (capacity_ == 0 || find(wanted)) {
        return;
    }
    if (entries_.size() >= capacity_) {
        detail::wipe(entries_.back().salted_password);
        entries_.pop_back();
    }
    entries_.push_front({name_of(wanted), std::move(salted_password)});
}

scram_client::scram_client(
    sasl_mechanism mechanism, std::string username, std::string password, std::string client_nonce,
    const scram_client_options& options)
    : mechanism_(mechanism),
      username_(std::move(username)),
      password_(std::move(password)),
      nonce_(std::move(client_nonce)),
      options_(options) {}

// The password is not needed after the exchange.
scram_client::~scram_client() {
    detail::wipe(password_);
}

std::expected<std::string, sasl_error> scram_client::first_message() {
    if (std::exchange(state_, state::failed) != state::fresh) {
        return sasl_failure(sasl_errc::out_of_order, "the first message was already sent");
    }
    if (username_.empty() || username_.find('\0') != std::string::npos) {
        return sasl_failure(sasl_errc::username_invalid, "empty or contains a NUL");
    }
    if (!detail::is_nonce(nonce_)) {
        return sasl_failure(sasl_errc::nonce_invalid, "empty or contains an illegal character");
    }
    first_bare_ = "n=" + detail::escape_username(username_) + ",r=" + nonce_;
    state_ = state::challenged;
    return std::string(gs2_header) + first_bare_;
}

std::expected<key_derivation, sasl_error> scram_client::on_challenge(
    std::string_view server_first) {
    if (std::exchange(state_, state::failed) != state::challenged) {
        return sasl_failure(sasl_errc::out_of_order, "no challenge was expected");
    }
    auto challenge = read_challenge(server_first, nonce_, options_);
    if (!challenge) {
        return std::unexpected(std::move(challenge.error()));
    }
    nonce_ = challenge->nonce;
    server_first_ = server_first;
    state_ = state::keyless;
    return key_derivation{mechanism_, password_, std::move(challenge->salt), challenge->iterations};
}

std::expected<std::string, sasl_error> scram_client::on_key(std::string_view salted_password) {
    if (std::exchange(state_, state::failed) != state::keyless) {
        return sasl_failure(sasl_errc::out_of_order, "no key was requested");
    }
    scram_keys keys = derive_keys(mechanism_, salted_password);
    std::string answer = "c=" + std::string(gs2_header_base64) + ",r=" + nonce_;
    // Both sides sign all three messages without the proof.
    const std::string auth_message = first_bare_ + "," + server_first_ + "," + answer;
    const std::string signature = detail::hmac(mechanism_, keys.stored_key, auth_message);
    server_signature_ = detail::hmac(mechanism_, keys.server_key, auth_message);
    answer += ",p=" + base::encode_base64(exclusive_or(keys.client_key, signature));
    detail::wipe(keys.client_key);
    state_ = state::proved;
    return answer;
}

std::expected<void, sasl_error> scram_client::on_final(std::string_view server_final) {
    if (std::exchange(state_, state::failed) != state::proved) {
        return sasl_failure(sasl_errc::out_of_order, "no final message was expected");
    }
    if (server_final.empty()) {
        return sasl_failure(sasl_errc::signature_missing, "empty final message");
    }
    const auto attributes = detail::scram_attributes::parse(server_final);
    if (!attributes) {
        return std::unexpected(attributes.error());
    }
    if (const auto refusal = scram_refusal(server_final)) {
        return sasl_failure(sasl_errc::server_refused, "e=" + *refusal);
    }
    const auto text = attributes->find('v');
    if (!text) {
        return sasl_failure(sasl_errc::signature_missing, "final message without v=");
    }
    const auto signature = base::decode_base64(*text);
    if (!signature || !detail::is_equal_in_constant_time(*signature, server_signature_)) {
        return sasl_failure(
            sasl_errc::signature_mismatch, "the server did not prove that it knows the password");
    }
    state_ = state::done;
    return {};
}

scram_credential make_scram_credential(
    sasl_mechanism mechanism, std::string_view password, std::string salt,
    std::uint32_t iterations) {
    std::string salted = detail::pbkdf2(mechanism, password, salt, iterations);
    scram_keys keys = derive_keys(mechanism, salted);
    detail::wipe(salted);
    return {std::move(salt), iterations, std::move(keys.stored_key), std::move(keys.server_key)};
}

scram_credential make_decoy_credential(
    sasl_mechanism mechanism, std::string_view username, std::string_view server_secret,
    std::uint32_t iterations) {
    const auto derive = [&](std::string label) {
        return detail::hmac(mechanism, server_secret, label.append(username));
    };
    // To find a password for an invented stored key, one would have to invert the digest.
    return {derive("salt "), iterations, derive("stored "), derive("server ")};
}

scram_server::scram_server(sasl_mechanism mechanism, std::string server_nonce)
    : mechanism_(mechanism), nonce_(std::move(server_nonce)) {}

std::expected<std::string, sasl_error> scram_server::on_first(std::string_view client_first) {
    if (std::exchange(state_, state::failed) != state::fresh) {
        return sasl_failure(sasl_errc::out_of_order, "a first message was already received");
    }
    if (!client_first.starts_with(gs2_header)) {
        return sasl_failure(sasl_errc::malformed_message, "does not start with n,,");
    }
    client_first.remove_prefix(gs2_header.size());
    const auto attributes = detail::scram_attributes::parse(client_first);
    if (!attributes) {
        return std::unexpected(attributes.error());
    }
    if (const auto allowed = attributes->allow_only("nr"); !allowed) {
        return std::unexpected(allowed.error());
    }
    const auto name = attributes->find('n');
    const auto client_nonce = attributes->find('r');
    if (!name || !client_nonce) {
        return sasl_failure(sasl_errc::malformed_message, "first message without n= or r=");
    }
    if (!detail::is_nonce(*client_nonce)) {
        return sasl_failure(sasl_errc::nonce_invalid, "empty or contains an illegal character");
    }
    auto username = detail::unescape_username(*name);
    if (!username) {
        return username;
    }
    first_bare_ = client_first;
    nonce_.insert(0, *client_nonce);
    state_ = state::named;
    return username;
}

std::string scram_server::challenge(scram_credential credential) {
    if (std::exchange(state_, state::failed) != state::named) {
        return {};
    }
    credential_ = std::move(credential);
    server_first_ = "r=" + nonce_ + ",s=" + base::encode_base64(credential_.salt) +
                    ",i=" + std::to_string(credential_.iterations);
    state_ = state::challenged;
    return server_first_;
}

std::expected<std::string, sasl_error> scram_server::on_final(std::string_view client_final) {
    if (std::exchange(state_, state::failed) != state::challenged) {
        return sasl_failure(sasl_errc::out_of_order, "a step arrived before the start");
    }
    const auto attributes = detail::scram_attributes::parse(client_final);
    if (!attributes) {
        return std::unexpected(attributes.error());
    }
    if (attributes->find('c') != gs2_header_base64) {
        return sasl_failure(sasl_errc::malformed_message, "c= missing or not biws");
    }
    if (attributes->find('r') != nonce_) {
        return sasl_failure(sasl_errc::nonce_mismatch, "r= missing or not the expected nonce");
    }
    const auto proof_text = attributes->find('p');
    const auto proof = proof_text ? base::decode_base64(*proof_text) : std::nullopt;
    if (!proof || proof->size() != scram_digest_size(mechanism_)) {
        return sasl_failure(sasl_errc::proof_invalid, "p= missing or not of digest length");
    }
    // A nonce contains no comma, so the first match is the attribute.
    const std::string_view without_proof = client_final.substr(0, client_final.find(",p="));
    const std::string auth_message =
        first_bare_ + "," + server_first_ + "," + std::string(without_proof);
    // The proof hides ClientKey. Only with StoredKey can the signature be removed from it.
    const std::string signature = detail::hmac(mechanism_, credential_.stored_key, auth_message);
    const std::string stored = detail::digest(mechanism_, exclusive_or(*proof, signature));
    if (!detail::is_equal_in_constant_time(stored, credential_.stored_key)) {
        return sasl_failure(sasl_errc::credentials_refused, "wrong user or password");
    }
    state_ = state::done;
    return "v=" +
           base::encode_base64(detail::hmac(mechanism_, credential_.server_key, auth_message));
}

}  // namespace reprise::wire
