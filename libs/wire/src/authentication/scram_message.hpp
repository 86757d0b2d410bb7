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

// The attributes `a=value,b=value` of one SCRAM message. Views into the message.
class scram_attributes {
public:
    // Refused: empty parts, parts that are no attribute, repeated attributes, oversized messages.
    static std::expected<scram_attributes, sasl_error> parse(std::string_view message);

    std::optional<std::string_view> find(char name) const noexcept;
    // Fails if there is an attribute that is not one of `allowed`.
    std::expected<void, sasl_error> allow_only(std::string_view allowed) const;

private:
    std::vector<std::pair<char, std::string_view>> list_;
};

// `,` and `=` cannot stand in a user name as they are.
std::string escape_username(std::string_view name);
std::expected<std::string, sasl_error> unescape_username(std::string_view text);

// Printable ASCII without the comma, not empty.
bool is_nonce(std::string_view text) noexcept;

}  // namespace reprise::wire::detail
