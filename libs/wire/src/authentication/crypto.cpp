#include "authentication/crypto.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace reprise::wire::detail {

namespace {

// Returns null for mechanisms without a digest.
const EVP_MD* evp_digest(sasl_mechanism mechanism) noexcept {
    switch (mechanism) {
        case sasl_mechanism::scram_sha1:
            return EVP_sha1();
        case sasl_mechanism::scram_sha256:
            return EVP_sha256();
        case sasl_mechanism::scram_sha512:
            return EVP_sha512();
        default:  // the others have no digest
            return nullptr;
    }
}

// OpenSSL uses unsigned char; this library keeps bytes in strings.
const unsigned char* octets_of(std::string_view text) noexcept {
    return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* octets_of(std::string& text) noexcept {
    return reinterpret_cast<unsigned char*>(text.data());
}

}  // namespace

std::string digest(sasl_mechanism mechanism, std::string_view data) {
    const EVP_MD* algorithm = evp_digest(mechanism);
    if (algorithm == nullptr) {
        return {};
    }
    std::string out(scram_digest_size(mechanism), '\0');
    if (EVP_Digest(data.data(), data.size(), octets_of(out), nullptr, algorithm, nullptr) != 1) {
        return {};
    }
    return out;
}

std::string hmac(sasl_mechanism mechanism, std::string_view key, std::string_view data) {
    const EVP_MD* algorithm = evp_digest(mechanism);
    if (algorithm == nullptr) {
        return {};
    }
    std::string out(scram_digest_size(mechanism), '\0');
    if (HMAC(
            algorithm, key.data(), static_cast<int>(key.size()), octets_of(data), data.size(),
            octets_of(out), nullptr) == nullptr) {
        return {};
    }
    return out;
}

// Checks the limit again here, because every call of PBKDF2 passes through this function.
std::string pbkdf2(
    sasl_mechanism mechanism, std::string_view password, std::string_view salt,
    std::uint32_t iterations) {
    const EVP_MD* algorithm = evp_digest(mechanism);
    if (algorithm == nullptr || iterations == 0 || iterations > scram_iterations_limit) {
        return {};
    }
    std::string out(scram_digest_size(mechanism), '\0');
    if (PKCS5_PBKDF2_HMAC(
            password.data(), static_cast<int>(password.size()), octets_of(salt),
            static_cast<int>(salt.size()), static_cast<int>(iterations), algorithm,
            static_cast<int>(out.size()), octets_of(out)) != 1) {
        return {};
    }
    return out;
}

bool is_equal_in_constant_time(std::string_view a, std::string_view b) noexcept {
    return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

void wipe(std::string& secret) noexcept {
    OPENSSL_cleanse(secret.data(), secret.size());
    secret.clear();
}

}  // namespace reprise::wire::detail
