#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/sandbox/cluster_errc.hpp>
#include <reprise/sandbox/cluster_options.hpp>
#include <reprise/wire/scram.hpp>

namespace reprise::sandbox {

/// The users and groups of a cluster. Changes to their roles take effect at once, also on
/// connections that are authenticated.
class account_list {
public:
    /// A user and the keys derived from the password. They are derived on first use because that
    /// is slow.
    struct account {
        user_options options;
        std::map<wire::sasl_mechanism, wire::scram_credential> scram{};
    };
    using account_map = std::map<std::string, account, std::less<>>;

    /// Adds a user or replaces the one with the same name. Connections that are authenticated stay
    /// so, with the new roles.
    void put_user(user_options user);
    /// Error: unknown_user.
    std::expected<void, cluster_errc> drop_user(std::string_view name);
    [[nodiscard]] std::vector<std::string> users() const;
    [[nodiscard]] const user_options* find_user(std::string_view name) const noexcept;

    /// Adds or replaces a group.
    void put_group(group_options group);
    /// Error: unknown_group.
    std::expected<void, cluster_errc> drop_group(std::string_view name);
    [[nodiscard]] std::vector<std::string> groups() const;
    [[nodiscard]] const group_options* find_group(std::string_view name) const noexcept;

    /// Increases with every change that may change the rights of a user.
    [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }

    /// For logins. Null if there is no such user.
    [[nodiscard]] account* find(std::string_view name) noexcept;
    [[nodiscard]] const account_map& all() const noexcept { return users_; }

private:
    account_map users_;
    std::map<std::string, group_options, std::less<>> groups_;
    std::uint64_t generation_ = 0;
};

}  // namespace reprise::sandbox
