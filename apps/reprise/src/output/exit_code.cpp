#include "output/exit_code.hpp"

#include <algorithm>
#include <array>
#include <csignal>

#include <fmt/format.h>

namespace reprise::app {

namespace {

constexpr auto known_exit_codes = std::to_array<exit_code_facts>({
    {exit_code::done, "done", "done"},
    {exit_code::failed, "failed", "failed, or a check, an audit or a promise did not hold"},
    {exit_code::wrong_usage, "wrong_usage", "wrong usage; nothing was done"},
    {exit_code::not_found, "not_found",
     "no such document, scope, collection, index, view, user or group"},
    {exit_code::conflict, "conflict", "it already exists, or its CAS does not match"},
    {exit_code::timeout, "timeout", "timeout"},
    {exit_code::no_access, "no_access",
     "wrong password, TLS failure, no such bucket or no access to it"},
    {exit_code::server_error, "server_error", "any other error reported by the server"},
    {exit_code::output_failed, "output_failed",
     "standard output or standard error could not be written"},
    {exit_code::not_started, "not_started", "sandbox run: the command could not be started"},
    {exit_code::interrupted, "interrupted",
     "interrupted by SIGINT (Ctrl-C); the results so far were printed"},
    {exit_code::terminated, "terminated",
     "interrupted by SIGTERM; the results so far were printed"},
});

constexpr std::array common_exit_codes{
    exit_code::done, exit_code::failed, exit_code::wrong_usage, exit_code::output_failed};

}  // namespace

std::span<const exit_code_facts> exit_code_table() noexcept {
    return known_exit_codes;
}

std::string_view to_string(exit_code code) noexcept {
    const auto* const found = std::ranges::find(known_exit_codes, code, &exit_code_facts::code);
    return found != known_exit_codes.end() ? found->name : "unknown";
}

std::string exit_code_help(std::initializer_list<exit_code> codes) {
    std::string text = "Exit codes:\n";
    for (const exit_code_facts& each : known_exit_codes) {
        if (std::ranges::find(common_exit_codes, each.code) != common_exit_codes.end() ||
            std::ranges::find(codes, each.code) != codes.end()) {
            text += fmt::format("{:>5}  {}\n", static_cast<int>(each.code), each.meaning);
        }
    }
    return text;
}

exit_code exit_code_of_signal(int number) noexcept {
    return number == SIGTERM ? exit_code::terminated : exit_code::interrupted;
}

}  // namespace reprise::app
