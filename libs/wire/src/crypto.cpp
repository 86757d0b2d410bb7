#include "crypto.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

namespace reprise::wire::detail {

namespace {

// Null for mechanisms without a digest.
const EVP_MD* evp_digest(sasl_mechanism mechanism) noexcept {
    switch (mechanism) {
        case sasl_mechanism::scram_sha1:
            return EVP_sha1();
        case sasl_mechanism::scram_sha256:
            return EVP_sha256();
        case sasl_mechanism::scram_sha512:
            return EVP_sha512();
        default:
            return nullptr;
    }
}

// OpenSSL speaks unsigned char, we keep octets in strings.
const unsigned char* octets_of(std::string_view text) noexcept {
    return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* octets_of(std::string& text) noexcept {
    return reinterpret_cast<unsigned char*>(text.data());
}

constexpr std::string_view base64_alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

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

// The bound holds here too: every way to PBKDF2 comes through this function.
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

std::string encode_base64(std::string_view octets) {
    std::string out;
    out.reserve((octets.size() + 2) / 3 * 4);
    for (std::size_t index = 0; index < octets.size(); index += 3) {
        const std::size_t count = std::min<std::size_t>(3, octets.size() - index);
        std::uint32_t group = 0;
        for (std::size_t each = 0; each < 3; ++each) {
            group = (group << 8U) |
                    (each < count ? static_cast<unsigned char>(octets[index + each]) : 0U);
        }
        for (std::size_t each = 0; each < 4; ++each) {
            out += each <= count ? base64_alphabet[(group >> (18U - 6U * each)) & 0x3fU] : '=';
        }
    }
    return out;
}

std::optional<std::string> decode_base64(std::string_view text) {
    if (text.size() % 4 != 0) {
        return std::nullopt;
    }
    std::string out;
    out.reserve(text.size() / 4 * 3);
    for (std::size_t index = 0; index < text.size(); index += 4) {
        const bool is_last = index + 4 == text.size();
        std::size_t padding = 0;
        if (is_last && text[index + 3] == '=') {
            padding = text[index + 2] == '=' ? 2 : 1;
        }
        std::uint32_t group = 0;
        for (std::size_t each = 0; each < 4; ++each) {
            const std::size_t digit =
                each + padding >= 4 ? 0 : base64_alphabet.find(text[index + each]);
            if (digit == std::string_view::npos) {
                return std::nullopt;
            }
            group = (group << 6U) | static_cast<std::uint32_t>(digit);
        }
        // Bits that no octet takes must be zero, or two texts would mean the same octets.
        if ((padding == 1 && (group & 0xffU) != 0) || (padding == 2 && (group & 0xffffU) != 0)) {
            return std::nullopt;
        }
        for (std::size_t each = 0; each < 3 - padding; ++each) {
            out += static_cast<char>((group >> (16U - 8U * each)) & 0xffU);
        }
    }
    return out;
}

}  // namespace reprise::wire::detail
