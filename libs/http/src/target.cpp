#include <optional>

#include <reprise/base/percent_encode.hpp>
#include <reprise/http/target.hpp>

namespace reprise::http {

namespace {

constexpr std::optional<unsigned> hex_digit(char digit) noexcept {
    if (digit >= '0' && digit <= '9') {
        return static_cast<unsigned>(digit - '0');
    }
    if (digit >= 'a' && digit <= 'f') {
        return static_cast<unsigned>(digit - 'a' + 10);
    }
    if (digit >= 'A' && digit <= 'F') {
        return static_cast<unsigned>(digit - 'A' + 10);
    }
    return std::nullopt;
}

enum class plus_meaning { plus, blank };

std::expected<std::string, http_errc> decode_escapes(std::string_view text, plus_meaning plus) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+' && plus == plus_meaning::blank) {
            out += ' ';
            continue;
        }
        if (text[i] != '%') {
            out += text[i];
            continue;
        }
        if (text.size() - i < 3) {
            return std::unexpected(http_errc::percent_encoding_invalid);
        }
        const std::optional<unsigned> high = hex_digit(text[i + 1]);
        const std::optional<unsigned> low = hex_digit(text[i + 2]);
        if (!high || !low) {
            return std::unexpected(http_errc::percent_encoding_invalid);
        }
        out += static_cast<char>(*high * 16 + *low);
        i += 2;
    }
    return out;
}

}  // namespace

target_view split_target(std::string_view target) noexcept {
    const std::size_t mark = target.find('?');
    if (mark == std::string_view::npos) {
        return {target, {}};
    }
    return {target.substr(0, mark), target.substr(mark + 1)};
}

std::expected<std::string, http_errc> percent_decode(std::string_view text) {
    return decode_escapes(text, plus_meaning::plus);
}

std::string percent_encode(std::string_view text) {
    return base::percent_encode(text);
}

std::expected<std::vector<std::pair<std::string, std::string>>, http_errc> parse_query(
    std::string_view query) {
    std::vector<std::pair<std::string, std::string>> out;
    while (!query.empty()) {
        const std::size_t end = query.find('&');
        const std::string_view piece = query.substr(0, end);
        query.remove_prefix(end == std::string_view::npos ? query.size() : end + 1);
        if (piece.empty()) {
            continue;
        }
        const std::size_t equals = piece.find('=');
        auto name = decode_escapes(piece.substr(0, equals), plus_meaning::blank);
        auto value = equals == std::string_view::npos
                         ? std::expected<std::string, http_errc>(std::string())
                         : decode_escapes(piece.substr(equals + 1), plus_meaning::blank);
        if (!name || !value) {
            return std::unexpected(http_errc::percent_encoding_invalid);
        }
        out.emplace_back(*std::move(name), *std::move(value));
    }
    return out;
}

}  // namespace reprise::http
