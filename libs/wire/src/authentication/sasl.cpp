#include <reprise/wire/sasl.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include <reprise/base/enum_table.hpp>

#include "authentication/crypto.hpp"
#include "authentication/scram_message.hpp"

namespace reprise::wire {

namespace {

constexpr char separator = '\x01';  // between the fields of OAUTHBEARER

// NUL separates the fields of PLAIN.
bool has_nul(std::string_view text) noexcept {
    return text.find('\0') != std::string_view::npos;
}

// The scheme's name is case-insensitive, as in HTTP.
bool starts_with_bearer(std::string_view text) noexcept {
    constexpr std::string_view scheme = "bearer ";
    return text.size() >= scheme.size() &&
           std::ranges::equal(text.substr(0, scheme.size()), scheme, [](char a, char b) {
               return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
           });
}

}  // namespace

std::string_view to_string(sasl_errc code) noexcept {
    static constexpr base::enumerator_texts<sasl_errc> texts({
        {sasl_errc::malformed_message, "malformed message"},
        {sasl_errc::repeated_attribute, "repeated attribute"},
        {sasl_errc::unknown_attribute, "unknown attribute"},
        {sasl_errc::username_invalid, "invalid user name"},
        {sasl_errc::nonce_invalid, "invalid nonce"},
        {sasl_errc::nonce_mismatch, "nonce mismatch"},
        {sasl_errc::salt_invalid, "invalid salt"},
        {sasl_errc::iterations_invalid, "invalid iteration count"},
        {sasl_errc::iterations_too_few, "too few iterations"},
        {sasl_errc::iterations_too_many, "too many iterations"},
        {sasl_errc::proof_invalid, "invalid proof"},
        {sasl_errc::credentials_refused, "credentials refused"},
        {sasl_errc::server_refused, "rejected by the server"},
        {sasl_errc::signature_missing, "server signature missing"},
        {sasl_errc::signature_mismatch, "server signature mismatch"},
        {sasl_errc::token_missing, "bearer token missing"},
        {sasl_errc::out_of_order, "message out of order"},
    });
    return texts[code];
}

std::string to_string(const sasl_error& error) {
    std::string text(to_string(error.code));
    if (!error.detail.empty()) {
        text += ": " + error.detail;
    }
    return text;
}

bool is_malformed(sasl_errc code) noexcept {
    return code != sasl_errc::credentials_refused && code != sasl_errc::server_refused &&
           code != sasl_errc::signature_mismatch;
}

std::vector<sasl_mechanism> parse_mechanism_list(std::string_view list) {
    std::vector<sasl_mechanism> mechanisms;
    while (!list.empty()) {
        const std::string_view name = list.substr(0, list.find(' '));
        const auto mechanism = parse_sasl_mechanism(name);
        if (mechanism && std::ranges::find(mechanisms, *mechanism) == mechanisms.end()) {
            mechanisms.push_back(*mechanism);
        }
        list.remove_prefix(std::min(name.size() + 1, list.size()));
    }
    return mechanisms;
}

std::string to_mechanism_list(std::span<const sasl_mechanism> mechanisms) {
    std::string list;
    for (const sasl_mechanism each : mechanisms) {
        list += list.empty() ? "" : " ";
        list += to_string(each);
    }
    return list;
}

std::optional<sasl_mechanism> choose_mechanism(
    std::span<const sasl_mechanism> offered, plain_use plain) noexcept {
    constexpr std::array<sasl_mechanism, 3> strongest_first{
        sasl_mechanism::scram_sha512, sasl_mechanism::scram_sha256, sasl_mechanism::scram_sha1};
    const auto is_offered = [&](sasl_mechanism mechanism) {
        return std::ranges::find(offered, mechanism) != offered.end();
    };
    const bool is_plain_offered = is_offered(sasl_mechanism::plain);
    if (is_plain_offered && plain == plain_use::preferred) {
        return sasl_mechanism::plain;
    }
    if (const auto found = std::ranges::find_if(strongest_first, is_offered);
        found != strongest_first.end()) {
        return *found;
    }
    return is_plain_offered && plain == plain_use::last_resort
               ? std::optional(sasl_mechanism::plain)
               : std::nullopt;
}

std::string encode_plain(std::string_view username, std::string_view password) {
    std::string message(1, '\0');
    message += username;
    message += '\0';
    message += password;
    return message;
}

std::string encode_oauthbearer(std::string_view token) {
    std::string message = "n,,";
    message += separator;
    message += "auth=Bearer ";
    message += token;
    message += separator;
    message += separator;
    return message;
}

sasl_client::sasl_client(
    sasl_mechanism mechanism, sasl_credentials credentials, std::string client_nonce,
    const scram_client_options& options)
    : mechanism_(mechanism) {
    if (is_scram(mechanism)) {
        scram_.emplace(
            mechanism, std::move(credentials.username), std::move(credentials.password),
            std::move(client_nonce), options);
    } else {
        credentials_ = std::move(credentials);
    }
}

std::expected<std::string, sasl_error> sasl_client::start() {
    if (scram_) {
        return scram_->first_message();
    }
    if (mechanism_ == sasl_mechanism::oauthbearer) {
        const std::string& token = credentials_.bearer_token;
        if (token.empty() || token.find(separator) != std::string::npos) {
            return detail::sasl_failure(sasl_errc::token_missing, "the token is empty or invalid");
        }
        return encode_oauthbearer(token);
    }
    if (credentials_.username.empty() || has_nul(credentials_.username)) {
        return detail::sasl_failure(sasl_errc::username_invalid, "empty or contains a NUL");
    }
    if (has_nul(credentials_.password)) {
        return detail::sasl_failure(sasl_errc::credentials_refused, "the password contains a NUL");
    }
    return encode_plain(credentials_.username, credentials_.password);
}

std::expected<key_derivation, sasl_error> sasl_client::on_challenge(std::string_view data) {
    if (!scram_) {
        return detail::sasl_failure(sasl_errc::out_of_order, "this mechanism has a single step");
    }
    return scram_->on_challenge(data);
}

std::expected<std::string, sasl_error> sasl_client::on_key(std::string_view salted_password) {
    if (!scram_) {
        return detail::sasl_failure(sasl_errc::out_of_order, "this mechanism has a single step");
    }
    return scram_->on_key(salted_password);
}

std::expected<void, sasl_error> sasl_client::on_success(std::string_view data) {
    if (scram_) {
        return scram_->on_final(data);
    }
    return {};
}

std::expected<plain_message, sasl_error> decode_plain(std::string_view data) {
    const std::size_t first = data.find('\0');
    const std::size_t second = first == std::string_view::npos ? first : data.find('\0', first + 1);
    if (second == std::string_view::npos) {
        return detail::sasl_failure(sasl_errc::malformed_message, "fewer than three fields");
    }
    plain_message message;
    message.authorization_id = data.substr(0, first);
    message.username = data.substr(first + 1, second - first - 1);
    // Some clients append a NUL.
    std::string_view password = data.substr(second + 1);
    if (!password.empty() && password.back() == '\0') {
        password.remove_suffix(1);
    }
    if (has_nul(password)) {
        return detail::sasl_failure(sasl_errc::malformed_message, "more than three fields");
    }
    message.password = password;
    if (message.username.empty()) {
        return detail::sasl_failure(sasl_errc::username_invalid, "empty");
    }
    return message;
}

std::expected<std::string, sasl_error> decode_oauthbearer(std::string_view data) {
    const std::size_t header_end = data.find(separator);
    const std::string_view header = data.substr(0, header_end);
    // "n,," or "n,a=user,"
    const std::size_t identity_end = header.find(',', 2);
    if (header_end == std::string_view::npos || !header.starts_with("n,") ||
        identity_end != header.size() - 1) {
        return detail::sasl_failure(sasl_errc::malformed_message, "bad header");
    }
    data.remove_prefix(header_end + 1);
    if (data.empty() || data.back() != separator) {
        return detail::sasl_failure(sasl_errc::malformed_message, "not terminated");
    }
    while (!data.empty()) {
        std::string_view field = data.substr(0, data.find(separator));
        data.remove_prefix(std::min(field.size() + 1, data.size()));
        if (!field.starts_with("auth=") || !starts_with_bearer(field.substr(5))) {
            continue;
        }
        field.remove_prefix(std::string_view("auth=bearer ").size());
        if (!field.empty()) {
            return std::string(field);
        }
    }
    return detail::sasl_failure(sasl_errc::token_missing, "no bearer token");
}

bool is_same_secret(std::string_view given, std::string_view expected) noexcept {
    // Compares digests, which have one size, so that the time does not reveal where the secrets
    // differ.
    const std::string a = detail::digest(sasl_mechanism::scram_sha256, given);
    const std::string b = detail::digest(sasl_mechanism::scram_sha256, expected);
    return !a.empty() && detail::is_equal_in_constant_time(a, b);
}

}  // namespace reprise::wire
