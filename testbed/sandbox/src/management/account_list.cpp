#include <utility>

#include <reprise/sandbox/account_list.hpp>

namespace reprise::sandbox {
namespace {

template <class Map>
std::vector<std::string> names_of(const Map& map) {
    std::vector<std::string> names;
    names.reserve(map.size());
    for (const auto& [name, value] : map) {
        names.push_back(name);
    }
    return names;
}

}  // namespace

void account_list::put_user(user_options user) {
    std::string name = user.name;
    users_.insert_or_assign(std::move(name), account{std::move(user)});
    ++generation_;
}

std::expected<void, cluster_errc> account_list::drop_user(std::string_view name) {
    const auto it = users_.find(name);
    if (it == users_.end()) {
        return std::unexpected(cluster_errc::unknown_user);
    }
    users_.erase(it);
    return {};
}

std::vector<std::string> account_list::users() const {
    return names_of(users_);
}

const user_options* account_list::find_user(std::string_view name) const noexcept {
    const auto it = users_.find(name);
    return it == users_.end() ? nullptr : &it->second.options;
}

account_list::account* account_list::find(std::string_view name) noexcept {
    const auto it = users_.find(name);
    return it == users_.end() ? nullptr : &it->second;
}

void account_list::put_group(group_options group) {
    std::string name = group.name;
    groups_.insert_or_assign(std::move(name), std::move(group));
    ++generation_;
}

std::expected<void, cluster_errc> account_list::drop_group(std::string_view name) {
    const auto it = groups_.find(name);
    if (it == groups_.end()) {
        return std::unexpected(cluster_errc::unknown_group);
    }
    groups_.erase(it);
    ++generation_;
    return {};
}

std::vector<std::string> account_list::groups() const {
    return names_of(groups_);
}

const group_options* account_list::find_group(std::string_view name) const noexcept {
    const auto it = groups_.find(name);
    return it == groups_.end() ? nullptr : &it->second;
}

}  // namespace reprise::sandbox
