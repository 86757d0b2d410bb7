#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <reprise/wire/scram.hpp>

namespace reprise::wire::detail {

std::unexpected<sasl_error> sasl_failure(sasl_errc code, std::string detail);

// The attributes `a=value,b=value` of one SCRAM message, as views into the message.
class scram_attributes {
public:
    // Rejects empty parts, parts that are not attributes, repeated attributes and oversized
    // messages.
    static std::expected<scram_attributes, sasl_error> parse(std::string_view message);

    std::optional<std::string_view> find(char name) const noexcept;
    // Fails if there is an attribute that is not in `allowed`.
    std::expected<void, sasl_error> allow_only(std::string_view allowed) const;

private:
    std::vector<std::pair<char, std::string_view>> list_;
};

// Escapes `,` and `=`, which have a meaning in the message.
std::string escape_username(std::string_view name);
std::expected<std::string, sasl_error> unescape_username(std::string_view text);

// Whether the text is not empty and all of it is printable ASCII other than a comma.
bool is_nonce(std::string_view text) noexcept;

}  // namespace reprise::wire::detail
