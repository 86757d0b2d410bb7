#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <reprise/wire/scram.hpp>

namespace reprise::wire::detail {

// The few primitives SCRAM needs. Octets are kept in std::string. Mechanisms other than SCRAM give
// empty results.

std::string digest(sasl_mechanism mechanism, std::string_view data);
std::string hmac(sasl_mechanism mechanism, std::string_view key, std::string_view data);
std::string pbkdf2(
    sasl_mechanism mechanism, std::string_view password, std::string_view salt,
    std::uint32_t iterations);

// In time that depends on the sizes only; false if they differ.
bool is_equal_in_constant_time(std::string_view a, std::string_view b) noexcept;

// Overwrites secrets that are no longer needed, in a way a compiler does not remove.
void wipe(std::string& secret) noexcept;

}  // namespace reprise::wire::detail
