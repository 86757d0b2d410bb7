#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <reprise/wire/scram.hpp>

namespace reprise::wire::detail {

// The few primitives that SCRAM needs. Bytes are kept in std::string. For mechanisms other than
// SCRAM the results are empty.

std::string digest(sasl_mechanism mechanism, std::string_view data);
std::string hmac(sasl_mechanism mechanism, std::string_view key, std::string_view data);
std::string pbkdf2(
    sasl_mechanism mechanism, std::string_view password, std::string_view salt,
    std::uint32_t iterations);

// The time depends only on the sizes. Returns false if the sizes differ.
bool is_equal_in_constant_time(std::string_view a, std::string_view b) noexcept;

// Overwrites a secret that is no longer needed, in a way that the compiler cannot optimise away.
void wipe(std::string& secret) noexcept;

}  // namespace reprise::wire::detail
