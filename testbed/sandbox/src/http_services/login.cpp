#include "http_services/login.hpp"

#include <reprise/http/authorization.hpp>
#include <reprise/wire/sasl.hpp>

namespace reprise::sandbox::detail {

const user_options* find_login(
    const cluster& cluster, std::string_view authorization, std::string_view certificate_user) {
    if (!certificate_user.empty()) {
        return cluster.accounts().find_user(certificate_user);
    }
    if (const auto token = http::parse_bearer_authorization(authorization)) {
        for (const std::string& name : cluster.accounts().users()) {
            const user_options* current = cluster.accounts().find_user(name);
            if (!current->bearer_token.empty() &&
                wire::is_same_secret(*token, current->bearer_token)) {
                return current;
            }
        }
        return nullptr;
    }
    const auto login = http::parse_basic_authorization(authorization);
    if (!login) {
        return nullptr;
    }
    const user_options* user = cluster.accounts().find_user(login->username);
    return user != nullptr && wire::is_same_secret(login->password, user->password) ? user
                                                                                    : nullptr;
}

}  // namespace reprise::sandbox::detail
