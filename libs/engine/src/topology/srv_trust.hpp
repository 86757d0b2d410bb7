#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <reprise/engine/engine_options.hpp>

// Selects the seeds from SRV records that may receive credentials (RH-46). A forged name server can
// name any host, and that host may own a valid certificate for itself.

namespace reprise::engine {

// How many targets are used. The name server decides how many there are, and each one costs queries
// and connections.
inline constexpr std::size_t srv_target_count_max = 16;

// How a target shows that it belongs to the name that the user wrote.
enum class srv_trust : std::uint8_t {
    by_name,         // it is that name or below it: its certificate may be valid for either name
    by_certificate,  // it is not: its certificate must be valid for the written name
    none,            // it cannot, because no certificate is verified: it gets no credentials
};

// Returns "cluster.example" of "_couchbases._tcp.cluster.example".
[[nodiscard]] std::string_view written_name(std::string_view srv_name) noexcept;

// Whether `target` is `written`, or ends in '.' plus it. Case and a final dot do not matter.
[[nodiscard]] bool is_same_or_below(std::string_view target, std::string_view written) noexcept;

[[nodiscard]] srv_trust trust_in_srv_target(
    std::string_view target, std::string_view written, const engine_options& options) noexcept;

// Explains why the target gets no credentials: both names, and the option that trusts it.
[[nodiscard]] std::string srv_refusal(
    std::string_view target, std::string_view written, srv_trust trust);

}  // namespace reprise::engine
